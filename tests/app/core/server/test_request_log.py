"""Tests the log of recent requests, which has no text of them."""

import threading

from app.core.domain.local_server import GONE, LoggedRequest, RequestState
from app.core.server.request_log import MAX_ROWS, RequestLog
from tests.app.core.server.scripted_session import CHAT, HELLO, PATIENCE_S, ScriptedServer
from tests.waiting import wait_for

PRIVATE = "the word that nobody may see"


def rows(server: ScriptedServer) -> tuple[LoggedRequest, ...]:
    return server.log.rows()


def test_a_request_that_is_over_has_its_program_and_numbers(server: ScriptedServer) -> None:
    server.session.pieces = (PRIVATE,)
    body = {**HELLO, "messages": [{"role": "user", "content": PRIVATE}]}
    server.client.post(CHAT, json=body, headers={"User-Agent": "OpenAI/Python 1.109 (linux)"})
    server.client.get("/health")
    (row,) = rows(server)
    assert (row.program, row.path, row.model, row.status) == ("OpenAI/Python 1.109", CHAT, "tiny", 200)
    assert (row.tokens, row.tokens_per_second, row.state) == (9, 4.5, RequestState.DONE)
    assert PRIVATE not in repr(row)


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
