"""llama.cpp's own API: text completion and infill."""
