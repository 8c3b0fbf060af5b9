"""Finds the reasoning modes of a chat template (off, on, more or less effort) by trying template variables.

Templates have no common variable, so the variables of known models (Qwen3, DeepSeek, gpt-oss, SmolLM3, Hunyuan, Kimi,
MiniMax, Seed-OSS and others) are tried. Each is set to the values that the template compares it with; a value counts if
it changes the prompt.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace

from engine.records import THINKING_OFF, THINKING_ON, TemplateValue

Variables = Mapping[str, TemplateValue]
Render = Callable[[Variables], str | None]  # None if the template refuses the variables

_SWITCH_VARIABLES = ("enable_thinking", "thinking")
_MODE_VARIABLES = ("thinking_mode",)  # values: enabled, disabled, adaptive
_MODE_NAMES = {"disabled": THINKING_OFF, "enabled": THINKING_ON, "adaptive": "adaptive"}
_EFFORT_VARIABLES = ("reasoning_effort", "thinking_effort", "reasoning_strength")
_NO_EFFORT = ("none", "no_think")
_EFFORT_LEVELS = ("minimal", "low", "medium", "high", "xhigh", "max")
# For a template without comparisons, which writes the value into the prompt.
_USUAL_EFFORT_LEVELS = ("low", "medium", "high")
_BUDGET, _BUDGETS = "thinking_budget", (512, 2048, 8192)  # tokens; 0 means off
_QUOTED_WORD = re.compile(r"""["']([a-z_]{2,12})["']""")


@dataclass(frozen=True, slots=True)
class ThinkingChoice:
    """A reasoning mode: name (``off``, ``on``, an effort or a budget), variables, and the resulting prompt."""

    name: str
    variables: Variables
    prompt: str


def find_thinking(source: str, render: Render) -> tuple[ThinkingChoice, ...]:
    """The reasoning modes of a template, the default first; empty if it has fewer than two.

    ``render`` returns the prompt of a short question with the given variables.
    """
    usual = (
        render({})
        if any(name in source for name in (*_SWITCH_VARIABLES, *_MODE_VARIABLES, *_EFFORT_VARIABLES, _BUDGET))
        else None
    )
    if usual is None:
        return ()
    found: dict[str, ThinkingChoice] = {}  # by prompt
    for name, variables in _candidates(source, render):
        prompt = render(variables)
        if prompt is None or any(other.name == name for other in found.values()):
            continue
        if prompt not in found or found[prompt].name == THINKING_ON:  # the name of an effort says more than "on"
            found[prompt] = ThinkingChoice(name, variables, prompt)
    if len(found) < 2 or usual not in found:
        return ()
    first = found.pop(usual)
    return tuple(_with_plain_name((first, *sorted(found.values(), key=_order))))


def _with_plain_name(choices: tuple[ThinkingChoice, ...]) -> Iterator[ThinkingChoice]:
    """Rename a single effort to "on" if the only other mode is off."""
    num_levels = sum(choice.name in _EFFORT_LEVELS for choice in choices)
    has_on = any(choice.name == THINKING_ON for choice in choices)
    for choice in choices:
        is_lone = choice.name in _EFFORT_LEVELS and num_levels == 1 and not has_on
        yield replace(choice, name=THINKING_ON) if is_lone else choice


def _order(choice: ThinkingChoice) -> tuple[int, int]:
    if choice.name.isdecimal():
        return 2, int(choice.name)
    order = (THINKING_OFF, THINKING_ON, "adaptive", *_EFFORT_LEVELS)
    return 1, order.index(choice.name)


def _candidates(source: str, render: Render) -> Iterator[tuple[str, Variables]]:
    """Yield names of modes with template variables that may select them."""
    on: Variables = {}
    for name in _SWITCH_VARIABLES:
        if _reads_variable(source, name) and render({name: False}) != render({name: True}):
            on = {name: True}
            yield THINKING_OFF, {name: False}
            yield THINKING_ON, on
            break
    for name in _MODE_VARIABLES:
        for value in _value_compared_with(source, name):
            if value in _MODE_NAMES:
                yield _MODE_NAMES[value], {name: value}
    for effort in [each for each in _EFFORT_VARIABLES if _reads_variable(source, each)][:1]:
        # Yield efforts: values of the variable ``name``, from the values ``known`` that the template compares it
        # with.
        known = _value_compared_with(source, effort)
        yield from ((THINKING_OFF, {**on, effort: value}) for value in _NO_EFFORT if value in known)
        levels = [level for level in _EFFORT_LEVELS if level in known]
        yield from ((level, {**on, effort: level}) for level in (levels if len(levels) > 1 else _USUAL_EFFORT_LEVELS))
    if _reads_variable(source, _BUDGET):
        yield THINKING_OFF, {_BUDGET: 0}
        yield THINKING_ON, {}
        yield from ((str(tokens), {_BUDGET: tokens}) for tokens in _BUDGETS)


def _reads_variable(source: str, name: str) -> bool:
    """Whether the template reads this variable, rather than an attribute or text of that name."""
    return re.search(rf"(?<![\w.'\"]){name}(?![\w'\"])", source) is not None


def _value_compared_with(source: str, name: str) -> tuple[str, ...]:
    """The quoted words in template tags that contain the variable."""
    tags = re.findall(r"\{%(.*?)%\}|\{\{(.*?)\}\}", source, re.DOTALL)
    inside = [first or second for first, second in tags]
    return tuple(
        dict.fromkeys(word for tag in inside if _reads_variable(tag, name) for word in _QUOTED_WORD.findall(tag))
    )
