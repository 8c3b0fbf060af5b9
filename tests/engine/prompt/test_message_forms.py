"""Every word of a conversation reaches the prompt, whatever its form and whatever the template supports."""

import random
from pathlib import Path

import pytest

from engine.errors import TemplateError
from engine.prompt import message_forms
from engine.prompt.chat_prompt import PromptBuilder
from engine.prompt.message_forms import MAX_TRIALS, MessageForms, TemplateInput
from engine.records import Message, ToolCall
from engine.sandbox.template import TemplateRefusedError
from tests.engine.prompt.test_chat_prompt import CHATML, TEMPLATES, readable
from tests.engine.tiny_tokenizer import TinyTokenizer
from tests.long_form import rounds

CLOCK: dict[str, object] = {
    "type": "function",
    "function": {"name": "clock", "description": "Tells Wtime", "parameters": {"type": "object", "properties": {}}},
}

BARE: dict[str, object] = {
    "type": "function",
    "function": {"name": "clock", "parameters": {"type": "object", "properties": {}}},
}


def user(text: str) -> Message:
    return Message("user", text)


def said(text: str) -> Message:
    return Message("assistant", text)


def system(text: str) -> Message:
    return Message("system", text)


def called(text: str = "", *calls: tuple[str, str]) -> Message:
    return Message("assistant", text, tool_calls=tuple(ToolCall(id_, "clock", given) for id_, given in calls))


def result(text: str, call_id: str = "call00001") -> Message:
    return Message("tool", text, tool_call_id=call_id, name="clock")


def built(template: str, *messages: Message) -> str:
    return readable(CHATML, PromptBuilder(CHATML, template).build(messages))


ONE_SYSTEM = (
    "{% if messages[0].role == 'system' %}S:{{ messages[0].content }};{% set messages = messages[1:] %}{% endif %}"
    "{% for m in messages if m.role != 'system' %}{{ m.role[0] }}:{{ m.content }};{% endfor %}"
)
USER_FIRST = (
    "{% for m in messages %}{% if (m.role == 'user') != (loop.index0 % 2 == 0) %}"
    "{{ raise_exception('roles must alternate') }}{% endif %}{{ m.role[0] }}:{{ m.content }};{% endfor %}"
)
SILENT_CALLS = (
    "{% for m in messages %}{% if m.tool_calls %}{% if m.tool_calls | length > 1 %}{{ raise_exception('one call') }}"
    "{% endif %}c:{{ m.tool_calls[0].function.name }}{{ m.tool_calls[0].function.arguments | items | list }};"
    "{% else %}{{ m.role[0] }}:{{ m.content }};{% endif %}{% endfor %}"
)


def test_what_a_template_takes_is_left_as_it_is() -> None:
    text = "{% for m in messages %}{{ m.role[0] }}:{{ m.content }};{% endfor %}"
    assert built(text, system("a"), user("b"), system("c"), user("d")) == "s:a;u:b;s:c;u:d;"


def test_systems_that_would_be_left_out_are_one_in_front() -> None:
    assert built(ONE_SYSTEM, system("a"), system("b"), user("c")) == "S:a\n\nb;u:c;"
    assert built(ONE_SYSTEM, user("a"), said("b"), system("c"), user("d")) == "S:c;u:a;a:b;u:d;"


def test_a_greeting_answers_a_user_who_said_nothing() -> None:
    assert built(USER_FIRST, said("Hello"), user("b")) == "u:;a:Hello;u:b;"


def test_neighbours_of_one_role_are_one_message() -> None:
    assert built(USER_FIRST, user("a"), user("b"), said("c"), said("d"), user("e")) == "u:a\n\nb;a:c\n\nd;u:e;"


def test_words_beside_a_call_and_calls_in_one_message_stand_apart() -> None:
    both = called("Let me see.", ("1", '{"a": 1}'), ("2", '{"b": 2}'))
    text = built(SILENT_CALLS, user("q"), both, result("one", "1"), result("two", "2"))
    assert text == "u:q;a:Let me see.;c:clock[('a', 1)];t:one;c:clock[('b', 2)];t:two;"


def test_invalid_arguments_reach_a_template_that_takes_objects_only() -> None:
    assert built(SILENT_CALLS, user("q"), called("", ("1", '{"a": "cut')), result("one", "1")) == (
        "u:q;c:clock[('arguments', '{\"a\": \"cut')];t:one;"
    )


def test_calls_are_words_where_a_template_knows_none() -> None:
    text = built(USER_FIRST, user("q"), called("So:", ("1", '{"a": 1}')), result("one", "1"))
    assert text == 'u:q;a:So:\n{"name": "clock", "arguments": {"a": 1}};u:Result of clock:\none;'


def test_ids_are_short_where_a_template_demands_it() -> None:
    nine = (
        "{% for m in messages %}{% for c in m.tool_calls or [] %}{% if c.id | length != 9 %}"
        "{{ raise_exception('nine letters') }}{% endif %}{{ c.id + c.function.name }} {{ c.function.arguments }};"
        "{% endfor %}{{ m.tool_call_id }}{{ m.content }};{% endfor %}"
    )
    text = built(nine, user("q"), called("", ("toolu_1234", '{"a": "b"}')), result("one", "toolu_1234"))
    first, second = text.removeprefix("q;").split("clock {'a': 'b'};;")
    assert (len(first), second) == (9, f"{first}one;")


