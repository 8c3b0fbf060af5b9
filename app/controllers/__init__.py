"""What a person does in the window, brought to engine, storage and hub, and back."""
