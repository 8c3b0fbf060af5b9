"""The counters of one run with a draft, as tests of sums and tables use them."""

from __future__ import annotations

from engine.records import Mode, RunStats, Source

RUN = RunStats(
    mode=Mode.DRAFT,
    tokens=40,
    passes=10,
    proposed=30,
    accepted=24,
    proposed_by_depth=(10, 10, 10),
    accepted_by_depth=(9, 8, 7),
    provenance={Source.DRAFT: 24, Source.RECOVERED: 16},
    decode_s=2.0,
    plain_ms=100.0,
)
