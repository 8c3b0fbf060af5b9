"""Tests stored pictures: only pixels, once per content, deleted with the last chat that uses them."""

import io
from dataclasses import replace
from pathlib import Path

import pytest
from PIL import Image

from app.core.attachments.reading import read_attachment
from app.core.domain.attachments import Attachment, AttachmentKind
from app.core.domain.requests import prompt_messages
from app.core.storage.chats.store import ChatStore
from app.core.storage.exchange.file_names import JSON, MARKDOWN
from app.core.storage.exchange.transfer import export_chats, import_chats
from app.core.storage.pictures import THUMBNAIL_PX, PictureCache, picture_attachment
from tests.app.core.storage.chats.turns import ask
from tests.engine.sandbox.pictures import encoded, sample

pytestmark = pytest.mark.usefixtures("warm_helpers")


def num_pictures(store: ChatStore) -> int:
    return int(store.read(lambda db: db.execute("SELECT count(*) FROM pictures").fetchone()[0]))


@pytest.mark.parametrize("kind", ["PNG", "JPEG", "WEBP", "GIF"])
def test_a_picture_file_is_read_by_its_contents_whatever_its_name(tmp_path: Path, kind: str) -> None:
    path = tmp_path / "holiday.txt"
    path.write_bytes(encoded(sample(), kind))
    attachment = read_attachment(path)[0]
    assert attachment.kind is AttachmentKind.PICTURE
    assert attachment.picture is not None
    assert (attachment.picture.width, attachment.picture.height) == sample().size
    assert attachment.num_bytes == len(attachment.picture.data)
    assert attachment.text == ""


def test_what_was_not_lossy_is_kept_to_the_pixel_and_without_its_metadata() -> None:
    exif = Image.Exif()
    exif[0x010E] = "taken at home"
    picture = picture_attachment("a.png", encoded(sample(), "PNG", exif=exif)).picture
    assert picture is not None
    assert b"taken at home" not in picture.data
    assert PictureCache().decoded(picture).rgb == sample().tobytes()
    wide = picture_attachment("b.png", encoded(sample().resize((900, 300)), "PNG")).picture
    assert wide is not None
    small = Image.open(io.BytesIO(wide.thumbnail))
    assert small.size == (THUMBNAIL_PX, round(THUMBNAIL_PX / 3))


def test_a_model_that_sees_gets_the_pixels_and_another_one_the_name(store: ChatStore) -> None:
    shown = picture_attachment("slope.png", encoded(sample(), "PNG"))
    store.attachments.add_unsent(None, shown)
    turn = ask(store, None, "What is this?")
    (seen,) = prompt_messages("", turn.history, PictureCache().decoded)
    assert seen.content == "What is this?"
    ((place, picture),) = seen.pictures
    assert (place, picture.rgb) == (0, sample().tobytes())
    (unseen,) = prompt_messages("", turn.history)
    assert unseen.pictures == ()
    assert "cannot see: slope.png" in unseen.content


def test_pictures_of_joined_questions_keep_their_places(store: ChatStore) -> None:
    store.attachments.add_unsent(None, picture_attachment("a.png", encoded(sample(), "PNG")))
    turn = ask(store, None, "First?")
    first, second = turn.question, replace(turn.question, id=99, text="Second?")
    (message,) = prompt_messages("", [first, second], PictureCache().decoded)
    assert [message.content[place:] for place, _ in message.pictures] == ["First?\n\nSecond?", "Second?"]


def test_one_content_is_kept_once_and_goes_with_the_last_chat_that_has_it(store: ChatStore) -> None:
    shown = picture_attachment("slope.png", encoded(sample(), "PNG"))
    turns = []
    for _ in range(2):
        store.attachments.add_unsent(None, shown)
        turns.append(ask(store, None, "What is this?"))
    assert num_pictures(store) == 1
    listed = store.messages(turns[0].conversation_id)[0].attachments[0].picture
    assert listed is not None
    assert listed.data == b""
    assert listed.thumbnail
    store.deletions.delete_permanently([turns[0].conversation_id])
    assert num_pictures(store) == 1
    store.deletions.delete_permanently([turns[1].conversation_id])
    assert num_pictures(store) == 0


def test_pictures_are_exported_and_imported(store: ChatStore, tmp_path: Path) -> None:
    store.attachments.add_unsent(None, picture_attachment("slope.png", encoded(sample(), "PNG")))
    turn = ask(store, None, "What is this?")
    file, words = tmp_path / "chats.json", tmp_path / "chat.md"
    export_chats(store, file, JSON, None)
    export_chats(store, words, MARKDOWN, turn.conversation_id)
    assert "*Picture: slope.png*" in words.read_text("utf-8")
    store.deletions.delete_permanently([turn.conversation_id])
    import_chats(store, file)
    (row,) = store.conversations()
    (picture,) = (each.picture for each in store.history(row.id)[0].attachments)
    assert picture is not None
    assert PictureCache().decoded(picture).rgb == sample().tobytes()


def test_a_picture_of_an_import_that_is_none_leaves_its_name(store: ChatStore, tmp_path: Path) -> None:
    store.attachments.add_unsent(None, picture_attachment("slope.png", encoded(sample(), "PNG")))
    ask(store, None, "What is this?")
    file = tmp_path / "chats.json"
    export_chats(store, file, JSON, None)
    text = file.read_text("utf-8")
    begin = text.index('"picture": "') + len('"picture": "')
    file.write_text(f"{text[:begin]}QUJD{text[text.index(chr(34), begin) :]}", "utf-8")
    store.deletions.delete_permanently([row.id for row in store.conversations()])
    import_chats(store, file)
    (attachment,) = store.history(store.conversations()[0].id)[0].attachments
    assert attachment == Attachment(attachment.id, "slope.png", AttachmentKind.PICTURE, attachment.num_bytes)


def test_decoded_pictures_are_kept_by_their_contents() -> None:
    cache = PictureCache()
    one = picture_attachment("a.png", encoded(sample(), "PNG")).picture
    assert one is not None
    assert cache.decoded(one) is cache.decoded(replace(one, data=b""))
