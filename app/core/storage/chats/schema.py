"""The layout of the chats file, as migrations: ``MIGRATIONS[i]`` converts version i to version i + 1.

A published migration is never edited; a change is a new migration at the end. Times are microseconds since 1970, UTC.
The app checks types itself, since STRICT tables need SQLite 3.37, and some systems have an older version.
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

# Messages become a tree: ``parent_id`` is the parent of a message, ``shown_child`` its shown child, ``shown_root`` the
# shown first message. ``parent_id`` has no ON DELETE CASCADE, whose recursion would be as deep as a chat is long.
# ``position`` stays the order of arrival. ``place`` is the manual order, ``origin`` identifies an imported chat,
# ``cut`` marks an answer that ended at the token limit. ``unsent`` holds the composer's text; 0 is the chat that is not
# stored yet. The search indexes store no text themselves and omit streaming answers. Statements update them, since
# `trusted_schema` forbids triggers to do so.
_VERSION_2: Migration = (
    """
    CREATE TABLE folders (
        id INTEGER PRIMARY KEY AUTOINCREMENT,
        name TEXT NOT NULL CHECK (typeof(name) = 'text'),
        place INTEGER NOT NULL DEFAULT 0,
        folded INTEGER NOT NULL DEFAULT 0
    )
    """,
    "CREATE TABLE unsent (conversation_id INTEGER PRIMARY KEY, text TEXT NOT NULL CHECK (typeof(text) = 'text'))",
    "ALTER TABLE conversations ADD COLUMN pinned INTEGER NOT NULL DEFAULT 0",
    "ALTER TABLE conversations ADD COLUMN archived INTEGER NOT NULL DEFAULT 0",
    "ALTER TABLE conversations ADD COLUMN folder_id INTEGER REFERENCES folders (id) ON DELETE SET NULL",
    "ALTER TABLE conversations ADD COLUMN place INTEGER NOT NULL DEFAULT 0",
    "ALTER TABLE conversations ADD COLUMN shown_root INTEGER",
    "ALTER TABLE conversations ADD COLUMN origin TEXT NOT NULL DEFAULT ''",
    "ALTER TABLE messages ADD COLUMN parent_id INTEGER",
    "ALTER TABLE messages ADD COLUMN shown_child INTEGER",
    "ALTER TABLE messages ADD COLUMN cut INTEGER NOT NULL DEFAULT 0",
    "CREATE INDEX conversations_by_origin ON conversations (origin) WHERE origin <> ''",
    "CREATE INDEX conversations_by_folder ON conversations (folder_id) WHERE folder_id IS NOT NULL",
    "CREATE INDEX messages_by_parent ON messages (conversation_id, parent_id, shown_child)",
    # An unfinished regenerated answer is stored after the answer that it should replace.
    """
    UPDATE messages SET parent_id = (
        SELECT before.id FROM messages AS before
        WHERE before.conversation_id = messages.conversation_id AND before.position <
            coalesce((SELECT old.position FROM messages AS old WHERE old.id = messages.replaces), messages.position)
        ORDER BY before.position DESC LIMIT 1
    )
    """,
    """
    UPDATE messages SET shown_child = (
        SELECT max(child.id) FROM messages AS child
        WHERE child.conversation_id = messages.conversation_id AND child.parent_id = messages.id
    )
    """,
    """
    UPDATE conversations SET shown_root = (
        SELECT max(id) FROM messages WHERE conversation_id = conversations.id AND parent_id IS NULL
    )
    """,
    "UPDATE messages SET cut = 1 WHERE role = 'assistant' AND notice LIKE 'Ended at the longest answer%'",
    """
    CREATE VIRTUAL TABLE found_messages USING fts5 (
        text, content = 'messages', content_rowid = 'id', prefix = '1 2 3',
        tokenize = 'unicode61 remove_diacritics 2'
    )
    """,
    """
    CREATE VIRTUAL TABLE found_titles USING fts5 (
        title, content = 'conversations', content_rowid = 'id', prefix = '1 2',
        tokenize = 'unicode61 remove_diacritics 2'
    )
    """,
    "INSERT INTO found_messages (rowid, text) SELECT id, text FROM messages WHERE state <> 'streaming'",
    "INSERT INTO found_titles (rowid, title) SELECT id, title FROM conversations",
)

# ``options`` are a chat's own values of settings; ``deleted_at`` marks a deletion that can be undone. ``target`` and
# ``draft`` are the models of an answer, ``thinking_ms`` its time of reasoning. An attachment belongs to a message, or
# to a chat's unsent message (``unsent_of``; 0 is the chat without a message). A summary replaces a chat's messages up
# to and including one of them. Totals outlive their chats.
_VERSION_3: Migration = (
    "ALTER TABLE conversations ADD COLUMN options TEXT NOT NULL DEFAULT ''",
    "ALTER TABLE conversations ADD COLUMN deleted_at INTEGER",
    "ALTER TABLE messages ADD COLUMN target TEXT NOT NULL DEFAULT ''",
    "ALTER TABLE messages ADD COLUMN draft TEXT NOT NULL DEFAULT ''",
    "ALTER TABLE messages ADD COLUMN thinking_ms INTEGER",
    """
    CREATE TABLE attachments (
        id INTEGER PRIMARY KEY AUTOINCREMENT,
        message_id INTEGER REFERENCES messages (id) ON DELETE CASCADE,
        unsent_of INTEGER,
        position INTEGER NOT NULL DEFAULT 0,
        name TEXT NOT NULL CHECK (typeof(name) = 'text'),
        kind TEXT NOT NULL CHECK (typeof(kind) = 'text'),
        num_bytes INTEGER NOT NULL DEFAULT 0,
        text TEXT NOT NULL CHECK (typeof(text) = 'text')
    )
    """,
    "CREATE INDEX attachments_by_message ON attachments (message_id) WHERE message_id IS NOT NULL",
    "CREATE INDEX attachments_unsent ON attachments (unsent_of) WHERE unsent_of IS NOT NULL",
    """
    CREATE TABLE summaries (
        message_id INTEGER PRIMARY KEY REFERENCES messages (id) ON DELETE CASCADE,
        text TEXT NOT NULL CHECK (typeof(text) = 'text')
    )
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

