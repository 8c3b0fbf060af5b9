"""Tests prompts from messages: templates, fallbacks, BOS, and typed text that must stay text."""

import tracemalloc
from pathlib import Path
from time import process_time
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.errors import PromptError, TemplateError
from engine.prompt.chat_prompt import CHATML_FALLBACK, PLAIN_FALLBACK, PromptBuilder
from engine.prompt.typed_text import UserTextTokenizer
from engine.records import ChatRequest, Message
from tests.engine.tiny_tokenizer import TinyTokenizer

SHARED = Path(__file__).resolve().parents[4] / "shared"
TEMPLATES = sorted((SHARED / "templates").glob("*.jinja"))
CHATML = TinyTokenizer(controls=["<s>", "</s>", "<|im_start|>", "<|im_end|>", "|>"], bos="<s>", eos="</s>")
TALK = (Message("system", "Be brief."), Message("user", "Hello"), Message("assistant", "Hi!"))
MORE = (*TALK, Message("user", "And now?"))
ECHO = "{% for m in messages %}<|im_start|>{{ m.content }}<|im_end|>{% endfor %}"


def readable(tokenizer: TinyTokenizer, ids: list[int]) -> str:
    """The ids as text, control tokens in brackets."""
    parts = [b"[" + tokenizer.token_text(i).encode() + b"]" if i > 255 else bytes([i]) for i in ids]
    return b"".join(parts).decode("utf-8", "replace")


def test_chatml_fallback() -> None:
    builder = PromptBuilder(CHATML, None)
    assert builder.template_name == CHATML_FALLBACK
    assert builder.stop_texts == ()
    assert readable(CHATML, builder.build([Message("user", "Hello")])) == (
        "[<|im_start|>]user\nHello[<|im_end|>]\n[<|im_start|>]assistant\n"
    )


def test_plain_fallback_needs_a_stop_text() -> None:
    tokenizer = TinyTokenizer()
    builder = PromptBuilder(tokenizer, " ")
    assert builder.template_name == PLAIN_FALLBACK
    assert builder.stop_texts == ("\nUser:",)
    text = readable(tokenizer, builder.build(MORE))
    assert text == "Be brief.\n\nUser: Hello\nAssistant: Hi!\nUser: And now?\nAssistant:"


@pytest.mark.parametrize("template", [None, ECHO])
def test_a_text_is_continued_as_it_is(template: str | None) -> None:
    builder = PromptBuilder(CHATML, template)
    assert readable(CHATML, builder.without_template([Message("user", "Once upon")])) == "Once upon"
    told = builder.without_template(
        [Message("user", "Once"), Message("assistant", " there was."), Message("user", "Then")]
    )
    assert readable(CHATML, told) == "Once\n\n there was.\n\nThen"
    with pytest.raises(PromptError):
        builder.without_template([])


@given(text=st.text(max_size=30))
def test_no_typed_text_is_a_control_token_where_it_is_continued(text: str) -> None:
    ids = PromptBuilder(CHATML, None).without_template([Message("user", f"{text}<|im_end|>{text}")])
    assert all(each < 256 for each in ids)


@pytest.mark.parametrize("template", ["{{ messages[0].content }}", "{{ bos_token }}{{ messages[0].content }}"])
@pytest.mark.parametrize("add_bos", [True, False])
def test_bos_is_never_doubled_and_never_missing(template: str, add_bos: bool) -> None:
    tokenizer = TinyTokenizer(controls=["<s>"], bos="<s>", add_bos=add_bos)
    ids = PromptBuilder(tokenizer, template).build([Message("user", "Hello")])
    assert ids.count(256) == int(add_bos or "bos" in template)
    assert ids[-5:] == list(b"Hello")


def test_raw_text_is_parsed_and_gets_bos() -> None:
    tokenizer = TinyTokenizer(controls=["<s>", "<|im_end|>"], bos="<s>", add_bos=True)
    builder = PromptBuilder(tokenizer, None)
    assert builder.ids_of_raw_text("a<|im_end|>") == [256, 97, 257]
    assert builder.ids_of_raw_text("<s>a") == [256, 97]


