"""A constraint follows an answer forwards and backwards: what may come next, whatever was asked before."""

import gc

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from llguidance import LLParserLimits

from engine.errors import GrammarError
from engine.grammar import constraint
from engine.grammar.constraint import MAX_GRAMMAR_CHARS, GrammarConstraint, check_grammar
from engine.grammar.json_schema import schema_grammar
from engine.grammar.lark import HEADER
from engine.llama.model import LlamaModel
from tests.engine.grammar.walks import Walk, accepts, begin, byte_tokens, model
from tests.shared_files import shared_file

VOCAB = model().vocab
STRING = HEADER + 'start: STRING | "no"\nSTRING: "\\"" /[^"]*/ "\\""\n'
PERSON = {
    "type": "object",
    "properties": {"name": {"type": "string"}, "tags": {"type": "array", "items": {"type": "integer"}}},
    "required": ["name", "tags"],
}
PROMPT = [2, 2, 2]


def after(grammar: str, data: bytes) -> Walk:
    walk: Walk | None = begin(grammar)
    for byte in data:
        walk = None if walk is None else walk.advanced(byte_tokens()[byte])
    assert walk is not None
    return walk


@pytest.mark.parametrize("data", [b"", b'"', b'"caf', b'"caf\xc3', b'"\xf0\x9f', b"n", b"no", b'"x"'])
def test_all_allowed_tokens_are_those_allowed_singly_and_can_follow(data: bytes) -> None:
    walk, everything = after(STRING, data), np.arange(VOCAB.n_vocab)
    at_once = walk.all_allowed().tolist()
    assert at_once == everything[walk.allows(everything)].tolist()
    assert at_once == [one for one in range(VOCAB.n_vocab) if walk.allows([one])[0]]
    followed = [one for one in range(VOCAB.n_vocab) if walk.advanced(one) is not None]
    assert followed == [one for one in at_once if not VOCAB.is_eog(one)]


def test_every_spelling_of_what_must_follow_is_allowed() -> None:
    pieces = {VOCAB.piece(one) for one in begin(HEADER + 'start: "name"').all_allowed().tolist()}
    known = {VOCAB.piece(one) for one in range(VOCAB.n_vocab)}
    assert pieces == {b"name"[:count] for count in range(1, 5)} & known
    assert len(pieces) > 1


def test_the_end_may_follow_where_the_grammar_is_complete() -> None:
    ends = sorted(VOCAB.eog_ids)
    complete = after(STRING, b"no")
    assert complete.all_allowed().tolist() == ends
    assert complete.advanced(ends[0]) is None
    assert not after(STRING, b"n").allows(ends).any()
    several = after(HEADER + "start: /[0-9]+/", b"1")
    assert several.allows(ends).all()
    assert several.advanced(byte_tokens()[ord("2")]) is not None


def test_control_tokens_tokens_of_other_vocabularies_and_half_characters_are_no_text() -> None:
    inside = after(STRING, b'"')
    textless = [one for one in range(VOCAB.n_vocab) if not VOCAB.piece(one) and not VOCAB.is_eog(one)]
    assert textless
    assert not inside.allows(textless).any()
    beyond = [VOCAB.n_vocab, VOCAB.n_vocab + 40]
    assert not inside.allows(beyond).any()
    assert [inside.advanced(one) for one in (*beyond, -1)] == [None] * 3
    begun = after(STRING, b'"\xf0\x9f')
    assert begun.advanced(byte_tokens()[ord('"')]) is None
    assert begun.advanced(byte_tokens()[0x98]) is not None
    assert inside.advanced(byte_tokens()[0x98]) is None


