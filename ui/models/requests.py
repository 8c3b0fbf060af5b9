"""Everything a person can want in the Models place, as signals of one object that its pages share."""

from __future__ import annotations

from PySide6.QtCore import QObject, Signal


class ModelsRequests(QObject):
    """Signals, grouped by where they arise.

    Signals:
        closed: back to the chat. page_wanted(str), page_shown(str): "recommended", "search", "drafts", "library",
        "downloads" or "welcome": go there; it is seen.
        search_wanted(object): a `SearchQuery`. repo_wanted(str): the details of a repository.
        token_given(str), token_removed: access to gated models.
        pair_wanted(object, object): judge a target and a draft (`ModelRef`, the draft may be None).
        drafts_wanted(object): find drafts for a `ModelRef`; None is the target in use.
        catalog_wanted(str): a recommended pair was opened. all_wanted: the recommendations, afresh.
        pull_wanted(object, bool): download these `ModelRef`s (a tuple, the target first); True chats with them after.
        download_deed(str, str): "pause", "resume", "cancel", "retry" or "forget" for the download of that key.
        chat_wanted(object, object): load this target and draft (`ModelRef` or None).
        draft_wanted(object): use this `ModelRef` as the draft of the target in use.
        reveal_wanted(str), remove_wanted(str), add_wanted(str), offer_taken(str), look_again: the library;
        removing has been confirmed.
        builtin_wanted, welcome_done: the first run. first_wanted, first_stopped: its small real model is to be
        downloaded and chatted with; or no longer.
        link_wanted(str): an address of a README.
    """

    closed = Signal()
    page_wanted = Signal(str)
    page_shown = Signal(str)
    search_wanted = Signal(object)
    repo_wanted = Signal(str)
    token_given = Signal(str)
    token_removed = Signal()
    pair_wanted = Signal(object, object)
    drafts_wanted = Signal(object)
    catalog_wanted = Signal(str)
    all_wanted = Signal()
    pull_wanted = Signal(object, bool)
    download_deed = Signal(str, str)
    chat_wanted = Signal(object, object)
    draft_wanted = Signal(object)
    reveal_wanted = Signal(str)
    remove_wanted = Signal(str)
    add_wanted = Signal(str)
    offer_taken = Signal(str)
    look_again = Signal()
    builtin_wanted = Signal()
    welcome_done = Signal()
    first_wanted = Signal()
    first_stopped = Signal()
    link_wanted = Signal(str)


WELCOME = "welcome"
