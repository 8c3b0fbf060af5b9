"""The list of conversations: folders, search, menus."""
