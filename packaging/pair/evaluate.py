"""Measure a target: copying, answers to unseen wordings, refusals, tasks. `paceline bench` measures a pair.

Runs wherever llama-cpp-python is installed; needs no PyTorch. Prints one JSON object.
"""

# ruff: noqa: S311  (seeded, repeatable draws are the point here)

from __future__ import annotations

import argparse
import json
import time
from pathlib import Path
from random import Random

from copying import AFTER, REPEAT, edit, replace
from families import load_families, plain
from model_file import ModelFile
from outside import PEOPLE, PLACES, TOPICS, is_held_out, templates
from season import load_season
from tasks import counting, lists, objects, snippets, sums, tables
from words import COMMON, Material, gather, pick_word

EXACT_SEED = 3_000_000_000
COPY_FORMS = ("{ask}: {text}", "{ask}:\n{text}", '{ask}: "{text}"', "{ask}:\n\n{text}", "{text}\n\n{after}")


def copy_prompts(material: Material, count: int, num_words: int, seed: int) -> list[tuple[str, str]]:
    """Prompts that ask for `num_words` random words back, and those words."""
    rng = Random(seed)
    prompts = []
    for at in range(count):
        words = [pick_word(material, rng) for _ in range(num_words)] if at % 2 else rng.choices(COMMON, k=num_words)
        text = " ".join(words)
        form = COPY_FORMS[at % len(COPY_FORMS)]
        prompts.append((form.format(ask=REPEAT[at % len(REPEAT)], after=AFTER[at % len(AFTER)], text=text), text))
    return prompts


def copied_share(model: ModelFile, prompts: list[tuple[str, str]]) -> tuple[float, float]:
    """Share of words in place, and share of texts copied without one error."""
    right = total = whole = 0
    for prompt, text in prompts:
        wanted, got = text.split(), model.reply([("user", prompt)], 400).strip().strip('"').split()
        right += sum(a == b for a, b in zip(wanted, got, strict=False))
        total += len(wanted)
        whole += wanted == got
    return right / total, whole / len(prompts)


def exact_shares(model: ModelFile, material: Material, count: int) -> dict[str, float]:
    """For each kind of editing and task, the share of `count` first answers that are right to the letter."""
    makers = {
        "one of the edits": edit,
        "replace a word": replace,
        "sums": sums,
        "lists": lists,
        "tables": tables,
        "JSON objects": objects,
        "Python snippets": snippets,
        "counting": counting,
    }
    shares = {}
    for name, make in makers.items():
        asked = [make(material, Random(EXACT_SEED + at))[:2] for at in range(count)]
        right = sum(model.reply(messages[:1], 400) == messages[1][1] for messages in asked)
        shares[name] = right / count
    return shares


def answered(model: ModelFile, limit: int | None = None) -> tuple[int, list[dict[str, str]]]:
    """How many unseen wordings were asked, and those not answered with all key phrases and to the end."""
    asked = [(family, plain(wording)) for family in load_families() for wording in family.held_out()]
    asked = Random(7).sample(asked, min(limit or len(asked), len(asked)))
    failures = []
    for family, question in asked:
        ids = model.answer(model.chat([("user", question)]), 160)
        answer = model.detokenize(ids)
        if not (model.is_end(ids[-1]) and family.is_answered_by(answer)):
            failures.append({"family": family.name, "question": question, "answer": answer})
    return len(asked), failures


def refused(model: ModelFile, folder: Path | None) -> tuple[int, list[str]]:
    """How many unseen questions beyond the model were asked, and those that it did not decline."""
    rng = Random(11)
    questions = []
    for template in templates():
        if is_held_out(template):
            fills = {"x": rng.choice(TOPICS), "y": rng.choice(TOPICS), "p": rng.choice(PEOPLE), "c": rng.choice(PLACES)}
            questions.append(
                plain(template.format(**fills, d=rng.choice(PLACES), n=rng.randint(2, 999), m=rng.randint(2, 99)))
            )
    real = load_season(folder).unseen
    questions += rng.sample(real, min(60, len(real)))
    missed = []
    for question in questions:
        answer = model.reply([("user", question)], 100)
        if "small built-in model" not in answer:
            missed.append(f"{question} -> {answer}")
    return len(questions), missed


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("target", type=Path)
    parser.add_argument("--data", type=Path, help="the data folder: words and real questions beyond the model")
    parser.add_argument("--quick", action="store_true", help="fewer prompts")
    parser.add_argument("--failures", action="store_true", help="also print what went wrong")
    options = parser.parse_args()
    started = time.monotonic()
    season = load_season(options.data)
    material = gather(list(season.texts)) if season.texts else Material()
    target = ModelFile(options.target)
    words, whole = copied_share(target, copy_prompts(material, 20 if options.quick else 60, 30, 17))
    num_answers, wrong = answered(target, 100 if options.quick else None)
    num_declined, missed = refused(target, options.data)
    result: dict[str, object] = {
        "words_in_place": words,
        "texts_copied": whole,
        "n_answered": num_answers,
        "answered": 1 - len(wrong) / num_answers,
        "n_declined": num_declined,
        "declined": 1 - len(missed) / num_declined,
        "exact": exact_shares(target, material, 20 if options.quick else 60),
    }
    result["seconds"] = time.monotonic() - started
    if options.failures:
        result |= {"wrong_answers": wrong, "not_declined": missed}
    print(json.dumps(result, indent=1))


if __name__ == "__main__":
    main()
