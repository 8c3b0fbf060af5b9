"""Long chats for measurements: a history in mixed Markdown, and answers of a single kind of block, of a given length.

A token has four characters, and its source varies as in a real answer.
"""

from PySide6.QtWidgets import QWidget

from app.core.domain.messages import MessageView
from engine.records import Source, TokenSpan

CHARS_A_TOKEN = 4
_SOURCES = (Source.DRAFT, Source.DRAFT, Source.RECOVERED, Source.NGRAM, Source.DRAFT, Source.BONUS, Source.TARGET)
MIXED = """## Part {n}

Some **prose** with `code` and a [link](https://example.org), long enough to wrap over more than one line of the page.

- a first point
- a second point with *emphasis*

```python
def part_{n}(words: list[str]) -> list[str]:
    # Longest first, then by the alphabet
    return sorted(words, key=lambda word: (-len(word), word))
```

| word | length |
|---|--:|
| apple | {n} |

"""
QUOTED = """> Quoted in part {n}, with **weight**, and long enough to go on in a second line of the page at its width.

1. First of all, look at what is there
2. Then change one thing
   - and only one
3. Look again

A paragraph of some length, because answers mostly are paragraphs of some length: they explain, they weigh, they come
back to what was said before, and now and then they *stress* a word or name a `function` in passing. There is nothing
in it that a reader would stop at, and this is how it should be.

"""
PARAGRAPHS = """Paragraph {n} is of the usual length: four or five sentences that explain one thing, weigh it against
another, and come back to what was asked. Now and then a **word** is stressed, or a `name` is given as it is typed.
Nothing in it is unusual, and that is the point: most of what a model writes looks like this, and so it has to be quick.

"""
KINDS = {
    "mixed": MIXED,
    "paragraphs": PARAGRAPHS,
    "prose": "Words follow words in *one* paragraph without any `end`, and so the open part grows all the time. ",
    "list": "- point {n} of a **long** list, with `code`\n",
    "table": "| row {n} | of a **long** table | {n} |\n",
    "code": "value_{n} = compute(value_{n}, key={n})  # once more\n",
}
_OPENINGS = {"table": "| name | words | count |\n|---|---|--:|\n", "code": "```python\n"}


def spans_of(text: str) -> tuple[TokenSpan, ...]:
    """The tokens of a text; the last may be shorter than the others."""
    whole, rest = divmod(len(text), CHARS_A_TOKEN)
    sizes = [CHARS_A_TOKEN] * whole + ([rest] if rest else [])
    return tuple(TokenSpan(size, _SOURCES[number % len(_SOURCES)]) for number, size in enumerate(sizes))


def answer_of(kind: str, num_tokens: int) -> str:
    """An answer of one kind of block, cut at exactly ``num_tokens``."""
    num_chars, parts, length = num_tokens * CHARS_A_TOKEN, [_OPENINGS.get(kind, "")], len(_OPENINGS.get(kind, ""))
    while length < num_chars:
        parts.append(KINDS[kind].format(n=len(parts)))
        length += len(parts[-1])
    return "".join(parts)[:num_chars]


def history_of(num_tokens: int) -> list[MessageView]:
    """Alternating questions and answers, some with reasoning; at least ``num_tokens`` in total."""
    views: list[MessageView] = []
    num_chars = 0
    while num_chars < num_tokens * CHARS_A_TOKEN:
        number = len(views)
        if number % 2 == 0:
            text = f"Question {number}: go on, please, and say a little more about it."
        else:
            body = "".join((MIXED if part % 2 else QUOTED).format(n=part) for part in range(number, number + 6))
            thought = "<think>\nFirst the *plan*.\n\nThen the words.\n</think>\n\n" if number % 4 == 1 else ""
            text = thought + body
        role = "assistant" if number % 2 else "user"
        views.append(MessageView(number, role, text, spans=spans_of(text) if number % 2 else ()))
        num_chars += len(text)
    return views


def wanted_height(page: QWidget) -> int:
    """The height that a page's layout needs at its width."""
    layout = page.layout()
    if layout is not None and layout.hasHeightForWidth():
        return page.heightForWidth(page.width())
    return page.sizeHint().height()
