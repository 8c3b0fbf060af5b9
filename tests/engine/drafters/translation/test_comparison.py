"""Tests control tokens by role: texts of real chat templates between messages, in the other model's tokens."""

import itertools
import re

import numpy as np
import pytest

from engine.drafters.translation.comparison import PromptSide, compare_roles, translation
from engine.drafters.translation.sequence import TranslatedSequence
from engine.drafters.translation.spelling import ByteTokenizer
from engine.errors import DraftRefusedError
from engine.prompt.chat_prompt import PromptBuilder
from engine.records import Message
from engine.sequence import CachedSequence
from tests.engine.drafters.translation.vocabularies import PieceTokenizer
from tests.fake_model import MarkovModel
from tests.shared_files import shared_file

BYTES = [bytes([byte]) for byte in range(256)]
CHATML = (
    "{% for m in messages %}<|im_start|>{{ m.role }}\n{{ m.content }}<|im_end|>\n{% endfor %}"
    "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)
TURNS = (
    "<bos>{% for m in messages %}<turn>{{ 'model' if m.role == 'assistant' else m.role }}\n{{ m.content }}<end>"
    "{% endfor %}{% if add_generation_prompt %}<turn>model\n{% endif %}"
)
CONTROL_TEXT = re.compile(r"<\|[\w ]+\|>|<[a-z_]+>|</s>|\[/?INST\]|<｜[^<>｜]+｜>")
REAL = {
    "Qwen-Qwen2.5-7B-Instruct": "<|im_end|>",
    "meta-llama-Llama-3.2-3B-Instruct": "<|eot_id|>",
    "google-gemma-2-2b-it": "<end_of_turn>",
    "microsoft-Phi-3.5-mini-instruct": "<|end|>",
    "mistralai-Mistral-Nemo-Instruct-2407": "</s>",
    "ibm-granite-granite-3.3-2B-Instruct": "<|end_of_text|>",
    "deepseek-ai-DeepSeek-R1-Distill-Qwen-32B": "<｜end▁of▁sentence｜>",
}


def side(template: str, controls: list[str], end: str, bos: str | None = None) -> PromptSide:
    tokenizer = PieceTokenizer(BYTES, controls=controls, ends=[end], bos=bos, add_bos=bos is not None)
    return PromptSide(tokenizer, PromptBuilder(tokenizer, template).build)


def shown(tokenizer: object, ids: list[int]) -> str:
    assert isinstance(tokenizer, PieceTokenizer)
    return b"".join(tokenizer.piece(i) or tokenizer.token_text(i).encode() for i in ids).decode("utf-8", "replace")


def read_by_draft(target: PromptSide, draft: PromptSide, messages: tuple[Message, ...]) -> str:
    """The draft's reading of the target's prompt, control tokens as text."""
    found = translation(target, draft)
    n_vocab = draft.tokenizer.n_vocab
    own = CachedSequence(MarkovModel(np.zeros((n_vocab, n_vocab), dtype=np.float32), n_ctx=8192))
    sequence = TranslatedSequence(own, found)
    sequence.forward(target.build(messages))
    return shown(draft.tokenizer, own._ids[: own.num_past].tolist())


def chatml() -> PromptSide:
    return side(CHATML, ["<|im_start|>", "<|im_end|>", "<|pad|>"], "<|im_end|>")


def turns() -> PromptSide:
    return side(TURNS, ["<bos>", "<turn>", "<end>"], "<end>", "<bos>")


CONVERSATION = (
    Message("system", "Be brief."),
    Message("user", "Hello <there>"),
    Message("assistant", "Hi."),
    Message("user", "And now?"),
)


@pytest.mark.parametrize("messages", [CONVERSATION, CONVERSATION[1:2], CONVERSATION[1:]])
def test_a_draft_reads_the_conversation_as_its_own_template_has_it(messages: tuple[Message, ...]) -> None:
    one, other = chatml(), turns()
    for target, draft in ((one, other), (other, one)):
        wanted = shown(draft.tokenizer, draft.build(messages))
        assert read_by_draft(target, draft, messages).replace("<|im_end|>\n", "<|im_end|>") == wanted.replace(
            "<|im_end|>\n", "<|im_end|>"
        )


def test_control_tokens_of_the_same_text_are_the_same() -> None:
    target, draft = chatml(), side(CHATML, ["<|other|>", "<|im_end|>", "<|im_start|>"], "<|im_end|>")
    roles = compare_roles(target, draft)
    assert roles.delimiters == {}
    for text in ("<|im_start|>", "<|im_end|>"):
        ours, theirs = (one.tokenizer.tokenize(text, special=True) for one in (target, draft))
        assert roles.control_ids[ours[0]] == tuple(theirs)
    assert read_by_draft(target, draft, CONVERSATION) == shown(target.tokenizer, target.build(CONVERSATION))


def test_a_draft_without_a_template_reads_plain_words() -> None:
    tokenizer = PieceTokenizer(BYTES, controls=["</s>"], ends=["</s>"])
    plain = PromptSide(tokenizer, PromptBuilder(tokenizer, None).build)
    read = read_by_draft(turns(), plain, CONVERSATION[1:])
    assert read == "User: Hello <there>\nAssistant: Hi.\nUser: And now?\nAssistant: "


def test_an_end_that_the_draft_has_not_is_its_own() -> None:
    target, draft = chatml(), turns()
    roles = compare_roles(target, draft)
    (end,) = target.tokenizer.eog_ids
    assert roles.control_ids[end] == tuple(draft.tokenizer.eog_ids)


@pytest.mark.parametrize(
    ("template", "words"),
    [
        ("{{ messages[-1].content }}", "does not accept this conversation"),
        (
            "{% for m in messages if m.role != 'assistant' %}{{ m.content }}{% endfor %}",
            "does not accept this conversation",
        ),
        ("{{ raise_exception('Only one.') }}", "cannot be compared. The model's chat template failed: Only one."),
    ],
)
def test_a_draft_that_has_no_place_for_a_control_token_is_refused(template: str, words: str) -> None:
    with pytest.raises(DraftRefusedError) as refused:
        compare_roles(turns(), side(template, ["</s>"], "</s>"))
    assert words in refused.value.message


def test_a_target_whose_template_needs_no_control_token_takes_any_draft() -> None:
    tokenizer = PieceTokenizer(BYTES, controls=["</s>"], ends=["</s>"])
    target = PromptSide(tokenizer, PromptBuilder(tokenizer, None).build)
    assert compare_roles(target, side("{{ raise_exception('Only one.') }}", ["</s>"], "</s>")).delimiters == {}


def test_a_target_whose_template_refuses_everything_takes_any_draft() -> None:
    refusing = side("{{ raise_exception('Only one.') }}", ["<turn>", "<end>"], "<end>")
    assert compare_roles(refusing, turns()).delimiters == {}


def real_side(name: str) -> PromptSide:
    template = shared_file(f"templates/{name}.jinja").read_text("utf-8")
    controls = sorted({*CONTROL_TEXT.findall(template), REAL[name]})
    return side(template, controls, REAL[name])


def test_real_templates_are_read_as_each_others() -> None:
    sides = {name: real_side(name) for name in REAL}
    own = {name: shown(each.tokenizer, each.build(CONVERSATION[1:])) for name, each in sides.items()}
    for one, other in itertools.permutations(REAL, 2):
        wanted, read = own[other], read_by_draft(sides[one], sides[other], CONVERSATION[1:])
        # The beginning of a conversation may contain a date or the template's system prompt, and its end may open
        # reasoning; the text between is the draft's.
        parts = [text[text.index("Hello <there>") : text.index("And now?")].split() for text in (wanted, read)]
        assert parts[0] == parts[1], (one, other)


def test_spellers_know_no_control_token() -> None:
    for name in REAL:
        tokenizer = real_side(name).tokenizer
        speller = ByteTokenizer(tokenizer)
        for text in tokenizer.control_texts:
            assert all(i < 256 for i in speller.spell(text.encode()))
