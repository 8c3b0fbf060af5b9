"""The layout of the chats file, as migrations: ``MIGRATIONS[i]`` brings layout `BASE` + i to the next one.

A published migration is never edited; a change is one more at the end. Times are microseconds since 1970, UTC.
The types are checked by hand: STRICT tables need SQLite 3.37, and some systems of today have an older one.
"""

from __future__ import annotations

Migration = tuple[str, ...]

BASE = 9  # layouts up to this one were never released
_TOKENIZER = "tokenize = 'unicode61 remove_diacritics 2'"

# ``place`` orders by hand, ``origin`` recognises what was imported before, ``options`` holds what a chat has of its own
# instead of the settings, ``deleted_at`` marks one that can still be taken back. ``shown_root``: the first message that
# is shown.
_CONVERSATIONS: Migration = (
    """
    CREATE TABLE folders (
        id INTEGER PRIMARY KEY AUTOINCREMENT,
        name TEXT NOT NULL CHECK (typeof(name) = 'text'),
        place INTEGER NOT NULL DEFAULT 0,
        folded INTEGER NOT NULL DEFAULT 0
    )
    """,
    """
    CREATE TABLE conversations (
        id INTEGER PRIMARY KEY AUTOINCREMENT,
        title TEXT NOT NULL CHECK (typeof(title) = 'text'),
        title_by_user INTEGER NOT NULL DEFAULT 0,
        created_at INTEGER NOT NULL CHECK (typeof(created_at) = 'integer'),
        updated_at INTEGER NOT NULL CHECK (typeof(updated_at) = 'integer'),
        mode TEXT NOT NULL CHECK (typeof(mode) = 'text'),
        depth INTEGER CHECK (typeof(depth) IN ('integer', 'null')),
        pinned INTEGER NOT NULL DEFAULT 0,
        archived INTEGER NOT NULL DEFAULT 0,
        folder_id INTEGER REFERENCES folders (id) ON DELETE SET NULL,
        place INTEGER NOT NULL DEFAULT 0,
        shown_root INTEGER,
        origin TEXT NOT NULL DEFAULT '',
        options TEXT NOT NULL DEFAULT '',
        deleted_at INTEGER
    )
    """,
    "CREATE INDEX conversations_by_update ON conversations (updated_at DESC, id DESC)",
    "CREATE INDEX conversations_by_origin ON conversations (origin) WHERE origin <> ''",
    "CREATE INDEX conversations_by_folder ON conversations (folder_id) WHERE folder_id IS NOT NULL",
)

