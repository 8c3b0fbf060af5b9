"""All requests of the Models panel, as signals of one object that its pages share."""

from __future__ import annotations

from PySide6.QtCore import QObject, Signal


class ModelsRequests(QObject):
    """Signals, grouped by their source.

    Signals:
        closed: back to the chat. page_requested(str), page_shown(str): "recommended", "search", "drafts", "library",
        "downloads", "engines" or "welcome".
        search_requested(object): a `SearchQuery`. repo_requested(str): the details of a repository.
        token_entered(str), token_removed: access to gated models.
        pair_requested(object, object): judge a target and a draft (`ModelRef`, the draft may be None).
        drafts_requested(object): find drafts for a `ModelRef`; None is the target in use.
        catalog_requested(str): a recommended pair was opened. recommendations_requested: reload the list.
        pull_requested(object, bool): download these `ModelRef`s (a tuple, the target first); True: then chat.
        download_action_requested(str, str): the key of a download, and "pause", "resume", "cancel", "retry" or
        "forget".
        chat_requested(object, object): load this target and draft (`ModelRef` or None).
        draft_requested(object): use this `ModelRef` as the draft of the target in use.
        reveal_requested(str), remove_requested(str), add_requested(str), offer_taken(str), rescan_requested: the
        library; removing has been confirmed. scan_requested(str), scan_stopped: of a folder.
        link_wanted: open the link dialog. link_given(str): check a link. link_closed: cancel.
        self_draft_requested(object): make a draft from this `ModelRef`.
        builtin_requested, welcome_done: the first run. first_model_requested, first_model_stopped: download the small
        real model and chat with it; cancel.
        link_requested(str): an address of a README.
        engine_added(str, str, bool): URL and key of a remote server, and whether the key may be sent unencrypted.
        engine_asked(str), engine_removed(str): its URL. engine_chat_requested(str): the path of one of its models.
    """

    closed = Signal()
    page_requested = Signal(str)
    page_shown = Signal(str)
    search_requested = Signal(object)
    repo_requested = Signal(str)
    token_entered = Signal(str)
    token_removed = Signal()
    pair_requested = Signal(object, object)
    drafts_requested = Signal(object)
    catalog_requested = Signal(str)
    recommendations_requested = Signal()
    pull_requested = Signal(object, bool)
    download_action_requested = Signal(str, str)
    chat_requested = Signal(object, object)
    draft_requested = Signal(object)
    reveal_requested = Signal(str)
    remove_requested = Signal(str)
    add_requested = Signal(str)
    offer_taken = Signal(str)
    rescan_requested = Signal()
    scan_requested = Signal(str)
    scan_stopped = Signal()
    link_wanted = Signal()
    link_given = Signal(str)
    link_closed = Signal()
    self_draft_requested = Signal(object)
    builtin_requested = Signal()
    welcome_done = Signal()
    first_model_requested = Signal()
    first_model_stopped = Signal()
    link_requested = Signal(str)
    engine_added = Signal(str, str, bool)
    engine_asked = Signal(str)
    engine_removed = Signal(str)
    engine_chat_requested = Signal(str)


WELCOME = "welcome"
