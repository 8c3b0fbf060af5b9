"""The app without a window: data, files, the hub, tools, the server. Knows neither Qt nor the floors above."""
