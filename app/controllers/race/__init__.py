"""Races in the window: lanes on the loaded models, run by the engine, stored and exported."""
