"""The Models panel: recommended pairs, search, drafts, library, downloads and remote servers."""