def test_what_is_filled_in_stands_between_two_texts() -> None:
    tokenizer = TinyTokenizer(controls=["<s>", "<pre>", "<suf>", "<mid>"], bos="<s>", add_bos=True)
    tokenizer.infill_ids = (257, 258, 259)
    ids = PromptBuilder(tokenizer, None).ids_of_request(ChatRequest(raw_prompt="a<mid>", suffix="b<s>"))
    assert readable(tokenizer, ids) == "[<s>][<pre>]a<mid>[<suf>]b<s>[<mid>]"
    assert [each for each in ids if each > 255] == [256, 257, 258, 259]  # typed text contains no control tokens


def test_files_of_the_project_stand_before_a_gap() -> None:
    tokenizer = TinyTokenizer(controls=["<s>", "<pre>", "<suf>", "<mid>", "<rep>", "<file>"], bos="<s>", add_bos=True)
    tokenizer.infill_ids = (257, 258, 259)
    request = ChatRequest(raw_prompt="a", suffix="b", files=(("x.h", "int x;\n"), ("y.h", "<file>")))
    gap = "[<s>][<pre>]a[<suf>]b[<mid>]"
    between = "\n\n--- snippet ---\n\n"
    ids = PromptBuilder(tokenizer, None).ids_of_request(request)
    assert readable(tokenizer, ids) == f"{between}int x;\n{between}<file>{gap}"
    tokenizer.repo_and_file_ids = (260, 261)
    ids = PromptBuilder(tokenizer, None).ids_of_request(request)
    project = "[<rep>]myproject\n[<file>]x.h\nint x;\n[<file>]y.h\n<file>[<file>]filename\n"
    assert readable(tokenizer, ids) == project + gap


def test_a_refused_system_role_goes_into_the_first_user_message() -> None:
    refuses = "{% if messages[0].role == 'system' %}{{ raise_exception('no system') }}{% endif %}" + ECHO
    drops = "{% for m in messages if m.role != 'system' %}<|im_start|>{{ m.content }}<|im_end|>{% endfor %}"
    for template in (refuses, drops):
        ids = PromptBuilder(CHATML, template).build(MORE)
        wanted = "[<|im_start|>]Be brief.\n\nHello[<|im_end|>][<|im_start|>]Hi![<|im_end|>]"
        wanted += "[<|im_start|>]And now?[<|im_end|>]"
        assert readable(CHATML, ids) == wanted


@pytest.mark.parametrize("messages", [(), (Message("critic", "x"),)])
def test_messages_without_a_prompt(messages: tuple[Message, ...]) -> None:
    with pytest.raises(PromptError):
        PromptBuilder(CHATML, None).build(messages)


def test_what_a_template_refuses_in_every_form_is_reported() -> None:
    with pytest.raises(TemplateError, match="never at all"):
        PromptBuilder(CHATML, "{{ raise_exception('never at all') }}").build(TALK)


def test_messages_that_leave_no_private_character_are_refused() -> None:
    every = "".join(map(chr, range(0xE000, 0xF900)))
    with pytest.raises(PromptError, match="every private character"):
        PromptBuilder(CHATML, None).build([Message("user", every)])
    assert PromptBuilder(CHATML, None).build([Message("user", every[1:])])  # one is enough


def test_typed_text_cannot_complete_a_control_text_of_the_template() -> None:
    tokenizer = TinyTokenizer(controls=["<|end|>", "\x00"])
    builder = PromptBuilder(tokenizer, "<|{% for m in messages %}{{ m.content | trim }}|>{% endfor %}")
    ids = builder.build([Message("user", "  end|> \x00 <|end ")])
    assert all(i < 256 for i in ids)
    assert readable(tokenizer, ids) == "<|end|> \x00 <|end|>"


def test_sentencepiece_gets_no_space_at_a_cut() -> None:
    tokenizer = TinyTokenizer(controls=["</s>"], adds_space=True)
    ids = PromptBuilder(tokenizer, "{{ messages[0].content }}</s>").build([Message("user", "a</s>b</s></s>")])
    assert readable(tokenizer, ids) == " a</s>b</s></s>[</s>]"


FRAGMENTS = ["<", "|", ">", "|>", "<|im_end|>", "<|im_", "start|>", "s>", "</", "im_end", "\ue000", " ", "é", "\n"]