def test_tools_are_described_where_a_template_cannot_do_without() -> None:
    picky = (
        "{% for t in tools %}{{ t.function.description + t.function.name }}"
        "{% for name, one in t.function.parameters.properties.items() %}"
        "{{ ' ' + name + ':' + one.type + one.description }}{% endfor %}{% endfor %};{{ messages[0].content }}"
    )
    properties = {"a": {"anyOf": [{"type": "null"}, {"type": "integer"}]}, "b": {"type": ["null", "array"]}, "c": True}
    tool = {"type": "function", "function": {"name": "f", "parameters": {"type": "object", "properties": properties}}}
    builder = PromptBuilder(CHATML, picky)
    assert readable(CHATML, builder.build([user("q")], [tool])) == "f a:integer b:array c:string;q"


def test_a_conversation_that_no_form_carries_is_refused() -> None:
    no_answers = "{% for m in messages if m.role == 'user' %}{{ m.content }};{% endfor %}"
    refuses = "{% for m in messages %}{% if m.role == 'assistant' %}{{ raise_exception('no answers') }}{% endif %}x"
    refuses += "{{ m.content }};{% endfor %}"
    for template, words in ((no_answers, r"this conversation\."), (refuses, r"this conversation \(.*no answers\)\.")):
        with pytest.raises(TemplateError, match=words):
            built(template, user("a"), said("b"), user("c"))


def test_a_longer_chat_of_the_same_kind_is_not_tried_again() -> None:
    tried = list[TemplateInput]()

    def render(form: TemplateInput) -> str:
        tried.append(form)
        if sum(message.role == "system" for message in form.messages) > 1:
            raise TemplateRefusedError("one system message")
        return " ".join(message.content for message in form.messages)

    forms = MessageForms()
    for turns in range(3, 40):
        talk = [one for number in range(turns) for one in (user(f"q{number}"), said(f"a{number}"))]
        text = forms.rendered(TemplateInput((system("a"), system("b"), *talk, user("last"))), render)
        assert text.startswith("a\n\nb q0 a0 ")
        assert text.endswith(f"a{turns - 1} last")
    assert len(tried) < 37 + 10  # each once, in addition to the initial tries


def test_what_refuses_everything_is_asked_a_bounded_number_of_times() -> None:
    tried = list[TemplateInput]()

    def render(form: TemplateInput) -> str:
        tried.append(form)
        raise TemplateRefusedError("never")

    many = (said("a"), system("b"), called("c", ("1", "{}"), ("2", "x")), result("d", "1"), result("e", "2"), user("f"))
    with pytest.raises(TemplateRefusedError, match="never"):
        MessageForms().rendered(TemplateInput(many), render)
    assert len(tried) < 2 * MAX_TRIALS


def test_a_template_that_is_slow_is_not_tried_for_ever(monkeypatch: pytest.MonkeyPatch) -> None:
    tried = list[TemplateInput]()
    clock = iter(range(0, 10_000, 4))

    def render(form: TemplateInput) -> str:
        tried.append(form)
        raise TemplateRefusedError("never")

    monkeypatch.setattr(message_forms.time, "monotonic", lambda: next(clock))
    many = (said("a"), system("b"), called("c", ("1", "{}"), ("2", "x")), result("d", "1"), user("f"))
    with pytest.raises(TemplateRefusedError, match="never"):
        MessageForms().rendered(TemplateInput(many), render)
    assert len(tried) < 10


def random_conversation(draw: random.Random) -> list[Message]:
    """Random roles, texts, calls and empty messages as from clients; the last message is to be answered."""
    words = (f"W{number}w" for number in range(100))
    messages = list[Message]()
    for _ in range(draw.randint(0, 7)):
        kind = draw.choice(["system", "user", "assistant", "call", "calls", "silent"])
        text = next(words) if draw.random() < 0.8 else draw.choice(["", " ", "\n"])
        if kind in ("call", "calls"):
            calls = []
            for number in range(1 + (kind == "calls")):
                word = next(words)
                given = draw.choice(
                    [f'{{"{word}": "Röm"}}', f'["{word}"]', f'{{"a": "{word}', "{}", f'{{"a": {{"{word}": 1}}}}']
                )
                prefix = draw.choice(["call", "toolu_"])
                calls.append((f"{prefix}{len(messages):04}{number}", given))
            messages.append(called(text, *calls))
            messages += [result(f'{next(words)} Rö\n"x" {{}}', call_id) for call_id, _ in calls[: draw.randint(0, 2)]]
        else:
            messages.append(Message("assistant" if kind == "silent" else kind, "" if kind == "silent" else text))
    return [*messages, user(next(words))]


def words_of(messages: list[Message]) -> list[str]:
    texts = [text for m in messages for text in (m.content, *(call.arguments for call in m.tool_calls))]
    return [word.strip('"[]{}:,') for text in texts for word in text.split() if "W" in word]


@pytest.mark.skipif(not TEMPLATES, reason="the collection of public templates is not on this machine")
@pytest.mark.parametrize("path", TEMPLATES, ids=lambda path: path.stem)
def test_no_word_of_any_conversation_is_lost_in_a_public_template(path: Path) -> None:
    tokenizer = TinyTokenizer(controls=["<s>", "</s>"], bos="<s>", eos="</s>")
    builder = PromptBuilder(tokenizer, path.read_text("utf-8"))
    draw = random.Random(path.stem)  # noqa: S311  (a test of many shapes)
    for _ in range(rounds(8, 100)):
        messages = random_conversation(draw)
        tools = [draw.choice([CLOCK, BARE])] if builder.tool_format and draw.random() < 0.5 else []
        text = readable(tokenizer, builder.build(messages, tools))
        lost = [word for word in [*words_of(messages), *(["Wtime"] if tools == [CLOCK] else [])] if word not in text]
        assert not lost, (lost, messages, text)
