"""The layout of the chats file, as migrations: ``MIGRATIONS[i]`` brings version i to version i + 1.

A published migration is never edited; a change is one more at the end. Times are microseconds since 1970, UTC.
"""

from __future__ import annotations

Migration = tuple[str, ...]

_VERSION_1: Migration = (
    """
    CREATE TABLE conversations (
        id INTEGER PRIMARY KEY AUTOINCREMENT,
        title TEXT NOT NULL,
        title_by_user INTEGER NOT NULL DEFAULT 0,
        created_at INTEGER NOT NULL,
        updated_at INTEGER NOT NULL,
        mode TEXT NOT NULL,
        depth INTEGER
    ) STRICT
    """,
    """
    CREATE TABLE messages (
        id INTEGER PRIMARY KEY AUTOINCREMENT,
        conversation_id INTEGER NOT NULL REFERENCES conversations (id) ON DELETE CASCADE,
        position INTEGER NOT NULL,
        role TEXT NOT NULL CHECK (role IN ('system', 'user', 'assistant')),
        text TEXT NOT NULL,
        state TEXT NOT NULL
            CHECK (state IN ('complete', 'streaming', 'stopped', 'interrupted', 'failed')),
        created_at INTEGER NOT NULL,
        stats TEXT,
        spans TEXT,
        notice TEXT NOT NULL DEFAULT '',
        replaces INTEGER,
        UNIQUE (conversation_id, position)
    ) STRICT
    """,
    "CREATE INDEX conversations_by_update ON conversations (updated_at DESC, id DESC)",
    "CREATE INDEX messages_streaming ON messages (state) WHERE state = 'streaming'",
)

MIGRATIONS: tuple[Migration, ...] = (_VERSION_1,)
