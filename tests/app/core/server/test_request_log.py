"""Tests totals in the text format of Prometheus, and the log of recent requests, which has no text of them."""

import re
import threading

from starlette.testclient import TestClient

from app.core.domain.local_server import GONE, Activity, LoggedRequest, RequestState
from app.core.server.access import AllowedHosts
from app.core.server.application import make_application
from app.core.server.metrics import CONTENT_TYPE, MAX_ROWS, Metrics, RequestLog
from engine.records import Mode, RunStats
from tests.app.core.server.scripted_session import CHAT, HELLO, PATIENCE_S, STATS, ScriptedServer
from tests.waiting import wait_for

LINE = re.compile(
    r"# (HELP|TYPE) paceline_[a-z_]+ .+|"
    r"paceline_[a-z_]+(\{[a-z]+=\"[\w/]+\"(,[a-z]+=\"\w+\")*\})? [\d.e+-]+"
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
    assert found["paceline_answers_total"] == 3
    assert found["paceline_prompt_tokens_total"] == 20
    assert found["paceline_prompt_tokens_cached_total"] == 8
    assert found["paceline_predicted_tokens_total"] == 20
    assert found["paceline_passes_total"] == 8
    assert (found["paceline_drafted_tokens_total"], found["paceline_accepted_tokens_total"]) == (20, 12)
    assert found['paceline_emitted_tokens_total{source="recovered"}'] == 6
    assert found["paceline_tokens_per_pass"] == 2.5
    assert found["paceline_acceptance_rate"] == 0.6


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


PRIVATE = "the word that nobody may see"


def rows(server: ScriptedServer) -> tuple[LoggedRequest, ...]:
    return server.metrics.requests.rows()


def test_a_request_that_is_over_is_a_line_where_that_is_asked_for(server: ScriptedServer) -> None:
    lines = list[str]()
    server.session.pieces = (PRIVATE,)
    app = make_application(server.scheduler, "", AllowedHosts("127.0.0.1"), log_line=lines.append)
    client = TestClient(app, base_url="http://127.0.0.1:8080", headers={"User-Agent": "OpenAI/Python 1.109 (linux)"})
    for stream in (False, True):
        client.post(CHAT, json={**HELLO, "stream": stream, "messages": [{"role": "user", "content": PRIVATE}]})
    row = rows(server)[0]
    assert (row.program, row.path, row.model, row.status) == ("OpenAI/Python 1.109", CHAT, "tiny", 200)
    assert (row.tokens, row.tokens_per_second, row.state) == (9, 4.5, RequestState.DONE)
    client.get("/nothing%1b[31m")
    client.get("/health")
    figures = r"[\d-]{10} [\d:]{8} POST /v1/chat/completions, 200, \d+\.\d\d s, 9 tokens, tiny, OpenAI/Python 1.109"
    assert [re.fullmatch(figures, line) is not None for line in lines] == [True, True, False]
    assert "GET /nothing" in lines[2]
    assert ", 404, " in lines[2]
    assert "\x1b" not in "".join(lines)
    assert PRIVATE not in "".join(lines)
    client.close()


def test_it_waits_and_runs_before_it_is_done(server: ScriptedServer) -> None:
    server.session.gate.clear()
    threads = [threading.Thread(target=server.client.post, args=(CHAT,), kwargs={"json": HELLO}) for _ in range(2)]
    threads[0].start()
    wait_for(lambda: [row.state for row in rows(server)] == [RequestState.RUNNING])
    threads[1].start()
    wait_for(lambda: [row.state for row in rows(server)] == [RequestState.WAITING, RequestState.RUNNING])
    server.session.gate.set()
    for thread in threads:
        thread.join(PATIENCE_S)
    assert [row.state for row in rows(server)] == [RequestState.DONE] * 2


def test_what_was_refused_and_what_was_asked_beside_answers_is_logged_too(server: ScriptedServer) -> None:
    server.client.get("/v1/models")
    server.client.get("/v1/audio/speech?input=" + PRIVATE)
    server.client.post(CHAT, json=HELLO, headers={"Authorization": "Bearer wrong"})
    server.client.post(CHAT, json={"messages": PRIVATE})
    server.client.post("/tokenize", json={"content": PRIVATE})
    assert [(row.path, row.status, row.tokens) for row in reversed(rows(server))] == [
        ("/v1/models", 200, None),
        ("/v1/audio/speech", 404, None),
        (CHAT, 401, None),
        (CHAT, 400, None),
        ("/tokenize", 200, None),
    ]
    assert PRIVATE not in repr(rows(server))


def test_a_stopped_answer_has_its_status_after_its_response_began(server: ScriptedServer) -> None:
    server.session.gate.clear()
    got: list[str] = []

    def read() -> None:
        got.append(server.client.post(CHAT, json={**HELLO, "stream": True}).text)

    thread = threading.Thread(target=read)
    thread.start()
    server.session.release_piece()
    wait_for(lambda: bool(rows(server)) and rows(server)[0].state is RequestState.RUNNING)
    server.scheduler.stop_running()
    thread.join(PATIENCE_S)
    assert rows(server)[0].status == 503


def test_a_program_that_left_is_told_apart() -> None:
    entry = RequestLog().begin(CHAT, "curl/8.0")
    entry.set_queued("tiny")
    entry.set_begun()
    entry.set_status(200)
    entry.end()
    assert (entry.row.status, entry.row.state) == (GONE, RequestState.DONE)


def test_the_log_is_bounded_and_its_texts_are_cleaned() -> None:
    log = RequestLog()
    for number in range(MAX_ROWS + 5):
        log.begin(f"/{number}", "a\x1b[31m\nprogram" + "x" * 200)
    latest = log.rows()
    assert (len(latest), latest[0].path, latest[0].number) == (MAX_ROWS, f"/{MAX_ROWS + 4}", MAX_ROWS + 5)
    assert "\x1b" not in latest[0].program
    assert len(latest[0].program) <= 40
