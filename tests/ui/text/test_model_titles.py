"""A model is shown with its title wherever the title is known."""

from ui.text.model_titles import note_title, title_of


def test_what_was_seen_has_its_title_and_all_else_its_name() -> None:
    assert title_of("never-seen-q4_0") == "never-seen-q4_0"
    assert note_title("seen-q4_0", "Seen 1B")
    assert not note_title("seen-q4_0", "Seen 1B")
    assert title_of("seen-q4_0") == "Seen 1B"
    assert not note_title("seen-q4_0", "")
    assert title_of("seen-q4_0") == "Seen 1B"
