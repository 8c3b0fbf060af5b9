"""Small tasks with one right answer: sums, counting, days, lists, tables, JSON, Python snippets.

Each function returns messages, user first. Answers are the same every time they are asked.
"""

from __future__ import annotations

import json
from random import Random

from known import CAPITALS, DAYS, FRUIT_COLORS, LETTERS, LISTS, MONTHS, NUMBERS, SNIPPETS, SOUNDS
from words import FIRST_NAMES, Material

Messages = list[tuple[str, str]]


def add_by_column(a: int, b: int) -> str:
    """The written method, units first."""
    parts, carry = [], 0
    for at, place in enumerate(("Ones", "Tens", "Hundreds")):
        x, y = a // 10**at % 10, b // 10**at % 10
        if at and 10**at > max(a, b) and not carry:
            break
        total = x + y + carry
        parts.append(f"{place}: {x} + {y}" + (f" + {carry}" if carry else "") + f" = {total}.")
        carry = total // 10
    return " ".join(parts) + f" So {a} + {b} = {a + b}."


def subtract_by_column(a: int, b: int) -> str:
    """The written method with borrowing, units first; `a` is not smaller than `b`."""
    parts, borrow = [], 0
    for at, place in enumerate(("Ones", "Tens", "Hundreds")):
        if at and 10**at > a:
            break
        x, y = a // 10**at % 10 - borrow, b // 10**at % 10
        borrow = int(x < y)
        parts.append(f"{place}: {x + 10 * borrow} - {y} = {x + 10 * borrow - y}" + (", borrow 1." if borrow else "."))
    return " ".join(parts) + f" So {a} - {b} = {a - b}."


def sums(_material: Material, rng: Random) -> Messages:
    """One to four sums in a conversation."""
    messages: Messages = []
    for _ in range(rng.choice((1, 1, 2, 3, 4))):
        kind, size = rng.random(), rng.choice((10, 100, 100, 100, 1000))
        a, b = rng.randrange(size), rng.randrange(size)
        if kind < 0.5:
            sign, spoken, answer = "+", "plus", add_by_column(a, b) if max(a, b) > 9 else f"{a} + {b} = {a + b}."
        elif kind < 0.78:
            a, b = max(a, b), min(a, b)
            sign, spoken, answer = "-", "minus", subtract_by_column(a, b) if max(a, b) > 9 else f"{a} - {b} = {a - b}."
        else:
            a, b = rng.randrange(13), rng.randrange(13)
            sign, spoken = rng.choice(("*", "x")), "times"
            answer = f"{a} * {b} = {a * b}."
        text = (
            f"{a} {sign} {b}" if rng.random() < 0.6 else f"{a} {spoken} {b}" if rng.random() < 0.6 else f"{a}{sign}{b}"
        )
        wording = rng.choice(
            ("What is {}?", "{}", "{} = ?", "{}?", "Calculate {}.", "How much is {}?", "what's {}", "Compute {}",
             "And {}?", "Can you work out {}?", "Please add up: {}" if sign == "+" else "Solve {}", "Tell me {}.",
             "{} ="),
        )  # fmt: skip
        messages += [("user", wording.format(text)), ("assistant", answer)]
    return messages


def counting(_material: Material, rng: Random) -> Messages:
    """Count up or down, by ones, twos, fives or tens, or say the alphabet."""
    start, length, step = rng.randrange(0, 90), rng.randint(4, 20), rng.choice((1, 1, 1, 2, 5, 10))
    stop = start + length * step
    if rng.random() < 0.2:
        wording = rng.choice(
            ("Say the alphabet", "Write the alphabet", "What are the letters of the alphabet?", "alphabet please")
        )
        return [("user", wording), ("assistant", " ".join(LETTERS))]
    if rng.random() < 0.5:
        start, stop, step = 1, rng.randint(5, 40), 1
    by = {1: "", 2: " by twos", 5: " by fives", 10: " by tens"}[step]
    values = list(range(start, stop + 1, step))
    if rng.random() < 0.25:
        values, by = values[::-1], by + (" backwards" if rng.random() < 0.5 else "")
    wording = rng.choice(
        ("Count from {} to {}", "Please count from {} to {}", "Count {} to {}", "Can you count from {} to {}")
    )
    question = wording.format(values[0], values[-1]) + by + rng.choice(("", ".", "?"))
    if values[0] == 1 and rng.random() < 0.4:
        question = rng.choice(("Count to {}", "Please count to {}.", "Can you count to {}?")).format(values[-1])
    return [("user", question), ("assistant", ", ".join(map(str, values)))]


