"""Whether a draft may serve a target: with the same vocabulary as it is, with another one by translation."""

from __future__ import annotations

from engine.drafters.pairing import check_pair
from engine.drafters.translation.roles import PromptSide, template_difference
from engine.drafters.translation.tables import Translation, translation
from engine.errors import DraftRefusedError
from engine.llama.vocab import Vocab
from engine.prompt.chat_prompt import PromptBuilder
from engine.sentences import Sentence, said


def find_translation(target: tuple[Vocab, str | None], draft: tuple[Vocab, str | None]) -> Translation | None:
    """Compare two models, each by its vocabulary and its chat template; None where none has to be translated.

    Raises:
        DraftRefusedError: the draft may not serve the target; the message names what differs.
    """
    try:
        check_pair(target[0], draft[0])
    except DraftRefusedError:
        return translation(_side(*target), _side(*draft))
    return None


def find_template_difference(target: tuple[Vocab, str | None], draft: tuple[Vocab, str | None]) -> Sentence | None:
    """Where the chat templates of two models of one vocabulary differ; None where they write the same."""
    return template_difference(_side(*target), _side(*draft))


def _side(vocab: Vocab, template: str | None) -> PromptSide:
    return PromptSide(vocab, PromptBuilder(vocab, template).build)


def speaks_words(speaks: float, *, is_listed: bool = False) -> Sentence:
    """What is told of a draft with another vocabulary; ``speaks`` as `Translation` has it.

    ``is_listed``: among others of which that it has another one is said already.
    """
    if is_listed:
        return said("Shares {percent:.0f}% of the target's tokens", percent=100.0 * speaks)
    return said("It has another vocabulary, with {percent:.0f}% of the target's tokens.", percent=100.0 * speaks)