# A tree: ``parent_id`` is what a message follows, ``shown_child`` which of its answers or follow-ups is shown. No
# reference with a cascade: a long chat would be as deep as it is long. ``position`` is the order of arrival. ``cut``
# marks an answer that ended at the longest allowed length; ``target`` and ``draft`` name its models (with its host in
# the name where one is on another computer), ``thinking_ms`` is how long it reasoned beforehand, ``drawn`` how it was
# drawn, as JSON. Of a call of a tool, ``call`` holds it as JSON, ``call_status`` what became of it, and the text is its
# result; its role is written 'system', which nothing else is: `MESSAGE_ROLE` gives the role.
_MESSAGES: Migration = (
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
        parent_id INTEGER,
        shown_child INTEGER,
        cut INTEGER NOT NULL DEFAULT 0,
        target TEXT NOT NULL DEFAULT '',
        draft TEXT NOT NULL DEFAULT '',
        thinking_ms INTEGER,
        call TEXT NOT NULL DEFAULT '',
        call_status TEXT NOT NULL DEFAULT '',
        drawn TEXT NOT NULL DEFAULT '',
        UNIQUE (conversation_id, position)
    )
    """,
    "CREATE INDEX messages_by_parent ON messages (conversation_id, parent_id, shown_child)",
    "CREATE INDEX messages_streaming ON messages (state) WHERE state = 'streaming'",
    "CREATE INDEX messages_from_elsewhere ON messages (conversation_id) WHERE instr(target, ' @ ') > 0",
    "CREATE INDEX messages_open_calls ON messages (call_status) WHERE call_status IN ('waiting', 'asked', 'running')",
)

# ``unsent`` holds what stands in the composer (0 is the chat without a message), ``edits`` what stands in the editor of
# a message that was sent. An attachment belongs to a message, or to what is not sent yet of a chat (``unsent_of``).
# Pictures are kept once for each content: they go with the last attachment that is one. A summary stands for a chat's
# messages up to and with one of them. Totals outlive the chats they count.
_BESIDE: Migration = (
    "CREATE TABLE unsent (conversation_id INTEGER PRIMARY KEY, text TEXT NOT NULL CHECK (typeof(text) = 'text'))",
    *(
        f"""
        CREATE TABLE {name} (
            message_id INTEGER PRIMARY KEY REFERENCES messages (id) ON DELETE CASCADE,
            text TEXT NOT NULL CHECK (typeof(text) = 'text')
        )
        """
        for name in ("edits", "summaries")
    ),
    """
    CREATE TABLE attachments (
        id INTEGER PRIMARY KEY AUTOINCREMENT,
        message_id INTEGER REFERENCES messages (id) ON DELETE CASCADE,
        unsent_of INTEGER,
        position INTEGER NOT NULL DEFAULT 0,
        name TEXT NOT NULL CHECK (typeof(name) = 'text'),
        kind TEXT NOT NULL CHECK (typeof(kind) = 'text'),
        num_bytes INTEGER NOT NULL DEFAULT 0,
        text TEXT NOT NULL CHECK (typeof(text) = 'text'),
        picture TEXT
    )
    """,
    "CREATE INDEX attachments_by_message ON attachments (message_id) WHERE message_id IS NOT NULL",
    "CREATE INDEX attachments_unsent ON attachments (unsent_of) WHERE unsent_of IS NOT NULL",
    "CREATE INDEX attachments_by_picture ON attachments (picture) WHERE picture IS NOT NULL",
    """
    CREATE TABLE pictures (
        digest TEXT PRIMARY KEY,
        width INTEGER NOT NULL,
        height INTEGER NOT NULL,
        thumbnail BLOB NOT NULL,
        data BLOB NOT NULL
    )
    """,
    """
    CREATE TRIGGER pictures_unused AFTER DELETE ON attachments WHEN old.picture IS NOT NULL
    AND NOT EXISTS (SELECT 1 FROM attachments WHERE picture = old.picture)
    BEGIN DELETE FROM pictures WHERE digest = old.picture; END
    """,
    """
    CREATE TABLE totals (
        target TEXT NOT NULL,
        draft TEXT NOT NULL,
        mode TEXT NOT NULL,
        num_answers INTEGER NOT NULL DEFAULT 0,
        stats TEXT NOT NULL CHECK (typeof(stats) = 'text'),
        PRIMARY KEY (target, draft, mode)
    )
    """,
)

# The indexes of the search hold no text of their own, and no answer in the making; statements keep them true, since
# `trusted_schema` keeps triggers from them. What is indexed of an attachment is bounded, as the time is that it takes.
# They take a run of letters for a word. Where writing puts no spaces between words, indexes of their own take each
# letter for one; they hold only what has such letters.
_SEARCH: Migration = (
    """
    CREATE VIEW attachment_words AS
    SELECT id, message_id, unsent_of, name || char(10) || substr(text, 1, 500000) AS text FROM attachments
    """,
    *(
        f"CREATE VIRTUAL TABLE {name} USING fts5 "
        f"({column}, content = '{source}', content_rowid = 'id', prefix = '{prefix}', {_TOKENIZER})"
        for name, column, source, prefix in (
            ("found_messages", "text", "messages", "1 2 3"),
            ("found_titles", "title", "conversations", "1 2"),
            ("found_attachments", "text", "attachment_words", "1 2"),
        )
    ),
    *(
        f"CREATE VIRTUAL TABLE found_letters_{name} USING fts5 (text, content = '', detail = full, {_TOKENIZER})"
        for name in ("messages", "titles", "attachments")
    ),
)

MIGRATIONS: tuple[Migration, ...] = ((*_CONVERSATIONS, *_MESSAGES, *_BESIDE, *_SEARCH),)
MESSAGE_ROLE = "CASE WHEN messages.call_status <> '' THEN 'tool' ELSE messages.role END"
