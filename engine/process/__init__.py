"""The engine in a separate process: a crash in a native library ends that process, not the window."""
