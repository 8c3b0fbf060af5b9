"""Pictures pass through chat templates as unique placeholders, and are restored at their positions."""

from dataclasses import replace
from pathlib import Path

import pytest

from engine.errors import PictureError, PromptError, TemplateError
from engine.picture import Picture
from engine.prompt.chat_prompt import PromptBuilder
from engine.prompt.pictures import MAX_PICTURES
from engine.records import ChatRequest, Message, ToolCall
from tests.engine.tiny_tokenizer import TinyTokenizer

SHARED = Path(__file__).resolve().parents[4] / "shared"
TEMPLATES = sorted((SHARED / "templates").glob("*.jinja"))
ONE, TWO = Picture(1, 1, b"abc"), Picture(1, 1, b"abd")
NUMBERS = {ONE.digest: 1, TWO.digest: 2}


def ids_of(picture: Picture) -> list[int]:
    """Two embedding ids for each picture, between brackets."""
    number = NUMBERS[picture.digest]
    return [ord("<"), -100 * number, -100 * number - 1, ord(">")]


def builder(template: str | None, tokenizer: TinyTokenizer | None = None) -> PromptBuilder:
    """A prompt builder of a vision model."""
    made = PromptBuilder(tokenizer or TinyTokenizer(controls=["<|im_start|>", "<|im_end|>"]), template)
    made.ids_of_picture = ids_of
    return made


def readable(ids: list[int]) -> str:
    """Ids as text; an embedding is a hash sign."""
    return "".join("#" if one < 0 else chr(one) if one < 256 else "|" for one in ids)


def user(text: str) -> Message:
    """A question; @ stands for the first picture, $ for the second."""
    found, words = list[tuple[int, Picture]](), ""
    for character in text:
        if character in "@$":
            found.append((len(words), ONE if character == "@" else TWO))
        else:
            words += character
    return Message("user", words, pictures=tuple(found))


def test_pictures_stand_where_they_were_put() -> None:
    """At the start, in the middle, at the end, adjacent, in several messages."""
    prompt = builder(None)
    text = readable(prompt.build([user("@what $$is@"), Message("assistant", "That."), user("and $?")]))
    assert "user\n<##>what <##><##>is<##>|" in text
    assert "user\nand <##>?|" in text
    ids = prompt.build([user("a@b$c")])
    assert [one for one in ids if one < 0] == [-100, -101, -200, -201]
    assert readable(prompt.without_template([user("a@b"), user("$c")])) == "a<##>b\n\n<##>c"


def test_without_pictures_nothing_changes() -> None:
    plain = PromptBuilder(TinyTokenizer(controls=["<|im_start|>", "<|im_end|>"]), None)
    assert builder(None).build([user("hello")]) == plain.build([user("hello")])
    with pytest.raises(PictureError, match="cannot see"):
        plain.build([user("hello @")])


def test_a_template_may_move_messages_but_not_lose_or_double_a_picture() -> None:
    turned = "{% for m in messages | reverse %}{{ m.content }};{% endfor %}"
    assert readable(builder(turned).build([user("a@"), Message("assistant", "x"), user("b$")])) == "b<##>;x;a<##>;"
    twice = "{% for m in messages %}{{ m.content }} {{ m.content }}{% endfor %};"
    with pytest.raises(TemplateError, match="every picture exactly once"):
        builder(twice).build([user("a@")])
    lost = "{% for m in messages %}{{ m.content[:3] }}{{ 'Zyxwvut' if 'Zyxwvut' in m.content }}{% endfor %};"
    with pytest.raises(TemplateError):
        builder(lost).build([user("abc@def")])


def test_typed_words_are_never_a_mark() -> None:
    """Private use characters, numbers between them, control tokens beside a picture."""
    text = readable(builder(None).build([user("\ue0000\ue000 <|im_end|>@<|im_end|> \ue0010\ue001")]))
    assert text.count("<##>") == 1
    assert "<|im_end|><##><|im_end|>" in text


def test_what_cannot_be_is_told() -> None:
    with pytest.raises(PictureError, match=f"at most {MAX_PICTURES}"):
        builder(None).build([user("@" * (MAX_PICTURES + 1))])
    bare = builder(None)
    bare.ids_of_picture = lambda _: [-5, -6]
    with pytest.raises(PromptError, match="Nothing follows"):
        bare.without_template([user("a@")])


def test_the_tag_of_reasoning_behind_a_picture_is_found() -> None:
    thinking = "{% for m in messages %}{{ m.content }}{% endfor %}<think>\n"
    made = builder(thinking)
    message = user("a@")
    ids = made.build([message])

    assert made.reasoning_start_tag_of(ChatRequest((message,)), ids) == "<think>"


@pytest.mark.parametrize("path", TEMPLATES, ids=[path.stem for path in TEMPLATES])
def test_real_templates_carry_pictures(path: Path) -> None:
    made = builder(path.read_text("utf-8"))
    ids = made.build([user("look @ here"), Message("assistant", "Yes."), user("and $ there")])
    assert readable(ids).count("<##>") == 2
    assert [one for one in ids if one < 0] == [-100, -101, -200, -201]


def result(text: str) -> tuple[Message, ...]:
    """A question, a call, and its result; @ and $ are pictures."""
    call = ToolCall("abcdefghi", "look", '{"at": "it"}')
    shown = replace(user(text), role="tool", tool_call_id=call.call_id, name="look")
    return Message("user", "Look."), Message("assistant", "", tool_calls=(call,)), shown


@pytest.mark.parametrize("path", TEMPLATES, ids=[path.stem for path in TEMPLATES])
def test_real_templates_carry_pictures_of_results(path: Path) -> None:
    made = builder(path.read_text("utf-8"))
    ids = made.build([*result("see @ here$"), Message("assistant", "Yes."), user("and?")])
    assert readable(ids).count("<##>") == 2
    assert sorted(one for one in ids if one < 0) == [-201, -200, -101, -100]


def test_unwritten_pictures_of_a_result_are_shown_by_the_user() -> None:
    twice = (
        "{% for m in messages %}[{{ m.role }}:{{ m.content }}"
        "{% if m.role == 'tool' %}={{ m.content }}{% endif %}"
        "{% for c in m.tool_calls or [] %}{{ c.function.name }}{{ c.function.arguments | tojson }}{% endfor %}]"
        "{% endfor %}:"
    )
    made = builder(twice)
    text = readable(made.build(result("a@b")))
    assert "[tool:ab=ab][user:The pictures of the result: <##>]:" in text
    text = readable(made.build([*result("a@b"), user("$ why?")]))
    assert "[tool:ab=ab][user:<##><##> why?]:" in text
    once = twice.replace("={{ m.content }}", "")
    assert "[tool:a<##>b]:" in readable(builder(once).build(result("a@b")))
    with pytest.raises(TemplateError, match="every picture exactly once"):
        builder(twice.replace("m.role == 'tool'", "true")).build(result("a@b"))
