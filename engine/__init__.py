"""The headless engine: exact speculative decoding on llama.cpp. Knows neither Qt nor the app."""
