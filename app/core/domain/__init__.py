"""Plain data and pure rules: messages, chats, models, settings.

Imports the standard library and the engine's records. The only part of app that ui may import.
"""
