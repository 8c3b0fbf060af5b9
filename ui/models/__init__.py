"""The panel of the models: recommended pairs, search, drafts, library and downloads."""