@settings(deadline=None, max_examples=60)
@given(st.lists(st.lists(st.sampled_from(FRAGMENTS), max_size=8).map("".join), min_size=1, max_size=4))
def test_no_content_yields_a_control_token(contents: list[str]) -> None:
    roles = ("user", "assistant")
    messages = [Message(roles[index % 2], content) for index, content in enumerate(contents)]
    ids = PromptBuilder(CHATML, ECHO).build(messages)
    begun = contents.pop() if len(contents) % 2 == 0 else ""  # a last answer is continued: it is not wrapped
    wanted = "".join(f"[<|im_start|>]{content}[<|im_end|>]" for content in contents) + begun
    assert readable(CHATML, ids) == wanted


def test_a_begun_answer_goes_on_where_an_answer_begins() -> None:
    builder = PromptBuilder(CHATML, None)
    ids = builder.build((*MORE, Message("assistant", "Now is <|im_end|> half past")))
    assert ids[: len(builder.build(MORE))] == builder.build(MORE)
    assert readable(CHATML, ids).endswith("[<|im_start|>]assistant\nNow is <|im_end|> half past")


@pytest.mark.skipif(not TEMPLATES, reason="the collection of public templates is not on this machine")
@pytest.mark.parametrize("path", TEMPLATES, ids=lambda path: path.stem)
def test_public_templates_render(path: Path) -> None:
    tokenizer = TinyTokenizer(controls=["<s>", "</s>"], bos="<s>", eos="</s>", add_bos=True)
    builder = PromptBuilder(tokenizer, path.read_text("utf-8"))
    for messages in (MORE, MORE[1:]):
        ids = builder.build(messages)
        text = readable(tokenizer, ids)
        assert all(message.content in text for message in messages)
        assert ids.count(tokenizer.control_id("<s>")) == 1


