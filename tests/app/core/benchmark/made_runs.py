"""Artificial runs, for tests of the statistics."""

from app.core.benchmark.runs import PLAIN, BenchmarkRun, Variant
from engine.records import Mode, RunStats

DRAFT = Variant(Mode.DRAFT.value, 3)


def made_run(
    prompt: str,
    variant: Variant,
    seconds: float,
    *,
    category: str = "a",
    temperature: float = 0.0,
    round_number: int = 0,
) -> BenchmarkRun:
    """A run of 100 tokens in ``seconds``. With drafting, 6 of 10 drafted tokens are accepted in 50 passes."""
    plain = variant is PLAIN
    stats = RunStats(
        mode=Mode.OFF,
        tokens=100,
        passes=100 if plain else 50,
        proposed=0 if plain else 10,
        accepted=0 if plain else 6,
        proposed_by_depth=() if plain else (5, 5),
        accepted_by_depth=() if plain else (4, 2),
        decode_s=seconds,
        draft_s=0.0 if plain else seconds / 4,
        verify_s=seconds / 2,
        inter_token_ms_p50=seconds,
        inter_token_ms_p95=seconds * 2,
    )
    return BenchmarkRun(prompt, category, temperature, variant, stats, round_number, (1, 2, 3))
