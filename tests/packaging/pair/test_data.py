"""The text the built-in pair learns from: right sums, exact copies, wordings kept for the evaluation."""

# ruff: noqa: S311  (seeded, repeatable draws are the point here)

from __future__ import annotations

import importlib
import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from random import Random
from types import ModuleType, SimpleNamespace

import pytest

PAIR = Path(__file__).parents[3] / "packaging" / "pair"
NAMES = ("words", "families", "copying", "known", "tasks", "talk", "outside", "season")
TERM = re.compile(r"(?<![\d*+-] )\b(\d+) ([-+*]) (\d+)(?: \+ (\d+))? = (\d+)")


@pytest.fixture(scope="module")
def pair() -> Iterator[SimpleNamespace]:
    """The generator's modules, imported as its scripts import one another."""
    sys.path.insert(0, str(PAIR))
    modules: dict[str, ModuleType] = {name: importlib.import_module(name) for name in NAMES}
    yield SimpleNamespace(**modules)
    sys.path.remove(str(PAIR))
    for name in NAMES:
        del sys.modules[name]


def draw(make: object, pair: SimpleNamespace, count: int) -> list[list[tuple[str, str]]]:
    material = pair.words.Material()
    return [make(material, Random(seed)) for seed in range(count)]  # type: ignore[operator]


def test_every_sum_is_right(pair: SimpleNamespace) -> None:
    checked = 0
    for messages in draw(pair.tasks.sums, pair, 1500):
        for _, answer in messages[1::2]:
            found = TERM.findall(answer)
            assert found, answer
            for a, sign, b, carry, result in found:
                value = {"+": int(a) + int(b), "-": int(a) - int(b), "*": int(a) * int(b)}[sign] + int(carry or 0)
                assert value == int(result), answer
                checked += 1
    assert checked > 3000


def test_written_methods(pair: SimpleNamespace) -> None:
    assert (
        pair.tasks.add_by_column(347, 58)
        == "Ones: 7 + 8 = 15. Tens: 4 + 5 + 1 = 10. Hundreds: 3 + 0 + 1 = 4. So 347 + 58 = 405."
    )
    assert pair.tasks.subtract_by_column(205, 17).endswith("So 205 - 17 = 188.")


def test_repeated_text_is_exact(pair: SimpleNamespace) -> None:
    for messages in draw(pair.copying.repeat, pair, 500):
        said = ""
        for role, content in messages:
            if role == "user":
                said += content
            else:
                assert content in said


def test_edits_follow_from_their_words(pair: SimpleNamespace) -> None:
    words = ["pear", "Apple", "cherry"]
    results = [apply(words) for _, apply, *_ in pair.copying.EDITS]
    assert results[:7] == [
        "pear\nApple\ncherry",
        "1. pear\n2. Apple\n3. cherry",
        "- pear\n- Apple\n- cherry",
        "pear, Apple, cherry",
        "cherry Apple pear",
        "Apple cherry pear",
        '["pear", "Apple", "cherry"]',
    ]
    assert results[7].splitlines()[-1] == "| 3 | cherry |"
    assert results[8:] == [
        "PEAR APPLE CHERRY",
        '"pear Apple cherry"',
        "```\npear Apple cherry\n```",
        "pear",
        "cherry",
        "3",
    ]


def test_replaced_words_are_gone(pair: SimpleNamespace) -> None:
    for messages in draw(pair.copying.replace, pair, 300):
        before, after = messages[0][1], messages[-1][1]
        assert before != after
        assert after.split()


def test_json_answers_parse(pair: SimpleNamespace) -> None:
    for messages in draw(pair.tasks.objects, pair, 200):
        for _, answer in messages[1::2]:
            assert isinstance(json.loads(answer.removeprefix("```json\n").removesuffix("\n```")), dict)


def test_python_answers_compile(pair: SimpleNamespace) -> None:
    for messages in draw(pair.tasks.snippets, pair, 200):
        for _, answer in messages[1::2]:
            compile(answer.removeprefix("```python\n").removesuffix("\n```"), "answer", "exec")


@pytest.mark.parametrize(
    ("module", "maker"), [("copying", "copying"), ("tasks", "tasks"), ("talk", "small_talk"), ("talk", "story")]
)
def test_same_seed_same_text(pair: SimpleNamespace, module: str, maker: str) -> None:
    make = getattr(getattr(pair, module), maker)
    first, second = draw(make, pair, 50), draw(make, pair, 50)
    assert first == second
    assert len({str(messages) for messages in first}) > 10
    for messages in first:
        assert [role for role, _ in messages] == ["user", "assistant"] * (len(messages) // 2)
        assert not any("{name}" in content for _, content in messages)


def test_families_answer_their_own_questions(pair: SimpleNamespace) -> None:
    families = pair.families.load_families()
    assert len(families) > 60
    for family in families:
        assert family.wordings
        assert family.answers
        for answer in family.answers:
            assert family.is_answered_by(answer), family.name


def test_enough_wordings_are_kept_from_training(pair: SimpleNamespace) -> None:
    families = pair.families.load_families()
    assert sum(len(family.held_out()) for family in families) >= 200
    for family in families:
        assert not set(family.held_out()) & set(family.trained())
        assert family.trained()


def test_held_out_questions_beyond_the_model_are_not_drawn(pair: SimpleNamespace) -> None:
    held_out = [template for template in pair.outside.templates() if pair.outside.is_held_out(template)]
    assert len(held_out) >= 10
    fixed = {template for template in held_out if "{" not in template}
    drawn = {pair.outside.made_up_question(pair.words.Material(), Random(seed)) for seed in range(2000)}
    assert not fixed & drawn


def test_every_refusal_names_the_small_model(pair: SimpleNamespace) -> None:
    for messages in draw(pair.outside.outside, pair, 200):
        assert "small built-in model" in messages[1][1]


def test_season_reads_chats_and_instructions(pair: SimpleNamespace, tmp_path: Path) -> None:
    import lzma

    chat = {"messages": [{"role": "user", "content": "Hello you"}, {"role": "assistant", "content": "Hello too"}]}
    task = {"instruction": "Name three rivers of the world.", "input": "", "output": "Nile."}
    with lzma.open(tmp_path / "small_chat.jsonl.xz", "wt", encoding="utf-8") as file:
        file.write(json.dumps(chat) + "\n")
    with lzma.open(tmp_path / "gsm8k.jsonl.xz", "wt", encoding="utf-8") as file:
        file.write(json.dumps(task) + "\n")
    season = pair.season.load_season(tmp_path)
    assert season.chat(Random(0)) == [("user", "Hello you"), ("assistant", "Hello too")]
    assert set(season.questions) <= {"Name three rivers of the world."}
    assert "Nile." in season.texts
