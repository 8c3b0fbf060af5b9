"""Projects: files that can be asked, read, indexed and searched on this computer."""
