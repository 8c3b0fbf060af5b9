"""What belongs to the window as a whole: layout, statistics, help, notifications."""
