"""Tests parsing of devices and splits: valid text is parsed, anything else is rejected with a sentence."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.core.domain.devices import device_names, parse_placement, tensor_split
from app.core.domain.settings.table import FIELD_BY_KEY, value_problem
from app.core.domain.settings.values import Settings
from engine.records import DEFAULT_PLACEMENT, Placement, SplitMode

NAMES = st.from_regex(r"(CUDA|Vulkan|MTL)[0-9]{1,2}", fullmatch=True)
READERS = (device_names, tensor_split)


@given(st.lists(NAMES, max_size=16))
def test_names_between_commas(names: list[str]) -> None:
    assert device_names(", ".join(names)) == tuple(names)
    assert device_names(",".join(names) + ",") == tuple(names)


@given(st.lists(st.integers(0, 1000) | st.floats(0.0, 100.0).map(lambda x: round(x, 3)), min_size=1, max_size=16))
def test_proportions(numbers: list[float]) -> None:
    for between in (",", "/", " , "):
        text = between.join(f"{number:.3f}".rstrip("0").rstrip(".") or "0" for number in numbers)
        assert tensor_split(text) == pytest.approx(tuple(numbers), abs=0.0006)


@given(st.text(max_size=60))
def test_any_text_is_read_or_refused_in_a_sentence(text: str) -> None:
    for read in READERS:
        try:
            read(text)
        except ValueError as error:
            sentence = str(error.args[0])
            assert sentence.endswith(".")
            assert " " in sentence


def test_too_many_devices_are_refused() -> None:
    with pytest.raises(ValueError, match="at most 16 devices"):
        device_names(",".join(f"CUDA{number}" for number in range(17)))


def test_nothing_written_is_anywhere() -> None:
    assert parse_placement() == DEFAULT_PLACEMENT
    assert DEFAULT_PLACEMENT.cache_key == ()
    whole = parse_placement("CUDA1,CUDA0", "row", "3,1", 5)
    assert whole == Placement(("CUDA1", "CUDA0"), SplitMode.ROW, (3.0, 1.0), 5)
    assert whole.cache_key != parse_placement("CUDA1,CUDA0", "row", "3,1", 4).cache_key
    assert parse_placement("none").is_processor


@pytest.mark.parametrize(
    ("key", "good", "bad"),
    [
        ("device", "CUDA0, CUDA1", "CUDA 0"),
        ("draft_device", "none", "none,none,CUDA0"),
        ("tensor_split", "3/1", "3;1"),
        ("split_mode", "row", "rows"),
    ],
)
def test_the_settings_take_what_can_be_read(key: str, good: str, bad: str) -> None:
    assert value_problem(FIELD_BY_KEY[key], good) == ""
    assert value_problem(FIELD_BY_KEY[key], bad)
    changed, complaints = Settings().changed({key: bad})
    assert len(complaints) == 1
    assert changed.text(key) == Settings().text(key)
    assert re.search(r"\.$", complaints[0])
