"""May this draft serve this target, and if not, which token or setting differs. Knows vocabularies only, no weights.

The rules are llama.cpp's own (common/speculative.cpp, `common_speculative_are_compatible`): same kind of vocabulary,
same BOS and EOS handling, sizes within 128 of each other, equal token texts from id 5 on.
"""

from __future__ import annotations

from engine.errors import DraftRefusedError
from engine.llama.vocab import Vocab

MAX_SIZE_DIFFERENCE = 128
FIRST_COMPARED_ID = 5  # the first ids are control tokens whose texts differ between otherwise equal files


def check_pair(target: Vocab, draft: Vocab) -> None:
    """Return if ``draft`` may propose for ``target``.

    Raises:
        DraftRefusedError: it may not; the message names the first token or setting that differs.
    """
    for difference in (_kind, _special, _size, _texts):
        reason = difference(target, draft)
        if reason:
            raise DraftRefusedError(reason)


def _kind(target: Vocab, draft: Vocab) -> str:
    if target.type_name == draft.type_name:
        return ""
    return f"The target's tokenizer is {target.type_name}, the draft's is {draft.type_name}."


def _special(target: Vocab, draft: Vocab) -> str:
    settings = (
        ("adds a BOS token", target.add_bos, draft.add_bos),
        ("adds an EOS token", target.add_eos, draft.add_eos),
    )
    for what, of_target, of_draft in settings:
        if of_target != of_draft:
            one, other = ("target", "draft") if of_target else ("draft", "target")
            return f"The {one}'s tokenizer {what}, the {other}'s does not."
    tokens = (("BOS", target.bos_id, draft.bos_id), ("EOS", target.eos_id, draft.eos_id))
    for name, of_target_id, of_draft_id in tokens:
        if of_target_id != of_draft_id:
            return f"The {name} token is {_show(of_target_id)} in the target, {_show(of_draft_id)} in the draft."
    return ""


def _size(target: Vocab, draft: Vocab) -> str:
    if abs(target.n_vocab - draft.n_vocab) <= MAX_SIZE_DIFFERENCE:
        return ""
    return (
        f"The target's vocabulary has {target.n_vocab:,} tokens, the draft's {draft.n_vocab:,}: "
        f"they may differ by at most {MAX_SIZE_DIFFERENCE}."
    )


def _texts(target: Vocab, draft: Vocab) -> str:
    for token_id in range(FIRST_COMPARED_ID, min(target.n_vocab, draft.n_vocab)):
        ours, theirs = target.token_text(token_id), draft.token_text(token_id)
        if ours != theirs:
            return f"Token {token_id} is {ours!r} in the target, {theirs!r} in the draft."
    return ""


def _show(token_id: int | None) -> str:
    return "absent" if token_id is None else str(token_id)
