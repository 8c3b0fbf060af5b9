"""Checks whether a draft can be used with a target: directly with the same vocabulary, else by translation."""

from engine.drafters.pairing import check_pair
from engine.drafters.translation.roles import PromptSide, template_difference
from engine.drafters.translation.tables import Translation, translation
from engine.errors import DraftRefusedError
from engine.llama.vocab import Vocab
from engine.prompt.chat_prompt import PromptBuilder
from engine.sentences import Sentence, i18n


def find_translation(target: tuple[Vocab, str | None], draft: tuple[Vocab, str | None]) -> Translation | None:
    """Compare two models by vocabulary and chat template; None if no translation is needed.

    Raises:
        DraftRefusedError: the draft cannot be used with the target; the message names the difference.
    """
    try:
        check_pair(target[0], draft[0])
    except DraftRefusedError:
        return translation(_prompt_side(*target), _prompt_side(*draft))
    return None


def find_template_difference(target: tuple[Vocab, str | None], draft: tuple[Vocab, str | None]) -> Sentence | None:
    """Describe the first difference of the chat templates of two models with one vocabulary; None if equal."""
    return template_difference(_prompt_side(*target), _prompt_side(*draft))


def _prompt_side(vocab: Vocab, template: str | None) -> PromptSide:
    return PromptSide(vocab, PromptBuilder(vocab, template).build)


def vocabulary_sentence(coverage: float, *, is_listed: bool = False) -> Sentence:
    """A sentence about a draft with another vocabulary; ``coverage`` as in `Translation`.

    ``is_listed``: the sentence is shown in a list of such drafts.
    """
    if is_listed:
        return i18n("Shares {percent:.0f}% of the target's tokens", percent=100.0 * coverage)
    return i18n("Its vocabulary differs and has {percent:.0f}% of the target's tokens.", percent=100.0 * coverage)
