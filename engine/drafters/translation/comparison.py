"""Checks whether a draft can be used with a target: directly with the same vocabulary, else by translation."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from engine.drafters.pairing import is_same_vocabulary
from engine.drafters.translation.spelling import ByteTokenizer
from engine.errors import DraftRefusedError, EngineError
from engine.interfaces import Tokenizer
from engine.llama.vocab import Vocab
from engine.prompt.chat_prompt import PromptBuilder
from engine.records import Message
from engine.sentences import Sentence, i18n

_SYSTEM, _QUESTION, _ANSWER, _LATER = "Zyxwvut", "Qwrtpsd", "Kjhgfmn", "Vbcxzlk"  # no template contains them
_CONVERSATIONS = (
    (Message("user", _QUESTION),),
    (Message("user", _QUESTION), Message("assistant", _ANSWER), Message("user", _LATER)),
    (Message("system", _SYSTEM), Message("user", _QUESTION)),
)
# If the target's delimiters at two positions are equal, the first position counts: the draft's delimiter at the
# beginning of an answer may open reasoning, which the target's does not.
_POSITIONS = (
    ("", _QUESTION),
    (_QUESTION, _ANSWER),
    (_QUESTION, ""),
    (_LATER, ""),
    (_ANSWER, _LATER),
    ("", _SYSTEM),
    (_SYSTEM, _QUESTION),
)
Delimiters = dict[tuple[str, str], tuple[int, ...]]


@dataclass(frozen=True, slots=True)
class PromptSide:
    """A model's tokenizer and its function that builds prompts from messages.

    ``build`` raises `engine.errors.TemplateError` if the chat template cannot be used.
    """

    tokenizer: Tokenizer
    build: Callable[[Sequence[Message]], list[int]]


@dataclass(frozen=True, slots=True)
class Roles:
    """The draft's tokens for the target's control tokens.

    ``control_ids`` [target id]: control tokens with the same text in both, and end-of-generation tokens.
    ``delimiters``: token runs between messages, grouped by the target's first token, longest first.
    """

    control_ids: dict[int, tuple[int, ...]] = field(default_factory=dict)
    delimiters: dict[int, tuple[tuple[tuple[int, ...], tuple[int, ...]], ...]] = field(default_factory=dict)

    @property
    def longest(self) -> int:
        """Number of the target's tokens in the longest run."""
        return max((len(own) for each in self.delimiters.values() for own, _ in each), default=0)

    def match_at(self, ids: Sequence[int], index: int) -> tuple[int, tuple[int, ...]] | None:
        """Find a run at ``index`` of the target's ``ids``: its length and the draft's tokens for it."""
        for own, theirs in self.delimiters.get(ids[index], ()):
            if tuple(ids[index : index + len(own)]) == own:
                return len(own), theirs
        return None


def compare_roles(target: PromptSide, draft: PromptSide) -> Roles:
    """Find the draft's tokens for the control tokens that the target's chat template writes between messages.

    Raises:
        DraftRefusedError: the draft's template has no equivalent of one; the message names the token.
    """
    single = _control_ids_by_text(target.tokenizer, draft.tokenizer)
    ours = _delimiters(target)
    missing = {i for ids in ours.values() for i in ids if _is_control(target.tokenizer, i) and i not in single}
    if not missing:
        return Roles(single)
    try:
        theirs = _delimiters(draft, strict=True)
    except EngineError as error:
        raise _refusal(target.tokenizer, min(missing), error.message) from error
    found: dict[tuple[int, ...], tuple[int, ...]] = {}
    for position in _POSITIONS:
        # The part of a delimiter from its first control token on; empty without one.
        ids = ours.get(position, ())
        first = next((i for i, token_id in enumerate(ids) if _is_control(target.tokenizer, token_id)), len(ids))
        delimiter = ids[first:]
        if not delimiter:
            continue
        if position not in theirs:
            raise _refusal(target.tokenizer, delimiter[0], i18n("It leaves out some of the messages."))
        found.setdefault(delimiter, theirs[position])
    delimiters: dict[int, list[tuple[tuple[int, ...], tuple[int, ...]]]] = {}
    for delimiter in sorted(found, key=len, reverse=True):
        delimiters.setdefault(delimiter[0], []).append((delimiter, found[delimiter]))
    return Roles(single, {first: tuple(each) for first, each in delimiters.items()})


def _refusal(target: Tokenizer, token_id: int, reason: str) -> DraftRefusedError:
    return DraftRefusedError(
        i18n(
            "The target's chat template uses the control token {token}, which the draft does not have, and the draft's "
            "own template cannot be compared. {reason}",
            token=repr(target.token_text(token_id)),
            reason=reason,
        )
    )


def _control_ids_by_text(target: Tokenizer, draft: Tokenizer) -> dict[int, tuple[int, ...]]:
    """Map control tokens by equal text; an end-of-generation token without an equal is mapped to the draft's."""
    ours, theirs = _ids_by_text(target), _ids_by_text(draft)
    single: dict[int, tuple[int, ...]] = {i: (theirs[text],) for text, i in ours.items() if text in theirs}
    end = default_eog(draft)
    if end is not None:
        for token_id in target.eog_ids:
            single.setdefault(token_id, (end,))
    if target.add_bos and target.bos_id is not None:  # the draft's BOS token begins a conversation instead
        single[target.bos_id] = ()
    return single


