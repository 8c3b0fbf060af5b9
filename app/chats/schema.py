"""The layout of the chats file, as migrations: ``MIGRATIONS[i]`` brings version i to version i + 1.

A published migration is never edited; a change is one more at the end. Times are microseconds since 1970, UTC.
The types are checked by hand: STRICT tables need SQLite 3.37, and some systems of today have an older one.
"""

from __future__ import annotations

Migration = tuple[str, ...]

_VERSION_1: Migration = (
    """
    CREATE TABLE conversations (
        id INTEGER PRIMARY KEY AUTOINCREMENT,
        title TEXT NOT NULL CHECK (typeof(title) = 'text'),
        title_by_user INTEGER NOT NULL DEFAULT 0,
        created_at INTEGER NOT NULL CHECK (typeof(created_at) = 'integer'),
        updated_at INTEGER NOT NULL CHECK (typeof(updated_at) = 'integer'),
        mode TEXT NOT NULL CHECK (typeof(mode) = 'text'),
        depth INTEGER CHECK (typeof(depth) IN ('integer', 'null'))
    )
    """,
    """
    CREATE TABLE messages (
        id INTEGER PRIMARY KEY AUTOINCREMENT,
        conversation_id INTEGER NOT NULL REFERENCES conversations (id) ON DELETE CASCADE,
        position INTEGER NOT NULL CHECK (typeof(position) = 'integer'),
        role TEXT NOT NULL CHECK (role IN ('system', 'user', 'assistant')),
        text TEXT NOT NULL CHECK (typeof(text) = 'text'),
        state TEXT NOT NULL
            CHECK (state IN ('complete', 'streaming', 'stopped', 'interrupted', 'failed')),
        created_at INTEGER NOT NULL CHECK (typeof(created_at) = 'integer'),
        stats TEXT CHECK (typeof(stats) IN ('text', 'null')),
        spans TEXT CHECK (typeof(spans) IN ('text', 'null')),
        notice TEXT NOT NULL DEFAULT '' CHECK (typeof(notice) = 'text'),
        replaces INTEGER,
        UNIQUE (conversation_id, position)
    )
    """,
    "CREATE INDEX conversations_by_update ON conversations (updated_at DESC, id DESC)",
    "CREATE INDEX messages_streaming ON messages (state) WHERE state = 'streaming'",
)

MIGRATIONS: tuple[Migration, ...] = (_VERSION_1,)
