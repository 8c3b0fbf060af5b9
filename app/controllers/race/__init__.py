"""Races in the window: lanes on the loaded models, run on the engine's thread, kept and exported."""
