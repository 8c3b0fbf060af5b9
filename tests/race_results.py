"""Handwritten results of races."""

from dataclasses import replace

from app.core.domain.speed.races import AUTO_LANE, PLAIN_LANE, LaneResult, LaneVerdict, RaceResult, RaceSetup
from engine.records import Message, Mode, RunStats, Source, TokenSpan

TEXT = "Water flows downhill. Water flows."
SPANS = (
    TokenSpan(5, Source.TARGET),
    TokenSpan(6, Source.RECOVERED, " runs"),
    TokenSpan(10, Source.TARGET),
    TokenSpan(6, Source.NGRAM),
    TokenSpan(6, Source.NGRAM),
    TokenSpan(1, Source.BONUS),
)
SETUP = RaceSetup(
    "Where does water flow?",
    rounds=4,
    max_tokens=128,
    before=(Message("system", "Be brief."), Message("user", "Hello"), Message("assistant", "Hi.")),
)
PLAIN_STATS = RunStats(
    tokens=24, passes=24, decode_s=2.4, inter_token_ms_p50=99.0, inter_token_ms_p95=120.0, interval_counts={40: 24}
)
AUTO_STATS = RunStats(
    mode=Mode.AUTO,
    tokens=24,
    passes=12,
    proposed=30,
    accepted=12,
    decode_s=1.5,
    rollback_s=0.012,
    draft_s=0.1,
    proposed_by_depth=(10, 10, 10),
    accepted_by_depth=(6, 4, 2),
    provenance={Source.NGRAM: 12, Source.TARGET: 12},
    inter_token_ms_p50=50.0,
    inter_token_ms_p95=130.0,
)
VERDICT = LaneVerdict(1, 0, 1.62, 1.48, 1.77, 4, None, 0.0)
RESULT = RaceResult(
    setup=SETUP,
    target="target-7b",
    draft="draft-0.5b",
    processor="A processor",
    threads=2,
    gpu_layers=0,
    created="2026-11-25T20:44:46+00:00",
    lanes=(LaneResult(PLAIN_LANE, PLAIN_STATS, TEXT), LaneResult(AUTO_LANE, AUTO_STATS, TEXT, SPANS)),
    verdicts=(VERDICT,),
    num_rounds=4,
    is_complete=True,
    temperature=0.0,
)
THREE_LANES = replace(
    RESULT,
    setup=replace(SETUP, lanes=(*SETUP.lanes, replace(AUTO_LANE, mode=Mode.DRAFT, depth=3))),
    lanes=(*RESULT.lanes, LaneResult(replace(AUTO_LANE, mode=Mode.DRAFT, depth=3), AUTO_STATS, TEXT, SPANS)),
    verdicts=(VERDICT, replace(VERDICT, lane=2, ratio=0.9, low=0.8, high=1.05)),
)
