"""The Hugging Face hub and the models on this machine: search, downloads, library, tokens. Independent of the window.

Everything here blocks (network, disk), so it must be called from background threads, never from the GUI thread. Answers
of a hub are untrusted: `app/core/hub/client.py` checks them before use.
"""
