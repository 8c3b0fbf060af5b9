"""Tests totals in the text format of Prometheus."""

from __future__ import annotations

import re

from app.core.domain.local_server import Activity
from app.core.server.metrics import CONTENT_TYPE, Metrics
from engine.pacing.pass_trace import TracedPass
from engine.records import Mode, RunStats, Source
from tests.app.core.server.scripted_session import CHAT, HELLO, STATS, ScriptedServer

LINE = re.compile(
    r"# (HELP|TYPE) (paceline_|llamacpp:)[a-z_]+ .+|"
    r"(paceline_|llamacpp:)[a-z_]+(\{[a-z]+=\"[\w/]+\"(,[a-z]+=\"\w+\")*\})? [\d.e+-]+"
)


def values(text: str) -> dict[str, float]:
    assert text.endswith("\n")
    lines = text.splitlines()
    assert [line for line in lines if not LINE.fullmatch(line)] == []
    return {name: float(value) for name, _, value in (line.rpartition(" ") for line in lines if line[0] != "#")}


def test_answers_add_up() -> None:
    metrics = Metrics()
    metrics.count_answer(STATS)
    metrics.count_answer(STATS)
    metrics.count_answer(RunStats(mode=Mode.NGRAM, tokens=2, passes=2, proposed=4))
    found = values(metrics.render(Activity(0, 3, 1, 12.5)))
    assert found["paceline_requests_waiting"] == 3
    assert found["paceline_requests_running"] == 1
    assert found["paceline_tokens_per_second"] == 12.5
    assert (found["llamacpp:requests_deferred"], found["llamacpp:requests_processing"]) == (3, 1)
    assert found["llamacpp:prompt_tokens_total"] == 12, "without those of the cache"
    assert found["llamacpp:predicted_tokens_seconds"] == 5
    assert found["paceline_answers_total"] == 3
    assert found["paceline_prompt_tokens_total"] == 20
    assert found["paceline_prompt_tokens_cached_total"] == 8
    assert found["paceline_predicted_tokens_total"] == 20
    assert found["paceline_passes_total"] == 8
    assert found['paceline_emitted_tokens_total{source="recovered"}'] == 6
    assert found["paceline_tokens_per_pass"] == 2.5
    assert found["paceline_acceptance_rate"] == 0.6


def test_passes_add_up_by_drafter() -> None:
    metrics = Metrics()
    mixed = (Source.NGRAM, Source.NGRAM, Source.DRAFT)
    for sources, accepted in ((mixed, 3), (mixed, 1), ((), 0), ((Source.DRAFT,), 0)):
        metrics.count_pass(TracedPass(0, None, len(sources), accepted, 5.0, sources=sources))
    found = values(metrics.render(Activity()))
    assert found['paceline_drafted_tokens_total{source="ngram"}'] == 4
    assert found['paceline_drafted_tokens_total{source="draft"}'] == 3
    assert found['paceline_accepted_tokens_total{source="ngram"}'] == 3
    assert found['paceline_accepted_tokens_total{source="draft"}'] == 1


def test_rates_are_left_out_until_they_are_known() -> None:
    found = values(Metrics().render(Activity()))
    assert found["paceline_answers_total"] == 0
    assert not {"paceline_tokens_per_pass", "paceline_acceptance_rate"} & set(found)


def test_responses_are_counted_by_path_and_status(server: ScriptedServer) -> None:
    server.client.post(CHAT, json=HELLO)
    server.client.post(CHAT, json={**HELLO, "n": 0})
    server.client.get("/v1/models", headers={"Authorization": "Bearer wrong"})
    server.client.get('/"quoted"')
    response = server.client.get("/metrics")
    assert response.headers["content-type"] == CONTENT_TYPE
    found = values(response.text)
    assert found[f'paceline_requests_total{{endpoint="{CHAT}",status="200"}}'] == 1
    assert found[f'paceline_requests_total{{endpoint="{CHAT}",status="400"}}'] == 1
    assert found['paceline_requests_total{endpoint="/v1/models",status="401"}'] == 1
    assert found['paceline_requests_total{endpoint="other",status="404"}'] == 1
    assert found["paceline_answers_total"] == 1
