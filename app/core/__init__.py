"""The app without a window: data, files, the hub, tools, the server. Imports neither Qt nor the packages above."""
