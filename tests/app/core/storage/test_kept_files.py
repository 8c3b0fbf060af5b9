"""Tests the TOML files of model settings, presets and prompts: saved, limited, set aside if broken."""

from pathlib import Path

import pytest

from app.core.domain.errors import PresetError
from app.core.domain.settings.layers import MAX_PRESET_NAME_CHARS, MAX_PROMPT_CHARS, SavedPrompt
from app.core.storage.model_settings import ModelSettings
from app.core.storage.presets import BUILTIN, Presets
from app.core.storage.prompts import Prompts
from engine.records import Problem


class Told(list[Problem]):
    """The reported problems."""


@pytest.fixture
def told() -> Told:
    return Told()


def models(path: Path, told: Told) -> ModelSettings:
    return ModelSettings(path, told.append)


# ---- models -----------------------------------------------------------------------------------------------------


def test_a_model_remembers_its_own_and_no_other_has_it(tmp_path: Path, told: Told) -> None:
    path, a, b = tmp_path / "models.toml", str(tmp_path / "a.gguf"), str(tmp_path / "b.gguf")
    models(path, told).set_values(a, {"temperature": 0.3, "depth": None, "system_prompt": "Be\nbrief."})
    again = models(path, told)
    assert again.values(a) == {"temperature": 0.3, "depth": None, "system_prompt": "Be\nbrief."}
    assert again.values(b) == {}
    again.set_values(a, {})
    assert models(path, told).values(a) == {}
    assert told == []


def test_two_files_of_one_name_are_two_models(tmp_path: Path, told: Told) -> None:
    path = tmp_path / "models.toml"
    places = [tmp_path / name / "model.gguf" for name in ("one", "two")]
    for place in places:
        place.parent.mkdir()
        place.touch()
    kept = models(path, told)
    kept.set_values(str(places[0]), {"temperature": 0.1})
    assert kept.values(str(places[1])) == {}


def test_a_model_that_was_moved_keeps_what_it_remembers(tmp_path: Path, told: Told) -> None:
    old, new = tmp_path / "old" / "m.gguf", tmp_path / "new" / "m.gguf"
    kept = models(tmp_path / "models.toml", told)
    kept.set_values(str(old), {"top_k": 7})  # the model file does not exist any more
    assert kept.values(str(new)) == {"top_k": 7}
    kept.set_values(str(new), {"top_k": 8})
    assert models(tmp_path / "models.toml", told).values(str(new)) == {"top_k": 8}


def test_bad_values_are_left_out(tmp_path: Path, told: Told) -> None:
    path = tmp_path / "models.toml"
    path.write_text('new = 1\n[[models]]\nfile = "/m.gguf"\ntemperature = "hot"\ntop_k = 3\n')
    assert models(path, told).values("/m.gguf") == {"top_k": 3}


@pytest.mark.parametrize("name", ["models", "presets", "prompts"])
@pytest.mark.parametrize("content", [b"[broken", b"\xff\xfe", b"a = 1\na = 2"])
def test_a_broken_file_is_set_aside_with_one_sentence(tmp_path: Path, told: Told, name: str, content: bytes) -> None:
    path = tmp_path / f"{name}.toml"
    path.write_bytes(content)
    opened: ModelSettings | Presets | Prompts
    if name == "models":
        opened = models(path, told)
    elif name == "presets":
        opened = Presets(path, told.append)
        assert opened.all == BUILTIN
    else:
        opened = Prompts(path, [SavedPrompt("a", "b")], told.append)
        assert opened.all == (SavedPrompt("a", "b"),)
    assert opened.problem is not None
    assert "damaged" in opened.problem.title
    aside = list(tmp_path.glob(f"{name}.broken-*.toml"))
    assert [file.read_bytes() for file in aside] == [content]


def test_what_cannot_be_saved_is_reported_once_and_holds_meanwhile(tmp_path: Path, told: Told) -> None:
    (tmp_path / "config").write_text("a file where the folder should be")
    kept = models(tmp_path / "config" / "models.toml", told)
    kept.set_values("/m.gguf", {"top_k": 4})
    kept.set_values("/m.gguf", {"top_k": 5})
    assert kept.values("/m.gguf") == {"top_k": 5}
    assert [problem.title for problem in told] == ["The settings could not be saved"]


# ---- presets ----------------------------------------------------------------------------------------------------


def test_presets_are_saved_renamed_replaced_and_deleted(tmp_path: Path, told: Told) -> None:
    file = tmp_path / "presets.toml"
    presets = Presets(file, told.append)
    presets.save("  My   own ", {"temperature": 0.2, "system_prompt": "Kind.", "theme": "dark"})
    kept = Presets(file, told.append).find("my own")
    assert kept is not None
    assert (kept.name, dict(kept.values)) == ("My own", {"temperature": 0.2, "system_prompt": "Kind."})
    presets.save("MY OWN", {"temperature": 0.4})
    presets.rename("my own", "Other")
    again = Presets(file, told.append)
    assert [preset.name for preset in again.all] == [*(preset.name for preset in BUILTIN), "Other"]
    assert again.all[-1].values == {"temperature": 0.4}
    again.delete("other")
    assert Presets(file, told.append).all == BUILTIN


@pytest.mark.parametrize("name", ["", "   ", "x" * (MAX_PRESET_NAME_CHARS + 1), "precise", "BALANCED"])
def test_a_name_that_cannot_be_is_refused(tmp_path: Path, told: Told, name: str) -> None:
    presets = Presets(tmp_path / "presets.toml", told.append)
    presets.save("mine", {"top_k": 1})
    with pytest.raises(PresetError):
        presets.save(name, {"top_k": 2})
    with pytest.raises(PresetError):
        presets.rename("mine", name)


def test_built_in_presets_stay_and_names_are_taken_once(tmp_path: Path, told: Told) -> None:
    presets = Presets(tmp_path / "presets.toml", told.append)
    presets.save("a", {"top_k": 1})
    presets.save("b", {"top_k": 2})
    with pytest.raises(PresetError):
        presets.rename("a", "B")
    for action in (presets.delete, lambda name: presets.rename(name, "x")):
        with pytest.raises(PresetError):
            action("Precise")
        with pytest.raises(PresetError):
            action("nobody")


# ---- prompts ----------------------------------------------------------------------------------------------------


def test_prompts_are_the_built_in_ones_until_there_is_a_list(tmp_path: Path, told: Told) -> None:
    file = tmp_path / "prompts.toml"
    builtin = [SavedPrompt("summarise", "Sum up {text}")]
    prompts = Prompts(file, builtin, told.append)
    assert prompts.all == tuple(builtin)
    prompts.replace([SavedPrompt("/two words ", "a\n{b}"), SavedPrompt("TWO-words", "later"), SavedPrompt("none", " ")])
    assert Prompts(file, builtin, told.append).all == (SavedPrompt("two-words", "a\n{b}"),)
    prompts.replace([])
    assert Prompts(file, builtin, told.append).all == ()


def test_prompts_beyond_their_bounds_are_left_out(tmp_path: Path, told: Told) -> None:
    prompts = Prompts(tmp_path / "prompts.toml", [], told.append)
    prompts.replace(
        [SavedPrompt("long", "x" * (MAX_PROMPT_CHARS + 1)), SavedPrompt("n" * 41, "x"), SavedPrompt("good", "x")]
    )
    assert prompts.all == (SavedPrompt("good", "x"),)
