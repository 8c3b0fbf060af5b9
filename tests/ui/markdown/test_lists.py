"""Tests check marks of tasks, lists split by kind of item, and the list depth of blocks."""

import pytest

from ui.markdown.blocks import Block, BlockStream
from ui.markdown.lists import DONE_BOX, OPEN_BOX


def blocks(text: str) -> list[Block]:
    stream = BlockStream()
    return stream.feed(text) + stream.finish()


def html(text: str) -> str:
    return "".join(block.html for block in blocks(text))


def shown(text: str) -> str:
    return "".join(block.source_map.text for block in blocks(text))


def test_tasks_have_check_marks() -> None:
    assert shown("- [x] done\n- [ ] open\n- [X] **both**") == f"{DONE_BOX} done{OPEN_BOX} open{DONE_BOX} both"


def test_a_check_mark_stands_where_its_letter_stands() -> None:
    text = "- [x] done\n- [ ] open"
    (block,) = blocks(text)
    found = [
        text[place]
        for place, char in zip(block.source_map.positions, block.source_map.text, strict=True)
        if char in DONE_BOX + OPEN_BOX
    ]
    assert found == ["x", " "]
    words = [
        text[place]
        for char, place in zip(block.source_map.text, block.source_map.positions, strict=True)
        if char.isalpha()
    ]
    assert "".join(words) == "doneopen"


@pytest.mark.parametrize(
    "text",
    [
        "[x] no item",
        "- [x]",
        "- [ ]",
        "- [x]done",
        "- [] a",
        "- [y] a",
        "- [x](https://a.org) b",
        "- a [x] b",
        "- \\[x] a",
    ],
)
def test_what_is_no_task_has_none(text: str) -> None:
    assert not set(DONE_BOX + OPEN_BOX) & set(shown(text))
    assert "task" not in html(text)


def test_tasks_have_no_bullets_and_others_beside_them_do() -> None:
    found = html("- [x] a\n- b\n- [ ] c\n- [ ] d")
    classes = [line for line in found.split("\n") if line.startswith("<ul")]
    assert classes == ['<ul class="tasks part">', '<ul class="part">', '<ul class="tasks">']
    assert found.count("<ul") == found.count("</ul>")


def test_a_numbered_task_keeps_its_number() -> None:
    assert html("1. [x] a") == f"<ol>\n<li>{DONE_BOX} a</li>\n</ol>\n"


def test_a_task_keeps_its_check_mark_when_its_list_becomes_loose() -> None:
    assert html("- [x] a\n\n- [ ] b").count('<p class="task">') == 2


def test_a_list_that_ends_all_lists_ends_them_with_their_margin() -> None:
    assert html("- a\n  - b\n    - c").count('<ul class="last">') == 2
    assert "last" not in html("- a\n  - b\n- c")


def test_an_item_stays_close_to_the_list_in_it() -> None:
    assert html("- a\n  - b").count('<p class="tight">') == 1


def test_blocks_in_lists_know_how_deep_they_stand() -> None:
    found = html("- a\n  > b\n  - c\n    ```\n    d\n    ```\n  - > e\n    > - ~~~\n\n> f\n>\n> > g")
    assert [part.split('"')[0] for part in found.split('<table class="')[1:]] == [
        "quote in1",
        "code in2",
        "quote in2 first",
        "code in1 first",
        "quote",
        "quote",
    ]
    assert '"quote first"' in html("> > a")
