"""Generated Markdown documents, and functions that cut them into chunks."""

from itertools import pairwise

from hypothesis import strategies as st

WORDS = st.text(alphabet=" abcdeXYZ019*_`~#>-+.|[]()!\\\t:/=<&é中😀", min_size=0, max_size=24)
BLOCKS = st.sampled_from(
    [
        "# Title",
        "Some **bold** text with `code` in it.",
        "two\nlines",
        "heading\n===",
        "- one\n- two\n\n  still two",
        "1. one\n2. two\n   - deep",
        "> quoted\nlazy",
        "```python\nprint(1)\n\nprint(2)\n```",
        "~~~\ntildes `` ` ``\n~~~",
        "   ```js\n   let x\n   ```",
        "```\nnever closed",
        "``` not ` a fence",
        "    indented\n\n    code",
        "| a | b |\n|---|--:|\n| 1 | 2 |",
        "a | b\n--|--",
        "---",
        "***",
        "[link](https://example.org) <https://example.org> ![image](https://example.org/x.png)",
        "[dead](javascript:alert(1)) [rel](file.md)",
        "<b>raw</b> &amp; <!-- c -->",
        "<div>\nraw block\n</div>",
        "[ref]: https://example.org",
        "~~gone~~ \\* text",
        "- ```sh\n  ls\n  ```",
        "- [x] done\n- [ ] open\n  - [X] **deep**\n- plain\n- [ ]",
        "1. [ ] `a`\n2. [x](https://example.org)\n\n   - [x] [x] b\n     > - [ ] c",
        "- a\n  - b\n\n> quoted\n> > twice",
        "- a\n  - b\n\n  > quoted\n\n  | a |\n  |---|\n  | b |",
        "> - a\n>   - [x] b\n>\n> c\n\n- > d\n- e",
        "[x] no item",
        "- [x]",
        "https://example.org/a_b*c*?d=1&amp;e",
        "(see http://example.org/(a)), **www.example.org/~b~**, wwww.c",
        "[https://example.org](https://example.org/x) `https://example.org` <https://example.org",
        "| https://example.org/a | b |\n|---|---|\n| www.c.org\\|d | https://user@e.org |",
        "这是**“重点”**内容，**该词。**后_面_",
        "| a | b |\n|---|---|\n| 一<br>二 | *c<br/>d* |",
        "one<br>two <BR /> `<br>` <brx>",
        "https",
        "://example.org.",
        "www",
    ]
)
SEPARATORS = st.sampled_from(["\n", "\n\n", "\n\n\n", "\r\n", "\n \n", ""])


@st.composite
def documents(draw: st.DrawFn) -> str:
    """A document of known blocks and random text."""
    parts: list[str] = []
    for _ in range(draw(st.integers(0, 14))):
        parts.append(draw(st.one_of(BLOCKS, WORDS)))
        parts.append(draw(SEPARATORS))
    return "".join(parts)


@st.composite
def cut_documents(draw: st.DrawFn) -> tuple[str, list[str]]:
    """A document, and its chunks."""
    text = draw(documents())
    cuts = sorted(draw(st.lists(st.integers(0, len(text)), max_size=40)))
    edges = [0, *cuts, len(text)]
    return text, [text[start:end] for start, end in pairwise(edges)]


def every_char(text: str) -> list[str]:
    """One chunk per character."""
    return list(text)