@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 2**32 - 1), grammar=st.sampled_from([schema_grammar(PERSON).text, 'root ::= ("a" | "bc")*']))
def test_what_may_follow_is_the_same_whatever_was_asked_before(seed: int, grammar: str) -> None:
    """A random walk with proposals, of which a part is taken back; some are forbidden."""
    rng, asked = np.random.default_rng(seed), GrammarConstraint(VOCAB, grammar)
    asked.begin(len(PROMPT))
    answer = list[int]()
    for _ in range(30):
        history, pending = np.array([*PROMPT, *answer], dtype=np.int32), list[int]()
        for _ in range(rng.integers(5)):
            allowed = asked.all_allowed(history, pending)
            assert allowed is not None
            pending.append(int(rng.choice(allowed if rng.random() < 0.95 else np.arange(VOCAB.n_vocab))))
            if not asked.is_known(history, pending):
                break
        for count in rng.permutation(len(pending) + 1).tolist():
            fresh = GrammarConstraint(VOCAB, grammar)
            expected = fresh.all_allowed(np.array([*answer, *pending[:count]], dtype=np.int32), [])
            found = asked.all_allowed(history, pending[:count])
            assert (found is None) == (expected is None)
            assert found is None or found.tolist() == expected.tolist()
        kept = pending[: rng.integers(len(pending) + 1)]
        answer += kept if asked.is_known(history, kept) else []


def test_a_long_answer_keeps_few_masks() -> None:
    long = GrammarConstraint(VOCAB, HEADER + "start: /a*/")
    letter = byte_tokens()[ord("a")]
    for length in range(0, 2000, 3):
        assert long.all_allowed(np.full(length, letter, dtype=np.int32), [letter, letter]) is not None
    assert len(long._masks) < 300


def forced(grammar: str, written: str = "") -> str:
    return b"".join(VOCAB.piece(one) for one in after(grammar, written.encode()).forced_ids()).decode()


def test_what_a_grammar_leaves_no_choice_about_is_forced() -> None:
    grammar = 'root ::= "{\\"name\\": \\"" [a-z]+ "\\", \\"age\\": " [0-9]+ "}"'
    assert forced(grammar) == '{"name": "'
    assert forced(grammar, '{"name": "') == ""
    assert forced(grammar, '{"name": "ab"') == ', "age": '
    assert forced(grammar, '{"name": "ab", "age": 7}') == ""  # only the end may follow, which the pass returns
    assert forced('root ::= "a" "b"?', "a") == ""  # the end is a choice
    assert forced('root ::= "ab" | "ac"') == "a"
    assert forced('root ::= "über" [0-9]') == "über"
    assert after('root ::= "über"', b"\xc3").forced_ids() == []  # the rest of a character has no tokens of its own


@pytest.mark.parametrize("text", [HEADER, HEADER + 'start: "a', HEADER + "start: x", HEADER + "start: /(/"])
def test_what_is_no_grammar_is_an_error(text: str) -> None:
    with pytest.raises(GrammarError):
        GrammarConstraint(VOCAB, text)


def test_too_much_work_is_an_error_in_one_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(constraint, "LIMITS", LLParserLimits(step_max_items=20, verbose_errors=False))
    many = {"type": "object", "properties": {f"p{number}": {"type": "null"} for number in range(50)}}
    with pytest.raises(GrammarError, match=r"The grammar cannot be followed: [^\n]+\.$"):
        GrammarConstraint(VOCAB, schema_grammar(many).text)


def test_the_vocabulary_is_read_once_and_let_go_with_its_model() -> None:
    gc.collect()
    with LlamaModel(shared_file("vocabs/ggml-vocab-llama-spm.gguf"), vocab_only=True) as large:
        vocab, known = large.vocab, len(constraint._known)
        first = Walk(GrammarConstraint(vocab, STRING))
        read = constraint._known[vocab]
        assert first.all_allowed().tolist() == Walk(GrammarConstraint(vocab, STRING)).all_allowed().tolist()
        assert constraint._known[vocab] is read
        assert {vocab.piece(one)[:1] for one in first.all_allowed().tolist()} == {b'"', b"n"}
        del vocab, first
    del large
    gc.collect()
    assert len(constraint._known) == known


# llama.cpp's example, with a comment between nested alternatives.
JSON = r"""
root   ::= object
value  ::= object | array | string | number | ("true" | "false" | "null") ws
object ::= "{" ws (
            string ":" ws value # the first
    ("," ws string ":" ws value)*
  )? "}" ws
array  ::= "[" ws ( value ("," ws value)* )? "]" ws
string ::= "\"" (
    [^"\\\x7F\x00-\x1F] |
    "\\" (["\\bfnrt] | "u" [0-9a-fA-F]{4}) # escapes
  )* "\"" ws
number ::= ("-"? ([0-9] | [1-9] [0-9]{0,15})) ("." [0-9]+)? ([eE] [-+]? [0-9] [1-9]{0,15})? ws
ws ::= | " " | "\n" [ \t]{0,20}
"""


