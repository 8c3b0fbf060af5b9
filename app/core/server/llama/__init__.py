"""llama.cpp's own API: texts that go on, and gaps that are filled."""
