"""Tests the settings file: round trips, unknown keys kept, invalid values reported, a broken file set aside."""

import tomllib
from pathlib import Path

import pytest
import tomli_w
from hypothesis import given
from hypothesis import strategies as st

from app.core.domain.errors import SettingsWriteError
from app.core.domain.settings.fields import FieldKind, SettingField, SettingValue
from app.core.domain.settings.table import DEFAULTS, FIELDS, value_problem
from app.core.domain.settings.values import Settings
from app.core.storage.settings_file import read_settings, section_name, write_settings
from engine.records import SamplingParams

TEXT = st.text(st.characters(exclude_categories=("Cs",)), max_size=60)


def valid_values(field: SettingField) -> st.SearchStrategy[SettingValue]:
    automatic = st.none() if field.default is None else st.nothing()
    if field.kind is FieldKind.INTEGER:
        assert field.minimum is not None
        assert field.maximum is not None
        return automatic | st.integers(int(field.minimum), int(field.maximum))
    if field.kind is FieldKind.NUMBER:
        return automatic | st.floats(field.minimum, field.maximum)
    if field.choices:
        return st.sampled_from([value for value, _ in field.choices])
    if field.kind is FieldKind.SWITCH:
        return st.booleans()
    if field.check is not None:
        return st.sampled_from([line for line in ("", field.example) if not value_problem(field, line)])
    return TEXT


GOOD = st.fixed_dictionaries({field.key: valid_values(field) for field in FIELDS})
ANYTHING = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20) | st.lists(st.integers())
TOML_ITEM = st.booleans() | st.integers(-(2**63), 2**63 - 1) | TEXT


@given(values=GOOD)
def test_what_is_written_is_read_back(
    tmp_path_factory: pytest.TempPathFactory, values: dict[str, SettingValue]
) -> None:
    path = tmp_path_factory.mktemp("settings") / "settings.toml"
    settings, complaints = Settings().changed(values)
    assert complaints == ()
    write_settings(path, settings)
    loaded = read_settings(path)
    assert loaded.settings.values == values
    assert (loaded.notices, loaded.problem) == ((), None)


@given(values=st.dictionaries(st.sampled_from([field.key for field in FIELDS]), ANYTHING))
def test_a_value_is_taken_or_complained_about(values: dict[str, SettingValue]) -> None:
    settings, complaints = Settings().changed(values)
    taken = [key for key, value in values.items() if settings.values[key] == value]
    assert len(complaints) >= len(values) - len(taken)
    for field in FIELDS:
        assert value_problem(field, settings.values[field.key]) == ""


@given(
    foreign=st.dictionaries(TEXT.filter(lambda key: key not in ("schema", "sampling")), TOML_ITEM, max_size=4),
    inner=st.dictionaries(TEXT.filter(lambda key: key not in DEFAULTS), TOML_ITEM, max_size=4),
)
def test_keys_of_other_versions_are_kept(
    tmp_path_factory: pytest.TempPathFactory, foreign: dict[str, object], inner: dict[str, object]
) -> None:
    path = tmp_path_factory.mktemp("settings") / "settings.toml"
    sections = {section_name(field) for field in FIELDS}
    foreign = {key: item for key, item in foreign.items() if key not in sections}
    path.write_text(tomli_w.dumps({**foreign, "sampling": {**inner, "top_k": 7}}), encoding="utf-8")
    settings = read_settings(path).settings
    assert settings.integer("top_k") == 7
    write_settings(path, settings.changed({"temperature": 0.0})[0])
    document = tomllib.loads(path.read_text(encoding="utf-8"))
    assert {key: document[key] for key in foreign} == foreign
    assert {key: document["sampling"][key] for key in inner} == inner
    assert document["sampling"]["temperature"] == 0.0


@given(junk=st.binary(max_size=200))
def test_no_file_is_fatal(tmp_path_factory: pytest.TempPathFactory, junk: bytes) -> None:
    path = tmp_path_factory.mktemp("settings") / "settings.toml"
    path.write_bytes(junk)
    loaded = read_settings(path)
    if loaded.problem is not None:
        aside = list(path.parent.glob("settings.broken-*.toml"))
        assert [file.read_bytes() for file in aside] == [junk]
        assert aside[0].name in loaded.problem.message
    write_settings(path, loaded.settings)
    assert read_settings(path).settings.values == loaded.settings.values


def test_a_byte_order_mark_breaks_no_file(tmp_path: Path) -> None:
    path = tmp_path / "settings.toml"
    path.write_text("schema = 1\n[sampling]\ntop_k = 7\n", encoding="utf-8-sig")
    loaded = read_settings(path)
    assert (loaded.problem, loaded.settings.values["top_k"]) == (None, 7)


def test_a_value_out_of_range_falls_back_and_is_named(tmp_path: Path) -> None:
    path = tmp_path / "settings.toml"
    path.write_text('schema = 1\n[sampling]\ntemperature = 99.0\ntop_k = "many"\nmin_p = nan\n', encoding="utf-8")
    loaded = read_settings(path)
    assert loaded.settings.number("temperature") == DEFAULTS["temperature"]
    assert loaded.settings.integer("top_k") == DEFAULTS["top_k"]
    assert [notice.split(" must")[0] for notice in loaded.notices] == ["Temperature", "Top-k", "Min-p"]


def test_a_newer_schema_is_reported_and_stays_newer(tmp_path: Path) -> None:
    path = tmp_path / "settings.toml"
    path.write_text("schema = 9\n[sampling]\ntop_k = 3\n", encoding="utf-8")
    loaded = read_settings(path)
    assert "newer" in loaded.notices[0]
    write_settings(path, loaded.settings)
    assert tomllib.loads(path.read_text(encoding="utf-8"))["schema"] == 9


def test_a_read_only_folder_is_reported_and_leaves_no_files(tmp_path: Path) -> None:
    blocked = tmp_path / "config"
    blocked.write_text("a file where the folder should be")
    with pytest.raises(SettingsWriteError) as caught:
        write_settings(blocked / "settings.toml", Settings())
    assert str(blocked) in caught.value.problem.message
    assert list(tmp_path.iterdir()) == [blocked]


def test_every_row_is_whole() -> None:
    assert len({field.key for field in FIELDS}) == len(FIELDS)
    for field in FIELDS:
        assert field.help.endswith("."), field.key
        assert field.label, field.key
        assert value_problem(field, field.default) == "", field.key
        assert (field.default is None) <= bool(field.automatic), field.key


def test_the_whole_range_of_the_table_is_good_for_the_engine() -> None:
    bounds = [field for field in FIELDS if field.section == "Sampling" and field.key not in ("max_tokens",)]
    for field in bounds:
        for value in (field.minimum, field.maximum):
            assert value is not None
            SamplingParams(**{field.key: int(value) if field.kind is FieldKind.INTEGER else value})  # type: ignore[arg-type]


def test_a_section_with_another_name_keeps_its_table(tmp_path: Path) -> None:
    file = tmp_path / "settings.toml"
    file.write_text('schema = 1\n[look]\ntheme = "dark"\n')
    assert read_settings(file).settings.values["theme"] == "dark"
