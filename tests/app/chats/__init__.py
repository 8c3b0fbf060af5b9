"""Tests of the stored chats."""
