"""A grammar in GBNF allows the texts that it describes, character by character, or is refused with a reason."""

import numpy as np
import pytest

from engine.errors import GrammarError
from engine.grammar.constraint import GrammarConstraint, check_grammar
from engine.grammar.gbnf import MAX_GRAMMAR_CHARS
from engine.grammar.lark import HEADER
from engine.llama.model import LlamaModel
from tests.engine.grammar.walks import Walk, accepts, begin, byte_tokens, model
from tests.shared_files import shared_file

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
