"""Tests update checks with a web server on this machine."""

import json
from collections.abc import Iterator

import pytest

from app.core.hub.updates import MAX_NOTES_CHARS, UpdatesError, newest_release, release_of
from tests.app.core.hub.link_server import LinkServer, endless, redirect, says, silent

PAGE = "https://github.com/paceline/paceline/releases/tag/v0.2.0"


def answer(tag: object = "v0.2.0", **facts: object) -> bytes:
    return json.dumps({"tag_name": tag, "body": "Faster.", "html_url": PAGE, **facts}).encode()


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[LinkServer]:
    for name in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "all_proxy"):
        monkeypatch.delenv(name, raising=False)
    with LinkServer() as running:
        yield running


@pytest.mark.parametrize(
    ("tag", "current", "is_newer"),
    [
        ("v0.2.0", "0.1.0", True),
        ("0.1.0", "0.1.0", False),
        ("v0.10.0", "0.9.1", True),
        ("v0.2.0", "0.2.1.dev3+gabc", False),
        ("v0.2.0", "0.2.0.dev1", True),
        ("v0.2.0rc1", "0.2.0", False),
    ],
)
def test_versions_are_compared_as_python_does(tag: str, current: str, is_newer: bool) -> None:
    assert release_of(answer(tag), current).is_newer is is_newer


@pytest.mark.parametrize(
    "body", [b"", b"<html>", b"[]", b"null", b"{}", answer("newest"), answer(7), answer(None), b"[" * 100_000]
)
def test_answers_that_name_no_version(body: bytes) -> None:
    with pytest.raises(UpdatesError, match="names no version"):
        release_of(body, "0.1.0")


def test_what_is_shown_is_bounded_and_leads_to_the_project_only() -> None:
    long = release_of(answer(body="a\x1b[2J\n" * 100_000), "0.1.0")
    assert len(long.notes) <= MAX_NOTES_CHARS
    assert "\x1b" not in long.notes
    for page in ("javascript:alert(1)", "https://example.org/", "https://github.com.example.org/", 7, None):
        assert release_of(answer(html_url=page, body=page), "0.1.0").page == ""


def test_it_asks_once_and_names_its_version_only(server: LinkServer) -> None:
    server.answers["/latest"] = says(200, answer())
    release = newest_release(server.url("/latest"), "0.1.0")
    assert (release.version, release.is_newer, release.notes, release.page) == ("0.2.0", True, "Faster.", PAGE)
    ((path, headers),) = server.requests
    assert path == "/latest"
    assert headers["user-agent"].startswith("paceline/")
    assert not {"cookie", "authorization", "referer"} & set(headers)


@pytest.mark.parametrize(
    ("reply", "words"),
    [
        (says(404), "No version was released"),
        (says(403), "too many requests"),
        (says(500), "HTTP 500"),
        (redirect("http://example.org/"), "HTTP 302"),
        (endless(b"x" * 100_000), "far too long"),
        (silent(2.0), "in time"),
    ],
)
def test_why_it_could_not_ask(server: LinkServer, reply: object, words: str) -> None:
    server.answers["/latest"] = reply  # type: ignore[assignment]
    with pytest.raises(UpdatesError, match=words):
        newest_release(server.url("/latest"), "0.1.0", timeout_s=0.5)
    with pytest.raises(UpdatesError, match="cannot be reached"):
        newest_release("http://127.0.0.1:9/latest", "0.1.0")
