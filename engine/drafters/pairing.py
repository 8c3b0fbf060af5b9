"""Checks whether the vocabularies of a draft and a target match; errors name the token or setting that differs.

The rules are llama.cpp's (common/speculative.cpp, `common_speculative_are_compatible`): same kind of vocabulary, same
BOS and EOS handling, sizes within 128 of each other, equal token texts from id 5 on.
"""

from engine.errors import DraftRefusedError
from engine.llama.vocab import Vocab
from engine.sentences import i18n

MAX_SIZE_DIFFERENCE = 128
FIRST_COMPARED_ID = 5  # earlier ids are control tokens whose texts differ between otherwise equal files


def check_pair(target: Vocab, draft: Vocab) -> None:
    """Raise `DraftRefusedError`, which names the first difference, if ``draft`` may not propose for ``target``."""
    for difference in (_compare_types, _compare_special_tokens, _compare_sizes, _compare_texts):
        reason = difference(target, draft)
        if reason:
            raise DraftRefusedError(reason)


def _compare_types(target: Vocab, draft: Vocab) -> str:
    if target.type_name == draft.type_name:
        return ""
    return i18n(
        "The target's tokenizer is {target}, the draft's is {draft}.", target=target.type_name, draft=draft.type_name
    )


def _compare_special_tokens(target: Vocab, draft: Vocab) -> str:
    settings = (("BOS", target.add_bos, draft.add_bos), ("EOS", target.add_eos, draft.add_eos))
    for name, of_target, of_draft in settings:
        if of_target and not of_draft:
            return i18n("The target's tokenizer adds the {name} token, the draft's does not.", name=name)
        if of_draft and not of_target:
            return i18n("The draft's tokenizer adds the {name} token, the target's does not.", name=name)
    tokens = (("BOS", target.bos_id, draft.bos_id), ("EOS", target.eos_id, draft.eos_id))
    for name, of_target_id, of_draft_id in tokens:
        if of_target_id != of_draft_id:
            return i18n(
                "The {name} token is {of_target} in the target, {of_draft} in the draft.",
                name=name,
                of_target=_token_id_text(of_target_id),
                of_draft=_token_id_text(of_draft_id),
            )
    return ""


def _compare_sizes(target: Vocab, draft: Vocab) -> str:
    if abs(target.n_vocab - draft.n_vocab) <= MAX_SIZE_DIFFERENCE:
        return ""
    return i18n(
        "The target's vocabulary has {of_target:,} tokens, the draft's {of_draft:,}: "
        "they may differ by at most {difference}.",
        of_target=target.n_vocab,
        of_draft=draft.n_vocab,
        difference=MAX_SIZE_DIFFERENCE,
    )


def _compare_texts(target: Vocab, draft: Vocab) -> str:
    for token_id in range(FIRST_COMPARED_ID, min(target.n_vocab, draft.n_vocab)):
        ours, theirs = target.token_text(token_id), draft.token_text(token_id)
        if ours != theirs:
            return i18n(
                "Token {token_id} is {ours!r} in the target, {theirs!r} in the draft.",
                token_id=token_id,
                ours=ours,
                theirs=theirs,
            )
    return ""


def _token_id_text(token_id: int | None) -> str:
    return i18n("absent") if token_id is None else str(token_id)
