"""Texts of a race: lane names and conditions."""

from app.core.domain.model_name import name_of_file
from app.core.domain.speed.races import LaneChoice, RaceResult
from ui.text.formatting import count, mode_label, number_text
from ui.text.language import Translator

tr = Translator("Race")


def lane_name(choice: LaneChoice) -> str:
    """``Off``, ``Draft with Qwen2.5 0.5B, draft length 3``."""
    draft = choice.draft_name or (name_of_file(choice.draft) if choice.draft else "")
    name = pair_name(mode_label(choice.mode), draft)
    return name if choice.depth is None else tr("{name}, draft length {depth}").format(name=name, depth=choice.depth)


def result_line(result: RaceResult) -> str:
    """``3 rounds · up to 256 tokens · temperature 0``."""
    parts = [
        tr("%n rounds", None, result.num_rounds) if result.is_complete else tr("a round that was cut short"),
        tr("up to {number} tokens").format(number=count(result.setup.max_tokens)),
        tr("temperature {number}").format(number=number_text(result.temperature)),
    ]
    return " · ".join(parts)


def machine_line(result: RaceResult) -> str:
    """``AMD EPYC, 2 cores, 2 threads at the end``, and the GPU layers."""
    parts = [result.processor, tr("%n threads at the end", None, result.threads)]
    if result.gpu_layers:
        parts.append(tr("%n layers on the GPU", None, result.gpu_layers))
    return ", ".join(part for part in parts if part)


def pair_name(target: str, draft: str) -> str:
    """``Qwen2.5 7B with Qwen2.5 0.5B``, or the target alone."""
    if not draft:
        return target
    return tr("{target} with {draft}").format(target=target, draft=draft)
