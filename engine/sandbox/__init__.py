"""Child processes that do first what a crash must not take the app with."""
