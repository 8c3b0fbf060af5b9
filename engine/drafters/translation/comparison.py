"""Checks whether a draft may serve a target: directly with the same vocabulary, else by translation."""

from __future__ import annotations

from engine.drafters.pairing import check_pair
from engine.drafters.translation.roles import PromptSide, template_difference
from engine.drafters.translation.tables import Translation, translation
from engine.errors import DraftRefusedError
from engine.llama.vocab import Vocab
from engine.prompt.chat_prompt import PromptBuilder
from engine.sentences import Sentence, said


def find_translation(target: tuple[Vocab, str | None], draft: tuple[Vocab, str | None]) -> Translation | None:
    """Compare two models by vocabulary and chat template; None if no translation is needed.

    Raises:
        DraftRefusedError: the draft may not serve the target; the message names what differs.
    """
    try:
        check_pair(target[0], draft[0])
    except DraftRefusedError:
        return translation(_side(*target), _side(*draft))
    return None


def find_template_difference(target: tuple[Vocab, str | None], draft: tuple[Vocab, str | None]) -> Sentence | None:
    """Where the chat templates of two models of one vocabulary differ; None if they write the same."""
    return template_difference(_side(*target), _side(*draft))


def _side(vocab: Vocab, template: str | None) -> PromptSide:
    return PromptSide(vocab, PromptBuilder(vocab, template).build)


def coverage_words(coverage: float, *, is_listed: bool = False) -> Sentence:
    """The sentence about a draft with another vocabulary; ``coverage`` as in `Translation`.

    ``is_listed``: it is shown among other drafts with another vocabulary.
    """
    if is_listed:
        return said("Shares {percent:.0f}% of the target's tokens", percent=100.0 * coverage)
    return said("Its vocabulary differs and has {percent:.0f}% of the target's tokens.", percent=100.0 * coverage)
