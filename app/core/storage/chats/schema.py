"""The layout of the chats file. Times are microseconds since 1970, UTC.

The app checks types itself, since STRICT tables need SQLite 3.37, and some systems have an older version.
"""

# Messages are a tree: ``parent_id`` is the parent of a message, ``shown_child`` its shown child, ``shown_root`` the
# shown first message. ``parent_id`` has no ON DELETE CASCADE, whose recursion would be as deep as a chat is long.
# ``position`` is the order of arrival, ``place`` the manual order; ``origin`` identifies an imported chat; ``cut`` is
# set if the token limit ended an answer; ``deleted_at`` is a deletion that can be undone. ``drawn``: how an answer was
# sampled, as JSON. Totals outlive their chats. In ``unsent``, 0 is the chat that is not stored yet. ``edits`` has the
# text in the editor of a sent message. ``mode`` and ``depth`` of a conversation are unused: its options have them.
# Tool calls: ``call`` is a call as JSON, ``call_status`` its status; the text is its result. Such a message is stored
# with the role 'system', which no other message has. `MESSAGE_ROLE` is the SQL for the role.
_TABLES = (
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
    """
    CREATE TABLE messages (
        id INTEGER PRIMARY KEY AUTOINCREMENT,
        conversation_id INTEGER NOT NULL REFERENCES conversations (id) ON DELETE CASCADE,
        position INTEGER NOT NULL CHECK (typeof(position) = 'integer'),
        role TEXT NOT NULL CHECK (role IN ('system', 'user', 'assistant')),
        text TEXT NOT NULL CHECK (typeof(text) = 'text'),
        state TEXT NOT NULL CHECK (state IN ('complete', 'streaming', 'stopped', 'interrupted', 'failed')),
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
    "CREATE TABLE unsent (conversation_id INTEGER PRIMARY KEY, text TEXT NOT NULL CHECK (typeof(text) = 'text'))",
    """
    CREATE TABLE edits (
        message_id INTEGER PRIMARY KEY REFERENCES messages (id) ON DELETE CASCADE,
        text TEXT NOT NULL CHECK (typeof(text) = 'text')
    )
    """,
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
    "CREATE INDEX conversations_by_update ON conversations (updated_at DESC, id DESC)",
    "CREATE INDEX conversations_by_origin ON conversations (origin) WHERE origin <> ''",
    "CREATE INDEX conversations_by_folder ON conversations (folder_id) WHERE folder_id IS NOT NULL",
    "CREATE INDEX messages_streaming ON messages (state) WHERE state = 'streaming'",
    "CREATE INDEX messages_by_parent ON messages (conversation_id, parent_id, shown_child)",
    # Finds conversations with answers of remote servers, which the list marks: their model's name is "model @ host".
    "CREATE INDEX messages_from_elsewhere ON messages (conversation_id) WHERE instr(target, ' @ ') > 0",
    "CREATE INDEX messages_open_calls ON messages (call_status) WHERE call_status IN ('waiting', 'asked', 'running')",
)

# An attachment belongs to a message, or to a chat's unsent message (``unsent_of``; 0 is the chat without a message).
# Pictures are stored once per content, and deleted with the last attachment that uses the picture.
_ATTACHMENTS = (
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
    """
    CREATE TABLE pictures (
        digest TEXT PRIMARY KEY,
        width INTEGER NOT NULL,
        height INTEGER NOT NULL,
        thumbnail BLOB NOT NULL,
        data BLOB NOT NULL
    )
    """,
    "CREATE INDEX attachments_by_message ON attachments (message_id) WHERE message_id IS NOT NULL",
    "CREATE INDEX attachments_unsent ON attachments (unsent_of) WHERE unsent_of IS NOT NULL",
    "CREATE INDEX attachments_by_picture ON attachments (picture) WHERE picture IS NOT NULL",
    """
    CREATE TRIGGER pictures_unused AFTER DELETE ON attachments WHEN old.picture IS NOT NULL
    AND NOT EXISTS (SELECT 1 FROM attachments WHERE picture = old.picture)
    BEGIN DELETE FROM pictures WHERE digest = old.picture; END
    """,
)

# The indexes store no text themselves and omit streaming answers. Statements update them, since `trusted_schema`
# forbids triggers to do so. The indexed text of attachments is limited to limit the time. The indexes treat a run of
# letters as a word. For scripts without spaces between words, separate indexes treat each letter as a word; they
# contain only rows with such letters.
_SEARCH = (
    """
    CREATE VIEW attachment_words AS
    SELECT id, message_id, unsent_of, name || char(10) || substr(text, 1, 500000) AS text FROM attachments
    """,
    *(
        f"""
        CREATE VIRTUAL TABLE {name} USING fts5 (
            {column}, content = '{source}', content_rowid = 'id', prefix = '{prefix}',
            tokenize = 'unicode61 remove_diacritics 2'
        )
        """
        for name, column, source, prefix in (
            ("found_messages", "text", "messages", "1 2 3"),
            ("found_titles", "title", "conversations", "1 2"),
            ("found_attachments", "text", "attachment_words", "1 2"),
        )
    ),
    *(
        f"""
        CREATE VIRTUAL TABLE {name} USING fts5 (
            text, content = '', detail = full, tokenize = 'unicode61 remove_diacritics 2'
        )
        """
        for name in ("found_letters_messages", "found_letters_titles", "found_letters_attachments")
    ),
)
MESSAGE_ROLE = "CASE WHEN messages.call_status <> '' THEN 'tool' ELSE messages.role END"

VERSION = 10  # files of other layouts were never published
LAYOUT: tuple[str, ...] = (*_TABLES, *_ATTACHMENTS, *_SEARCH)
