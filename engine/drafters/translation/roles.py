"""Translates the control tokens that one model's chat template writes between messages to another model's tokens.

Both templates render the same small conversations, which gives the text of both before, between and after messages.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from engine.errors import DraftRefusedError, EngineError
from engine.interfaces import Tokenizer
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
_DELIMITER_POSITIONS = {
    ("", _QUESTION): i18n("a question"),
    (_QUESTION, _ANSWER): i18n("an answer"),
    (_QUESTION, ""): i18n("the beginning of an answer"),
    (_LATER, ""): i18n("the beginning of an answer"),
    (_ANSWER, _LATER): i18n("the end of an answer"),
    ("", _SYSTEM): i18n("a system prompt"),
    (_SYSTEM, _QUESTION): i18n("the end of a system prompt"),
}
_MAX_SHOWN_CHARS = 80  # characters of a template in an error
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
        DraftRefusedError: the draft's template has no equivalent of one; the message names the token and its position.
    """
    single = _control_ids_by_text(target.tokenizer, draft.tokenizer)
    ours = _delimiters(target)
    missing = {i for ids in ours.values() for i in ids if _is_control(target.tokenizer, i) and i not in single}
    if not missing:
        return Roles(single)
    try:
        theirs = _delimiters(draft, strict=True)
    except EngineError as error:
        raise DraftRefusedError(
            i18n(
                "The target's chat template uses the control token {token}, which the draft does not have, and the "
                "draft's own template cannot be compared. {reason}",
                token=_token_name(target.tokenizer, min(missing)),
                reason=error.message,
            )
        ) from error
    found: dict[tuple[int, ...], tuple[int, ...]] = {}
    for joint, words in _DELIMITER_POSITIONS.items():
        # The part of a delimiter from its first control token on; empty without one.
        ids = ours.get(joint, ())
        first = next((i for i, token_id in enumerate(ids) if _is_control(target.tokenizer, token_id)), len(ids))
        delimiter = ids[first:]
        if not delimiter:
            continue
        if joint not in theirs:
            raise DraftRefusedError(_missing_delimiter(target.tokenizer, delimiter, words))
        found.setdefault(delimiter, theirs[joint])
    delimiters: dict[int, list[tuple[tuple[int, ...], tuple[int, ...]]]] = {}
    for delimiter in sorted(found, key=len, reverse=True):
        delimiters.setdefault(delimiter[0], []).append((delimiter, found[delimiter]))
    return Roles(single, {first: tuple(each) for first, each in delimiters.items()})


def template_difference(target: PromptSide, draft: PromptSide) -> Sentence | None:
    """The first difference of the chat templates of two models with the same vocabulary; None if there is none.

    Both models read the target's template, so a difference means that the draft reads an unfamiliar format.
    """
    ours, theirs = _delimiters(target), _delimiters(draft)
    for joint, words in _DELIMITER_POSITIONS.items():
        one, other = ours.get(joint), theirs.get(joint)
        if one is not None and one != other:
            return i18n(
                "Both models read the target's chat template. At {place} it writes {ours}, but the draft's own "
                "template writes {theirs}.",
                place=words,
                ours=_text_of(target.tokenizer, one),
                theirs=_text_of(draft.tokenizer, other or ()),
            )
    return None


def _text_of(tokenizer: Tokenizer, ids: Sequence[int]) -> str:
    data = b"".join(tokenizer.piece(i) or tokenizer.token_text(i).encode() for i in ids)
    text = data.decode("utf-8", "replace")
    return repr(text if len(text) <= _MAX_SHOWN_CHARS else f"{text[:_MAX_SHOWN_CHARS]}...")


def _missing_delimiter(tokenizer: Tokenizer, delimiter: Sequence[int], words: Sentence) -> Sentence:
    return i18n(
        "At {place}, the target's chat template writes the control token {token}. The draft's template leaves out "
        "these messages.",
        token=_token_name(tokenizer, delimiter[0]),
        place=words,
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


def _token_name(tokenizer: Tokenizer, token_id: int) -> str:
    return repr(tokenizer.token_text(token_id))


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
