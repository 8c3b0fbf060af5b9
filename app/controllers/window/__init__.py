"""The window as a whole: layout, statistics, help, notifications."""