# The text in the editor of a sent message that is being edited.
_VERSION_4: Migration = (
    """
    CREATE TABLE edits (
        message_id INTEGER PRIMARY KEY REFERENCES messages (id) ON DELETE CASCADE,
        text TEXT NOT NULL CHECK (typeof(text) = 'text')
    )
    """,
)

# The text of attachments, searchable like messages. The indexed length is limited to limit the time.
_VERSION_5: Migration = (
    """
    CREATE VIEW attachment_words AS
    SELECT id, message_id, unsent_of, name || char(10) || substr(text, 1, 500000) AS text FROM attachments
    """,
    """
    CREATE VIRTUAL TABLE found_attachments USING fts5 (
        text, content = 'attachment_words', content_rowid = 'id', prefix = '1 2',
        tokenize = 'unicode61 remove_diacritics 2'
    )
    """,
    "INSERT INTO found_attachments (rowid, text) SELECT id, text FROM attachment_words",
)

# The indexes treat a run of letters as a word. For scripts without spaces between words, separate indexes treat each
# letter as a word; they contain only rows with such letters. `spaced` and `has_unspaced` are functions of the
# connection.
_VERSION_6: Migration = (
    *(
        f"""
        CREATE VIRTUAL TABLE {name} USING fts5 (
            text, content = '', detail = full, tokenize = 'unicode61 remove_diacritics 2'
        )
        """
        for name in ("found_letters_messages", "found_letters_titles", "found_letters_attachments")
    ),
    "INSERT INTO found_letters_messages (rowid, text) SELECT id, spaced(text) FROM messages "
    "WHERE state <> 'streaming' AND has_unspaced(text)",
    "INSERT INTO found_letters_titles (rowid, text) SELECT id, spaced(title) FROM conversations "
    "WHERE has_unspaced(title)",
    "INSERT INTO found_letters_attachments (rowid, text) SELECT id, spaced(text) FROM attachment_words "
    "WHERE has_unspaced(text)",
)

# Finds conversations with answers of remote servers, which the list marks: their model's name is "model @ host".
_VERSION_7: Migration = (
    "CREATE INDEX messages_from_elsewhere ON messages (conversation_id) WHERE instr(target, ' @ ') > 0",
)

# Tool calls. ``call`` is a call as JSON, ``call_status`` its status; the text is its result. Such a message is stored
# with the role 'system', which no other message has: the column's CHECK allows no new role, and a table with foreign
# keys cannot be recreated while cascades are on. `MESSAGE_ROLE` is the SQL for the role.
_VERSION_8: Migration = (
    "ALTER TABLE messages ADD COLUMN call TEXT NOT NULL DEFAULT ''",
    "ALTER TABLE messages ADD COLUMN call_status TEXT NOT NULL DEFAULT ''",
    "CREATE INDEX messages_open_calls ON messages (call_status) WHERE call_status IN ('waiting', 'asked', 'running')",
)
# Pictures, stored once per content; deleted with the last attachment that uses the picture.
_VERSION_9: Migration = (
    """
    CREATE TABLE pictures (
        digest TEXT PRIMARY KEY,
        width INTEGER NOT NULL,
        height INTEGER NOT NULL,
        thumbnail BLOB NOT NULL,
        data BLOB NOT NULL
    )
    """,
    "ALTER TABLE attachments ADD COLUMN picture TEXT",
    "CREATE INDEX attachments_by_picture ON attachments (picture) WHERE picture IS NOT NULL",
    """
    CREATE TRIGGER pictures_unused AFTER DELETE ON attachments WHEN old.picture IS NOT NULL
    AND NOT EXISTS (SELECT 1 FROM attachments WHERE picture = old.picture)
    BEGIN DELETE FROM pictures WHERE digest = old.picture; END
    """,
)
# How an answer was sampled, as JSON: its seed, and what must be equal for the seed to reproduce it.
_VERSION_10: Migration = ("ALTER TABLE messages ADD COLUMN drawn TEXT NOT NULL DEFAULT ''",)
MESSAGE_ROLE = "CASE WHEN messages.call_status <> '' THEN 'tool' ELSE messages.role END"

MIGRATIONS: tuple[Migration, ...] = (
    _VERSION_1,
    _VERSION_2,
    _VERSION_3,
    _VERSION_4,
    _VERSION_5,
    _VERSION_6,
    _VERSION_7,
    _VERSION_8,
    _VERSION_9,
    _VERSION_10,
)