@pytest.mark.parametrize(
    ("grammar", "good", "bad"),
    [
        (JSON, ['{"a": [1, -2.5e+3, true], "ü\\u00e9": {}}', "{}"], ["[]", '{"a": 01}', '{"a"  : 1}', '{"\x1f": 1}']),
        ('root ::= [a-z]* "end" | [a-z]+ "."', ["end", "endend", "en.", "enend"], ["en", "end..", "."]),
        ('root ::= [^x]* "end"', ["end", "enüenend"], ["xend", "endx"]),
        ('root ::= "a"{2,3} ("bc"){2} [0-9]{1,} "x"?', ["aabcbc7", "aaabcbc77x"], ["abcbc7", "aabc7", "aabcbc"]),
        (r'root ::= "\x41\u00e9\U0001F600\"\\" [\[\]\-a\x2D] [^\]a-y]', ['Aé😀"\\]z', 'Aé😀"\\-é'], ['Aé😀"\\b.']),
        ("root ::= [-+*/]+ [a-] [ァ-ヺ] .", ["-+*/-アx", "/aヺ\n"], ["aアx", "-bアx", "-aあx"]),
        ('ro-ot ::= "q"\nroot ::= ro-ot RO-OT\nRO-OT ::= "Q"', ["qQ"], ["qq", "QQ"]),
        ('root ::= (" " | "\\n") ([ \\t] root)?', ["\n", "  \n\t "], ["", " \t"]),
        ('root ::= "a"\nroot ::= "b"', ["b"], ["a"]),
    ],
)
def test_texts_are_allowed_or_not(grammar: str, good: list[str], bad: list[str]) -> None:
    assert [text for text in good if not accepts(grammar, text)] == []
    assert [text for text in bad if accepts(grammar, text)] == []


@pytest.mark.parametrize("data", [b"", b"{", b'{"', b'{"caf\xc3', b'{"\xf0\x9f', b'{"a": 1', b"{}"])
def test_tokens_are_tested_alone_as_together(data: bytes) -> None:
    vocab = model().vocab
    single, whole = begin(JSON), begin(JSON)
    for byte in data:
        single, whole = (state.advanced(byte_tokens()[byte]) or pytest.fail("refused") for state in (single, whole))
    at_once = whole.all_allowed().tolist()
    assert [one for one in range(vocab.n_vocab) if single.allows([one])[0]] == at_once
    assert whole.allows(np.arange(vocab.n_vocab)).nonzero()[0].tolist() == at_once  # with a mask


def test_any_text_of_a_large_vocabulary_is_no_work_without_a_bound() -> None:
    with LlamaModel(shared_file("vocabs/ggml-vocab-qwen2.gguf"), vocab_only=True) as large:
        assert len(Walk(GrammarConstraint(large.vocab, 'root ::= [^x]* "end"')).all_allowed()) > 100_000


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "must have rules"),
        ("x" * (MAX_GRAMMAR_CHARS + 1), "at most"),
        ("root ::= other", "a rule that is missing"),
        ('foo ::= "a"', "no rule called root"),
        ('root ::= "a', "line 1 is no GBNF"),
        ('root ::= "a"\n"\\q"', "line 2 is no GBNF"),
        ('"a"', "line 1 is no GBNF"),
        ("root ::= " + "(" * 30_000 + '"a"' + ")" * 30_000, "line 1 is no GBNF"),
        (HEADER + 'start: "a"\n', "line 1 is no GBNF"),  # only this program writes these
        ("root ::= (", "Expected"),
        ("root ::= [z-a]", "invalid regex"),
        ('root ::= "a"{5,2}', "range end"),
    ],
)
def test_a_bad_one_is_an_error_in_one_line(text: str, words: str) -> None:
    with pytest.raises(GrammarError) as caught:
        check_grammar(text)
    assert words in caught.value.message
    assert "\n" not in caught.value.message


def test_a_grammar_without_an_end_is_refused_before_the_first_token() -> None:
    with pytest.raises(GrammarError):
        begin('root ::= root "a"')