def calendar(_material: Material, rng: Random) -> Messages:
    """Days and months: list them, next and previous; letters likewise."""
    what, items = rng.choice((("day", DAYS), ("month", MONTHS), ("letter", list(LETTERS))))
    if what != "letter" and rng.random() < 0.3:
        name = {"day": "days of the week", "month": "months"}[what]
        wording = rng.choice(
            ("List the {}", "What are the {}?", "Name the {}", "Tell me the {}", "Which {} are there?")
        )
        return [("user", wording.format(name)), ("assistant", numbered_or_commas(items, False))]
    at = rng.randrange(len(items))
    after = rng.random() < 0.6
    other = items[(at + (1 if after else -1)) % len(items)]
    wording = rng.choice(("Which {} comes {} {}?", "What {} is {} {}?", "Tell me the {} {} {}.", "the {} {} {}"))
    relation = "after" if after else "before"
    return [
        ("user", wording.format(what, relation, items[at])),
        ("assistant", f"The {what} {relation} {items[at]} is {other}."),
    ]


def numbered_or_commas(items: list[str], numbered: bool) -> str:
    """A numbered list, or one line."""
    return "\n".join(f"{at}. {item}" for at, item in enumerate(items, 1)) if numbered else ", ".join(items) + "."


def lists(_material: Material, rng: Random) -> Messages:
    """List a few things of a kind, then other ones."""
    name = rng.choice(tuple(LISTS))
    items = LISTS[name].split()
    count = rng.randint(2, min(8, len(items)))
    spoken = NUMBERS[count] if rng.random() < 0.6 else str(count)
    wording = rng.choice(
        ("List {} {}", "Name {} {}", "Give me {} {}", "Make a list of {} {}", "Write down {} {}", "Can you list {} {}?",
         "Tell me {} {}", "I need {} {}", "{} {}, please", "Please list {} {}."),
    )  # fmt: skip
    question = wording.format(spoken, name)
    messages = [("user", question[0].upper() + question[1:]), ("assistant", numbered_or_commas(items[:count], True))]
    rest = items[count:]
    if len(rest) > 1 and rng.random() < 0.3:
        more = rng.choice(("More, please", "Some others", "Other ones", "More of them", "And others?"))
        messages += [("user", more), ("assistant", numbered_or_commas(rest[:count], True))]
    elif rng.random() < 0.3:
        later = rng.choice(("In one line", "Separated by commas", "As one line, please", "With commas"))
        messages += [("user", later), ("assistant", numbered_or_commas(items[:count], False))]
    return messages


def tables(_material: Material, rng: Random) -> Messages:
    """A Markdown table of known pairs, or of pairs given in the question."""
    title, head, pairs = rng.choice(
        (
            ("fruits and their colors", ("Fruit", "Color"), list(FRUIT_COLORS.items())),
            ("countries and their capitals", ("Country", "Capital"), list(CAPITALS.items())[:8]),
            ("animals and their sounds", ("Animal", "Sound"), list(SOUNDS.items())),
        )
    )
    count = rng.randint(2, len(pairs))
    question = rng.choice(
        ("Make a table of {} {}", "Write a Markdown table of {} {}", "Show me {} {} in a table", "A table of {} {}")
    )
    question = question.format(rng.choice((NUMBERS[count], str(count))), title)
    pairs = pairs[:count]
    if rng.random() < 0.5:
        names = rng.sample(FIRST_NAMES, rng.randint(2, 6))
        pairs, head = [(name, str(rng.randint(5, 90))) for name in names], ("Name", "Age")
        question = rng.choice(
            ("Make a table of names and ages: {}", "Put this in a table: {}", "Name and age as a table: {}")
        )
        question = question.format(", ".join(f"{name} {age}" for name, age in pairs))
    rows = [f"| {left} | {right} |" for left, right in (head, ("---", "---"), *pairs)]
    return [("user", question), ("assistant", "\n".join(rows))]


