"""Tests the precedence of values: chat, model, settings, default, and nothing else."""

import json
import tomllib

import pytest
import tomli_w
from hypothesis import given
from hypothesis import strategies as st

from app.core.domain.settings.fields import SettingValue
from app.core.domain.settings.layers import LAYERED_FIELDS, LAYERED_KEYS, Layer, Layers, as_toml_values, valid_values
from app.core.domain.settings.table import DEFAULTS, FIELD_BY_KEY, value_problem
from app.core.domain.settings.values import Settings
from tests.app.core.storage.test_settings_file import ANYTHING
from tests.app.core.storage.test_settings_file import valid_values as any_good

SOME = st.fixed_dictionaries({}, optional={field.key: any_good(field) for field in LAYERED_FIELDS})


def settings_with(values: dict[str, SettingValue]) -> Settings:
    settings, complaints = Settings().changed(values)
    assert complaints == ()
    return settings


@given(chat=SOME, model=SOME, everywhere=SOME)
def test_the_first_layer_that_has_a_value_gives_it(
    chat: dict[str, SettingValue], model: dict[str, SettingValue], everywhere: dict[str, SettingValue]
) -> None:
    layers = Layers(settings_with(everywhere), model, chat)
    for key in LAYERED_KEYS:
        got = layers.values()[key]
        if key in chat:
            assert (got.value, got.origin) == (chat[key], Layer.CHAT)
        elif key in model:
            assert (got.value, got.origin) == (model[key], Layer.MODEL)
        elif everywhere.get(key, DEFAULTS[key]) != DEFAULTS[key]:
            assert (got.value, got.origin) == (everywhere[key], Layer.GLOBAL)
        else:
            assert (got.value, got.origin) == (DEFAULTS[key], Layer.DEFAULT)
        assert got.hidden_by is None
        assert layers.effective().values[key] == got.value


@given(chat=SOME, model=SOME, everywhere=SOME)
def test_a_layer_behind_says_what_hides_it_and_looks_no_further_forward(
    chat: dict[str, SettingValue], model: dict[str, SettingValue], everywhere: dict[str, SettingValue]
) -> None:
    layers = Layers(settings_with(everywhere), model, chat)
    for key in LAYERED_KEYS:
        of_model, of_all = layers.values(Layer.MODEL)[key], layers.values(Layer.GLOBAL)[key]
        assert of_model.value == Layers(layers.settings, model).values()[key].value
        assert of_all.value == layers.settings.values[key]
        assert of_model.hidden_by is (Layer.CHAT if key in chat else None)
        assert of_all.hidden_by is (Layer.CHAT if key in chat else Layer.MODEL if key in model else None)


@given(chat=SOME, model=SOME, changes=SOME, layer=st.sampled_from([Layer.CHAT, Layer.MODEL]))
def test_a_change_touches_its_layer_alone_and_can_be_taken_back(
    chat: dict[str, SettingValue], model: dict[str, SettingValue], changes: dict[str, SettingValue], layer: Layer
) -> None:
    before = Layers(Settings(), model, chat)
    after = before.with_own(layer, changes)
    other = Layer.MODEL if layer is Layer.CHAT else Layer.CHAT
    own = {Layer.CHAT: after.chat, Layer.MODEL: after.model}
    assert own[other] == {Layer.CHAT: chat, Layer.MODEL: model}[other]
    assert all(own[layer][key] == value for key, value in changes.items())
    back = after.without_own(layer, tuple(changes))
    assert all(back.values(layer)[key].origin is not layer for key in changes)


@given(values=SOME)
def test_values_survive_toml_and_json(values: dict[str, SettingValue]) -> None:
    assert valid_values(tomllib.loads(tomli_w.dumps(as_toml_values(values)))) == values
    assert valid_values(json.loads(json.dumps(values))) == values


@given(raw=st.dictionaries(st.sampled_from([*LAYERED_KEYS, "target_path", "x"]), ANYTHING) | ANYTHING)
def test_only_good_values_are_taken_from_outside(raw: object) -> None:
    taken = valid_values(raw)
    assert set(taken) <= set(LAYERED_KEYS)
    assert all(not value_problem(FIELD_BY_KEY[key], value) for key, value in taken.items())


def test_numbers_beyond_every_range_are_left_out() -> None:
    raw = json.loads('{"temperature": 1e999, "top_k": 1' + "0" * 400 + ', "top_p": NaN, "min_p": 0.1}')
    assert valid_values(raw) == {"min_p": 0.1}


def test_the_settings_own_layer_is_not_changed_here() -> None:
    with pytest.raises(ValueError, match="global"):
        Layers().with_own(Layer.GLOBAL, {"temperature": 0.1})
