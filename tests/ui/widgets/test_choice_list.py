"""Rows of a choice list are as high as their text at any width."""

from itertools import pairwise

from pytestqt.qtbot import QtBot

from ui.theme.theme import Theme
from ui.widgets.choice_list import Choice, ChoiceList


def test_wrapped_rows_lie_below_each_other_at_every_width(theme: Theme, qtbot: QtBot) -> None:
    shown = ChoiceList(theme, "Models")
    qtbot.addWidget(shown)
    shown.resize(330, 200)
    # Each text is a letter longer: some fit only until the scroll bar appears.
    rows = [Choice(str(n), f"Model {n}", ("x" * (n + 1) + " xxxxx", "fast"), wraps=True) for n in range(60)]
    shown.show()
    qtbot.waitExposed(shown)
    shown.set_rows(rows)

    def are_apart() -> bool:
        boxes = [shown.visualRect(shown.rows.index(line, 0)) for line in range(len(rows))]
        return all(below.top() == above.bottom() + 1 for above, below in pairwise(boxes))

    qtbot.waitUntil(lambda: shown.verticalScrollBar().maximum() > 0 and are_apart())
    for width in (270, 600):
        shown.resize(width, 200)
        qtbot.waitUntil(are_apart)
