"""The Hugging Face hub and the models on this machine: search, downloads, library, tokens. Knows no widget.

Everything here blocks (network, disk), so it is called from background threads, never from the GUI thread. Answers of a
hub are untrusted: they are checked in `app/core/hub/client.py` before use.
"""
