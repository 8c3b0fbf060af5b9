"""The engine in a process of its own: a crash in a native library ends that process, not the window."""
