"""All that can be said of a target and a draft before they are loaded, with what it rests on."""

from __future__ import annotations

from dataclasses import dataclass

from engine.forecast.gain import GainForecast, PairKind, forecast_gain
from engine.forecast.passes import MachineSpeed, PassForecast, PlacedModel, forecast_pass, forecast_step
from engine.gguf.head_files import head_method
from engine.gguf.header import GgufHeader

_BUILTIN = "paceline-tiny"
TINY_PARAMS, TINY_SHARE = 30_000_000, 50  # of a draft; the target's beside it


@dataclass(frozen=True, slots=True)
class Forecast:
    """``plain`` is the target's; ``gain`` that of ``auto`` with this draft, or with text alone where there is none.

    ``text_alone`` is what there would be without the draft.
    """

    plain: PassForecast
    gain: GainForecast
    text_alone: GainForecast
    temperature: float

    @property
    def tokens_per_second(self) -> tuple[float, float]:
        """With drafting, from the least to the most."""
        low, high = self.plain.tokens_per_second
        return low * self.gain.low, high * self.gain.high


def forecast(
    machine: MachineSpeed,
    target: PlacedModel,
    draft: PlacedModel | None,
    kind: PairKind,
    temperature: float,
    speaks: float = 1.0,
) -> Forecast | None:
    """None where nothing was measured here that could tell."""
    plain = forecast_pass(machine, target)
    step_ms = forecast_step(machine, draft) if draft is not None else None
    if plain is None or (draft is not None and step_ms is None):
        return None
    alone = gain = forecast_gain(plain.curve, None, kind, temperature, answers=target.answers)
    if step_ms is not None:
        gain = forecast_gain(plain.curve, step_ms, kind, temperature, speaks, answers=target.answers)
    return Forecast(plain, gain, alone, temperature)


def pair_kind(target: GgufHeader, draft: GgufHeader) -> PairKind:
    """How alike two models are, by what their headers say of their family; a head is what its file says."""
    if head_method(draft):
        return PairKind.HEAD
    first, second = (_family(header) for header in (target, draft))
    if first == second == _BUILTIN:
        return PairKind.DISTILLED
    if first and first == second:
        return PairKind.FAMILY
    is_tiny = draft.num_params < TINY_PARAMS and target.num_params > TINY_SHARE * draft.num_params
    return PairKind.TINY if is_tiny else PairKind.OTHER


def _family(header: GgufHeader) -> str:
    """The family of a model: its base name, or its architecture where it has none that is a family of its own."""
    name = header.metadata.get("general.basename")
    if isinstance(name, str) and name.strip():
        return name.strip().lower()
    return "" if header.architecture == "llama" else header.architecture
