"""Checks whether a draft can be used with a target: directly with the same vocabulary, else by translation."""

from dataclasses import dataclass

from engine.drafters.pairing import is_same_vocabulary
from engine.drafters.translation.roles import PromptSide, Roles, compare_roles
from engine.drafters.translation.spelling import ByteTokenizer
from engine.llama.vocab import Vocab
from engine.prompt.chat_prompt import PromptBuilder
from engine.sentences import Sentence, i18n

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


def vocabulary_sentence(coverage: float, *, is_listed: bool = False) -> Sentence:
    """A sentence about a draft with another vocabulary; ``coverage`` as in `Translation`.

    ``is_listed``: the sentence is shown in a list of such drafts.
    """
    if is_listed:
        return i18n("Shares {percent:.0f}% of the target's tokens", percent=100.0 * coverage)
    return i18n("Its vocabulary differs and has {percent:.0f}% of the target's tokens.", percent=100.0 * coverage)