PARTS = (
    "{% for m in messages %}<|im_start|>{{ m['role'] }}\n{% for part in m['content'] %}"
    "{% if part['type'] == 'text' %}{{ part['text'] }}{% elif part['type'] == 'image' %}<image>{% endif %}"
    "{% endfor %}<|im_end|>\n{% endfor %}{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)
STRICT_PARTS = PARTS.replace("{% for part", "{{ m['content'][0]['text'][:0] }}{% for part")


@pytest.mark.parametrize("template", [PARTS, STRICT_PARTS])
def test_words_reach_a_template_that_wants_lists_of_parts(template: str) -> None:
    messages = [Message("system", "Be brief."), Message("user", "Where is <|im_end|> Paris?")]
    text = readable(CHATML, PromptBuilder(CHATML, template).build(messages))
    assert "system\nBe brief." in text
    assert "user\nWhere is <|im_end|> Paris?" in text
    assert text.endswith("assistant\n")


def test_a_template_that_leaves_the_words_out_is_refused() -> None:
    silent = "{% for m in messages %}<|im_start|>{{ m.role }}<|im_end|>{% endfor %}<|im_start|>assistant\n"
    builder = PromptBuilder(CHATML, silent)
    for _ in range(2):
        with pytest.raises(TemplateError, match="leaves out the text of messages"):
            builder.build([Message("user", "Where is Paris?")])


THINKS = (
    "{% for m in messages %}<|im_start|>{{ m.role }}: {{ m.content }}<|im_end|>{% endfor %}"
    "{% if add_generation_prompt %}<|im_start|>assistant: <think>\n{% endif %}"
)


def test_a_template_that_opens_reasoning_says_so() -> None:
    assert PromptBuilder(CHATML, THINKS).reasoning_start_tag() == "<think>\n"
    closed = THINKS.replace("<think>\n", "<think>\n\n</think>\n\n")
    assert PromptBuilder(CHATML, closed).reasoning_start_tag() == ""
    assert PromptBuilder(CHATML, None).reasoning_start_tag() == ""
    assert PromptBuilder(CHATML, ECHO).reasoning_start_tag() == ""


@pytest.mark.parametrize(
    ("name", "opened"),
    [
        ("Cohere2MoE", "<|START_THINKING|>"),
        ("Apriel-1.6-15b-Thinker-fixed", "Here are my reasoning steps:\n"),
        ("Kimi-K3", "<|open|>think<|sep|>"),
        ("google-gemma-4-31B-it", ""),
        ("openai-gpt-oss-120b", ""),
    ],
)
def test_public_templates_that_open_reasoning_say_so(name: str, opened: str) -> None:
    path = SHARED / "templates" / f"{name}.jinja"
    if not path.exists():
        pytest.skip("the public templates are not here")
    assert PromptBuilder(CHATML, path.read_text("utf-8")).reasoning_start_tag() == opened


def test_what_was_begun_opens_its_reasoning_only_once() -> None:
    builder = PromptBuilder(CHATML, THINKS)
    question = Message("user", "Hello")
    begun = readable(CHATML, builder.build([question, Message("assistant", "<think>\nLet me")]))
    assert begun.endswith("assistant: <think>\nLet me")
    assert begun.count("<think>") == 1
    assert readable(CHATML, builder.build([question])).endswith("assistant: <think>\n")


def test_an_opened_reasoning_tag_is_closed_before_a_begun_answer() -> None:
    builder, question = PromptBuilder(CHATML, THINKS), Message("user", "Hello")
    begun = readable(CHATML, builder.build([question, Message("assistant", "It is")]))
    assert begun.endswith("assistant: <think>\n\n</think>\n\nIt is")
    going_on = readable(CHATML, builder.build([question, Message("assistant", "Let me.</think>It is")]))
    assert going_on.endswith("assistant: <think>\nLet me.</think>It is")
    assert readable(CHATML, builder.build([question], ends_reasoning=True)).endswith("<think>\n\n</think>\n\n")
    request = ChatRequest((question,), grammar='root ::= "a"')
    assert readable(CHATML, builder.ids_of_request(request)).endswith("<think>\n\n</think>\n\n")


def test_the_tag_that_an_answer_begins_inside_is_read_from_its_prompt() -> None:
    source = THINKS.replace("<think>\n", "<think>\n{% if quiet %}\n</think>\n\n{% endif %}")
    builder, question = PromptBuilder(CHATML, source), Message("user", "Hello")

    def tag(*messages: Message, **fields: Any) -> str:  # noqa: ANN401  (of a request)
        request = ChatRequest(messages, **fields)
        return builder.reasoning_start_tag_of(request, builder.ids_of_request(request))

    assert tag(question) == "<think>\n"
    assert tag(question, template_variables=(("quiet", True),)) == ""
    assert tag(question, Message("assistant", "It is")) == ""
    assert tag(question, Message("assistant", "<think>It may be")) == "<think>"
    assert tag(question, Message("assistant", "<think>It may be</think>It is")) == ""
    assert tag(Message("user", "A tag is <think>"), continues_text=True) == ""


def test_long_and_many_control_texts_take_memory_by_their_length_only() -> None:
    long = TinyTokenizer(controls=["<" + "x" * 6000 + ">"])
    many = TinyTokenizer(controls=[f"<{number:0100}>" for number in range(4000)])
    for tokenizer in (long, many):
        tracemalloc.start()
        builder = PromptBuilder(tokenizer, ECHO)
        _, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        assert peak < 20 * sum(map(len, tokenizer.controls)) + 100_000
        content = tokenizer.controls[0][1:]
        assert builder.build([Message("user", content)])


def test_thousands_of_control_texts_cost_no_more_per_character() -> None:
    typed = UserTextTokenizer(TinyTokenizer(controls=[f"e{number:05}" for number in range(20_000)]))
    begun = process_time()
    assert typed.protect("e" * 20_000 + "e00007", "|") == "e" * 20_001 + "|00007"
    assert process_time() - begun < 2.0  # checking each of them took seven seconds


def test_the_text_of_a_prompt_is_what_the_template_gives() -> None:
    prompt = PromptBuilder(CHATML, None)
    request = ChatRequest(messages=(Message("user", "say <|im_end|> now"), Message("assistant", "Well")))
    text = prompt.text_of(request)
    assert text == "<|im_start|>user\nsay <|im_end|> now<|im_end|>\n<|im_start|>assistant\nWell"
    assert len(CHATML.tokenize(text, special=True)) < len(prompt.ids_of_request(request))  # there the words stay words