def default_eog(tokenizer: Tokenizer) -> int | None:
    ends = tokenizer.eog_ids
    return tokenizer.eos_id if tokenizer.eos_id in ends else min(ends, default=None)


def _ids_by_text(tokenizer: Tokenizer) -> dict[str, int]:
    found = {}
    for text in tokenizer.control_texts:
        ids = tokenizer.tokenize(text, special=True)
        if len(ids) == 1:
            found[text] = ids[0]
    return found


def _is_control(tokenizer: Tokenizer, token_id: int) -> bool:
    return not tokenizer.piece(token_id) and not (tokenizer.add_bos and token_id == tokenizer.bos_id)


def _delimiters(side: PromptSide, *, strict: bool = False) -> Delimiters:
    """The token runs between messages in this model's prompts."""
    found: Delimiters = {}
    for messages in _CONVERSATIONS:
        try:
            ids = side.build(messages)
        except EngineError:
            if strict:
                raise
            continue
        words = [message.content for message in messages]
        edges = _run_boundaries(side.tokenizer, ids, words)
        for i, (before, after) in enumerate(zip(["", *words], [*words, ""], strict=True)):
            if edges is not None:
                begin, end = edges[2 * i], edges[2 * i + 1]
                found.setdefault((before, after), tuple(ids[begin:end]))
    return found


def _run_boundaries(tokenizer: Tokenizer, ids: Sequence[int], words: Sequence[str]) -> list[int] | None:
    """Alternating begins and ends of the token runs of ``ids`` around ``words``; None if a word is missing.

    A BOS token that the tokenizer adds is in no run.
    """
    owners: list[int] = []  # index of the token of each byte
    data = bytearray()
    for index, token_id in enumerate(ids):
        piece = tokenizer.piece(token_id)
        data += piece
        owners += [index] * len(piece)
    edges, begin = [1 if tokenizer.add_bos and ids and ids[0] == tokenizer.bos_id else 0], 0
    for word in words:
        found = data.find(word.encode(), begin)
        if found < 0:
            return None
        begin = found + len(word)
        edges += [owners[found], owners[begin - 1] + 1]
    return [*edges, len(ids)]


# Everyday text. Common tokens are weighted by their use in it, since most tokens of a vocabulary hardly ever occur.
SAMPLE_TEXT = """\
Of course! Here is how I would do it. First, read the question again and write down what is known; then look for the \
step that is missing. If the result is larger than 1,000 or smaller than 0.5, something went wrong, and it is worth \
checking the units before you go on.

1. **Collect the data.** Every measurement needs a date, a place and a value.
2. **Compare** the two groups, but don't trust a difference that you can't explain.
3. Write a short summary for people who weren't there, e.g. by e-mail on Monday, 14 October 2024.

```python
import json
from pathlib import Path


def load_items(path: str, limit: int = 10) -> list[dict[str, object]]:
    \"\"\"Read the first items of a file.\"\"\"
    items = []
    for line in Path(path).read_text(encoding="utf-8").splitlines():
        if not line.strip() or line.startswith("#"):
            continue
        items.append(json.loads(line))
        if len(items) >= limit:
            break
    return sorted(items, key=lambda item: item.get("name", ""))
```

The weather in the mountains changed quickly that afternoon, so the children stayed inside, played cards by the \
window, and listened to the old man's stories about the sea. {"name": "Anna", "age": 37, "tags": ["red", "blue"]}
"""


@dataclass(frozen=True, slots=True)
class Translation:
    """A target and a draft with another vocabulary.

    ``coverage`` is the share of the target's tokens of everyday text that are one token for the draft.
    """

    target: ByteTokenizer
    draft: ByteTokenizer
    roles: Roles
    coverage: float
    prefix_ids: tuple[int, ...]  # the draft's tokens before a conversation


def find_translation(target: tuple[Vocab, str | None], draft: tuple[Vocab, str | None]) -> Translation | None:
    """Compare two models by vocabulary and chat template; None if no translation is needed.

    Raises:
        DraftRefusedError: the draft cannot be used with the target; the message names the difference.
    """
    if is_same_vocabulary(target[0], draft[0]):
        return None
    one, other = (PromptSide(vocab, PromptBuilder(vocab, template).build) for vocab, template in (target, draft))
    return translation(one, other)


def translation(target: PromptSide, draft: PromptSide) -> Translation:
    """Compare the vocabularies; takes about a second for vocabularies of 150,000 tokens.

    Raises:
        DraftRefusedError: the draft's chat template lacks an equivalent of a control token.
    """
    roles = compare_roles(target, draft)
    ours, theirs = ByteTokenizer(target.tokenizer), ByteTokenizer(draft.tokenizer)
    ids = ours.spell(SAMPLE_TEXT.encode())
    coverage = sum(theirs.id_of(ours.pieces[i]) is not None for i in ids) / len(ids) if ids else 0.0
    begin = (draft.tokenizer.bos_id,) if draft.tokenizer.add_bos and draft.tokenizer.bos_id is not None else ()
    return Translation(ours, theirs, roles, coverage, begin)


def vocabulary_sentence(coverage: float) -> Sentence:
    """A sentence about a draft with another vocabulary; ``coverage`` as in `Translation`."""
    return i18n("Its vocabulary differs and has {percent:.0f}% of the target's tokens.", percent=100.0 * coverage)