def objects(material: Material, rng: Random) -> Messages:
    """A JSON object of given fields, sometimes changed afterwards."""
    fields: dict[str, object] = {"name": rng.choice(FIRST_NAMES), "age": rng.randint(5, 90)}
    if rng.random() < 0.5:
        fields["city"] = rng.choice(tuple(CAPITALS.values()))
    if rng.random() < 0.3:
        fields = {rng.choice(material.frequent): rng.choice(material.frequent) for _ in range(rng.randint(1, 4))}
    said = ", ".join(f"{key} {value}" for key, value in fields.items())
    wording = rng.choice(
        ("Make a JSON object with {}", "Write JSON for {}", "JSON with {}", "As a JSON object: {}", "Give me JSON: {}")
    )
    messages = [("user", wording.format(said)), ("assistant", fence("json", json.dumps(fields, indent=2)))]
    if rng.random() < 0.35:
        key = rng.choice(tuple(fields))
        fields = fields | {key: rng.randint(5, 90) if key == "age" else rng.choice(FIRST_NAMES)}
        change = rng.choice(("Change the {} to {}", "Now with {} {}", "Set {} to {}", "The {} is {}"))
        messages += [
            ("user", change.format(key, fields[key])),
            ("assistant", fence("json", json.dumps(fields, indent=2))),
        ]
    return messages


def fence(language: str, code: str) -> str:
    """A fenced block."""
    return f"```{language}\n{code}\n```"


def snippets(material: Material, rng: Random) -> Messages:
    """A short Python function or loop, at times renamed in the next turn."""
    if rng.random() < 0.25:
        stop = rng.randint(2, 30)
        question = rng.choice(
            ("Write a loop that prints the numbers from 1 to {}", "Python loop from 1 to {}", "Print 1 to {} in Python")
        )
        return [
            ("user", question.format(stop)),
            ("assistant", fence("python", f"for i in range(1, {stop + 1}):\n    print(i)")),
        ]
    what = rng.choice(tuple(SNIPPETS))
    code = SNIPPETS[what]
    wording = rng.choice(
        ("Write a Python function that {}", "Python function that {}", "Write a function that {}",
         "Can you write code that {}?", "Show me a Python function that {}", "I need a function that {}",
         "Code a function that {}."),
    )  # fmt: skip
    messages = [("user", wording.format(what)), ("assistant", fence("python", code))]
    if rng.random() < 0.35:
        old, new = (
            code[4 : code.index("(")],
            rng.choice(("compute", "calculate", "run", "helper", "solve", rng.choice(material.frequent))),
        )
        rename = rng.choice(
            ("Rename it to {}", "Call it {}", "Call the function {} instead", "Use the name {} instead")
        )
        messages += [
            ("user", rename.format(new)),
            ("assistant", fence("python", code.replace(f"def {old}(", f"def {new}("))),
        ]
    return messages


def facts(_material: Material, rng: Random) -> Messages:
    """The few capitals and sounds the model does know."""
    if rng.random() < 0.7:
        country, capital = rng.choice(tuple(CAPITALS.items()))
        wording = rng.choice(
            (
                "What is the capital of {}?",
                "capital of {}",
                "Which city is the capital of {}?",
                "Name the capital of {}.",
            )
        )
        return [("user", wording.format(country)), ("assistant", f"The capital of {country} is {capital}.")]
    animal, sound = rng.choice(tuple(SOUNDS.items()))
    wording = rng.choice(("What does the {} say?", "What sound does a {} make?", "Which sound does the {} make?"))
    return [("user", wording.format(animal)), ("assistant", f"The {animal} says {sound}.")]


TASKS = (sums, counting, calendar, lists, tables, objects, snippets, facts)
TASK_WEIGHTS = (6.0, 1.0, 1.0, 2.0, 1.2, 1.2, 1.6, 0.8)


def tasks(material: Material, rng: Random) -> Messages:
    """Any of the tasks, sums most often."""
    return rng.choices(TASKS, TASK_WEIGHTS)[0](material, rng)
