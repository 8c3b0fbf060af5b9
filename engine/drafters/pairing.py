"""Checks whether a draft's vocabulary is the target's, so that its tokens can be proposed without translation.

The rules are llama.cpp's (common/speculative.cpp, `common_speculative_are_compatible`): same kind of vocabulary, same
BOS and EOS handling, sizes within 128 of each other, equal token texts from id 5 on.
"""

from engine.llama.vocab import Vocab

MAX_SIZE_DIFFERENCE = 128
FIRST_COMPARED_ID = 5  # earlier ids are control tokens whose texts differ between otherwise equal files


def is_same_vocabulary(target: Vocab, draft: Vocab) -> bool:
    facts = [(one.type_name, one.add_bos, one.add_eos, one.bos_id, one.eos_id) for one in (target, draft)]
    if facts[0] != facts[1] or abs(target.n_vocab - draft.n_vocab) > MAX_SIZE_DIFFERENCE:
        return False
    compared = range(FIRST_COMPARED_ID, min(target.n_vocab, draft.n_vocab))
    return all(target.token_text(token_id) == draft.token_text(token_id) for token_id in compared)
