"""The chat list: folders, search, menus."""
