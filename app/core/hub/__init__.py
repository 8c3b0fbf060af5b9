"""The Hugging Face hub and the models on this machine: search, downloads, library, tokens. Knows no widget.

Everything here blocks (network, disk), so it is called from threads of the app's own, never from the GUI thread.
Everything that a hub says is untrusted: it is checked in `app/core/hub/client.py` before anybody sees it.
"""
