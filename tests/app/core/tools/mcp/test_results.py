"""Tests tool results with pictures; sizes are limited before processing, which holds the interpreter lock."""

import base64
import time
from typing import Any

import pytest
from mcp_types import (
    AudioContent,
    BlobResourceContents,
    CallToolResult,
    ContentBlock,
    EmbeddedResource,
    ImageContent,
    TextContent,
    Tool,
)
from mcp_types import TextContent as Text

from app.core.storage.pictures import PictureCache
from app.core.tools.mcp import results
from app.core.tools.mcp.limits import SCHEMAS_BYTES
from app.core.tools.mcp.results import MAX_PICTURES, result_of, select_tools
from tests.engine.sandbox.pictures import broken, encoded, sample

pytestmark = pytest.mark.usefixtures("warm_helpers")

PNG = encoded(sample(), "PNG")
MOST = 10_000
MOST_CHARS = 256 * 1024


def image(data: bytes, kind: str = "image/png") -> ImageContent:
    """An image part of a result."""
    return ImageContent(type="image", data=base64.b64encode(data).decode(), mime_type=kind)


def given(*parts: ContentBlock) -> dict[str, Any]:
    """A result as the server sends it."""
    return CallToolResult(content=list(parts)).model_dump(mode="json", by_alias=True, exclude_none=True)


def test_pictures_are_decoded_and_named_where_they_stand() -> None:
    """From both kinds of parts; the claimed type is not trusted."""
    blob = BlobResourceContents(uri="file:///a.jpg", blob=base64.b64encode(PNG).decode(), mime_type="image/jpeg")
    inside = EmbeddedResource(type="resource", resource=blob)
    sound = AudioContent(type="audio", data="QUJD", mime_type="audio/wav")
    result = result_of("1", given(Text(type="text", text="Seen:"), image(PNG, "text/html"), inside, sound), MOST)
    assert result.text.splitlines() == [
        "Seen:",
        "[picture 1]",
        "[picture 2]",
        "[a sound, audio/wav, 3 bytes; only text can be shown to the model]",
    ]
    assert [one.name for one in result.pictures] == ["picture 1", "picture 2"]
    kept = result.pictures[0].picture
    assert kept is not None
    assert PictureCache().decoded(kept).rgb == sample().tobytes()
    assert result.pictures[1].picture == kept


@pytest.mark.parametrize("name", ["a bomb", "cut in the middle", "text", "one byte"])
def test_a_picture_that_is_none_costs_a_sentence(name: str) -> None:
    """Valid parts beside it are kept."""
    bad = broken()
    data = next(data for kind, data in bad.items() if name in kind)
    result = result_of("1", given(image(data), image(PNG)), MOST)
    first, second = result.text.splitlines()
    assert first.startswith("[picture 1 cannot be shown: “picture 1” ")
    assert second == "[picture 2]"
    assert [one.name for one in result.pictures] == ["picture 2"]
    assert not result.is_error


def test_what_is_no_base64_costs_a_sentence() -> None:
    """A server may send anything."""
    part = ImageContent(type="image", data="%%%\u2028", mime_type="image/png")
    assert result_of("1", given(part), MOST).text == "[picture 1 cannot be shown: it is not in Base64.]"


def test_of_five_hundred_pictures_a_few_are_decoded(monkeypatch: pytest.MonkeyPatch) -> None:
    """The others are counted."""
    decoded = list[str]()
    real = results.picture_attachment

    def counted(name: str, data: bytes, limit_s: float) -> object:
        decoded.append(name)
        return real(name, data, limit_s)

    monkeypatch.setattr(results, "picture_attachment", counted)
    result = result_of("1", given(*[image(PNG)] * 500), MOST)
    assert len(decoded) == len(result.pictures) == MAX_PICTURES
    assert result.text.splitlines()[-1] == f"[{500 - MAX_PICTURES} more pictures were left out]"


def test_slow_pictures_have_their_time_together(monkeypatch: pytest.MonkeyPatch) -> None:
    """Pictures after the time limit are omitted by name."""
    clock = [100.0]

    def slow(name: str, data: bytes, limit_s: float) -> object:
        assert limit_s <= results.MAX_PICTURE_S
        clock[0] += 9.5
        return real(name, data)

    real = results.picture_attachment
    monkeypatch.setattr(results, "picture_attachment", slow)
    monkeypatch.setattr(time, "monotonic", lambda: clock[0])
    result = result_of("1", given(*[image(PNG)] * 3), MOST)
    assert result.text.splitlines() == [
        "[picture 1]",
        "[picture 2]",
        "[picture 3 was left out: reading those before it took too long]",
    ]


@pytest.mark.parametrize("piece", ["\x1b[31mred\x1b[0m \n", "\x1b[", "\x1b]", "\r\n\x07", "word "])
def test_ten_megabytes_are_cleaned_no_further_than_they_are_kept(piece: str, monkeypatch: pytest.MonkeyPatch) -> None:
    cleaned, clean = list[int](), results.plain_text

    def noted(text: str) -> str:
        cleaned.append(len(text))
        return clean(text)

    monkeypatch.setattr(results, "plain_text", noted)
    text = piece * (10_000_000 // len(piece))
    told = given(TextContent(type="text", text=text), TextContent(type="text", text="the end"))
    result = result_of("a", told, MOST_CHARS)
    assert sum(cleaned) <= 2 * MOST_CHARS + len("the end")
    assert len(result.text) <= MOST_CHARS
    assert "\x1b" not in result.text
    assert len(text) - 2 * MOST_CHARS <= result.cut <= len(text)  # not all of the cut text was cleaned


def test_what_fits_is_whole() -> None:
    parts = ("\x1b[31mred\x1b[0m", "b" * 50, "c" * 60)
    result = result_of("a", given(*(TextContent(type="text", text=text) for text in parts)), 100)
    assert (result.text, result.cut) == ("red\n" + "b" * 50 + "\n" + "c" * 45, 15)


def test_schemas_of_a_server_are_bounded_together() -> None:
    wide = {"type": "object", "properties": {f"property_{number:03}": {"type": "string"} for number in range(600)}}
    small = {"type": "object"}
    tools = [Tool(name=f"wide{number:03}", input_schema=wide) for number in range(100)]
    found, left_out = select_tools([*tools, Tool(name="z_last", input_schema=small)], 128)
    assert 1 < len(found) < 100
    assert "z_last" in found  # a small one still fits
    assert len(left_out) == 101 - len(found)
    assert "the arguments of the others leave no room" in left_out[0]
    assert len(str(wide)) * (len(found) - 1) <= SCHEMAS_BYTES
