"""Controllers: they connect the window with engine, storage and hub."""
