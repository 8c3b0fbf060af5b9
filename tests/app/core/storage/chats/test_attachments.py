"""Tests attachments in the chats file: kept after a restart, sent, edited, copied, exported, imported, deleted."""

from datetime import UTC, datetime
from pathlib import Path

from app.core.domain.attachments import Attachment, AttachmentKind
from app.core.domain.messages import MessageState
from app.core.domain.requests import prompt_messages
from app.core.storage.chats.answers import AnswerEnding
from app.core.storage.chats.opening import StoreLocation
from app.core.storage.chats.store import AttachmentChanges, ChatStore
from app.core.storage.exchange.file_names import JSON, MARKDOWN
from app.core.storage.exchange.transfer import export_chats, import_chats
from tests.app.core.storage.chats.turns import ask

NOTES = Attachment(0, "notes.md", AttachmentKind.MARKDOWN, 12, "# Notes\n```\nx\n```\n")
TABLE = Attachment(0, "table.csv", AttachmentKind.CSV, 4, "a,b\n")


def attached(store: ChatStore, conversation_id: int) -> list[list[str]]:
    return [[each.name for each in view.attachments] for view in store.messages(conversation_id)]


def test_unsent_attachments_survive_a_restart(store: ChatStore, place: StoreLocation) -> None:
    kept = [store.attachments.add_unsent(None, each) for each in (NOTES, TABLE)]
    assert store.close()
    again = ChatStore(place, lambda _problem: None)
    again.open()
    assert again.attachments.unsent(None) == tuple(kept)
    again.attachments.remove(kept[0].id).result()
    assert [each.name for each in again.attachments.unsent(None)] == ["table.csv"]
    assert again.attachments.unsent(7) == ()
    again.close()


def test_a_message_takes_them_and_the_prompt_has_their_texts(store: ChatStore) -> None:
    store.attachments.add_unsent(None, NOTES)
    store.attachments.add_unsent(None, TABLE)
    turn = ask(store, None, "What is this?")
    assert store.attachments.unsent(None) == ()
    assert [each.text for each in turn.question.attachments] == [NOTES.text, TABLE.text]
    (message,) = prompt_messages("", turn.history)
    assert "````markdown\n# Notes" in message.content
    assert message.content.endswith("What is this?")
    shown = store.messages(turn.conversation_id)[0]
    assert [(each.name, each.text) for each in shown.attachments] == [("notes.md", ""), ("table.csv", "")]
    whole = store.attachments.read(shown.attachments[0].id)
    assert whole is not None
    assert whole.text == NOTES.text
    regenerated = store.begin_answer(turn.conversation_id, turn.answer.id)
    assert [each.text for each in regenerated.history[-1].attachments] == [NOTES.text, TABLE.text]


def test_a_message_without_words_is_named_after_its_file(store: ChatStore) -> None:
    store.attachments.add_unsent(None, NOTES)
    turn = ask(store, None, "")
    assert turn.title == "notes.md"
    assert [message.role for message in prompt_messages("", turn.history)] == ["user"]


def test_editing_keeps_them_but_for_those_that_were_removed(store: ChatStore) -> None:
    store.attachments.add_unsent(None, NOTES)
    store.attachments.add_unsent(None, TABLE)
    turn = ask(store, None, "What is this?")
    gone = store.messages(turn.conversation_id)[0].attachments[0].id
    edited = store.begin_turn(turn.conversation_id, "Else", turn.question.id, AttachmentChanges({gone}))
    assert [each.name for each in edited.question.attachments] == ["table.csv"]
    store.finish_answer(edited.answer.id, AnswerEnding(MessageState.COMPLETE))
    store.show_message(turn.question.id)
    assert attached(store, turn.conversation_id)[0] == ["notes.md", "table.csv"]


def test_a_copy_of_the_chat_has_its_own(store: ChatStore) -> None:
    store.attachments.add_unsent(None, NOTES)
    turn = ask(store, None, "What is this?")
    copy = store.library.branch_off(turn.answer.id)
    store.deletions.delete_permanently([turn.conversation_id])
    assert attached(store, copy) == [["notes.md"], []]
    (attachment,) = store.messages(copy)[0].attachments
    whole = store.attachments.read(attachment.id)
    assert whole is not None
    assert whole.text == NOTES.text


def test_deleting_takes_them_along(store: ChatStore) -> None:
    store.attachments.add_unsent(None, NOTES)
    turn = ask(store, None, "What is this?")
    store.attachments.add_unsent(turn.conversation_id, TABLE)
    branch = store.deletions.mark_branch(turn.question.id, datetime.now(UTC))
    assert branch is not None
    store.deletions.delete_permanently([branch.hidden_chat_id])
    count = "SELECT count(*) FROM attachments"
    assert store.read(lambda db: db.execute(count).fetchone()) == (1,)
    store.deletions.delete_permanently([turn.conversation_id])
    assert store.read(lambda db: db.execute(count).fetchone()) == (0,)


def test_export_and_import_bring_them_back(store: ChatStore, tmp_path: Path) -> None:
    store.attachments.add_unsent(None, NOTES)
    turn = ask(store, None, "What is this?")
    export_chats(store, tmp_path / "chats.json", JSON)
    assert import_chats(store, tmp_path / "chats.json").num_known == 1
    store.deletions.delete_permanently([turn.conversation_id])
    assert import_chats(store, tmp_path / "chats.json").num_new == 1
    (row,) = store.conversations()
    (attachment,) = store.messages(row.id)[0].attachments
    assert store.attachments.read(attachment.id) == Attachment(
        attachment.id, NOTES.name, NOTES.kind, NOTES.num_bytes, NOTES.text
    )
    export_chats(store, tmp_path / "chat.md", MARKDOWN, row.id)
    text = (tmp_path / "chat.md").read_text("utf-8")
    assert "Attached file: notes.md (Markdown)\n\n````markdown\n# Notes\n```\nx\n```\n````\n\n" in text


def test_what_was_read_for_a_chat_that_is_gone_is_not_kept(store: ChatStore) -> None:
    """Reading takes up to a minute; deletion is permanent after some seconds."""
    number = ask(store, None, "What is this?").conversation_id
    store.deletions.delete_permanently([number])
    assert store.attachments.add_unsent(number, NOTES) == NOTES
    assert store.read(lambda db: db.execute("SELECT count(*) FROM attachments").fetchone()) == (0,)
