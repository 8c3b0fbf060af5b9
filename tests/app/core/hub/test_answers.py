"""Tests which answers of a hub are accepted: fuzzed fields, path tricks, huge lists. Nothing crashes or escapes."""

import contextlib
import json
import random
import tracemalloc
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.core.domain.models import DownloadRequest, RepoSummary
from app.core.hub.client import MAX_FILES, HubClient, details_of, parse, summaries_of, summary_of
from app.core.hub.downloads.transfer import FileRequest, RetryPolicy, StoppedError, TransferControl, fetch
from app.core.hub.errors import HubAnswerError, HubError, UnsafeNameError
from app.core.hub.file_names import safe_parts
from app.core.hub.library.library import Library
from app.core.hub.records import RepoDetails
from tests.app.core.hub.loopback import Fault, LoopbackHub

REPO = "tiny/pair-GGUF"
ANSWER: dict[str, Any] = {
    "id": REPO, "sha": "a" * 40, "downloads": 7, "likes": 1, "gated": False, "lastModified": "2026-01-01T00:00:00Z",
    "tags": ["gguf", "license:mit"], "gguf": {"architecture": "llama", "total": 9, "context_length": 512},
    "cardData": {"license": "mit", "base_model": "a/b"},
    "siblings": [
        {"rfilename": "m-Q4_0.gguf", "size": 9, "lfs": {"sha256": "b" * 64, "size": 9, "pointerSize": 134}},
        {"rfilename": "README.md", "size": 3},
    ],
}  # fmt: skip
TOKEN = "hf_" + "canaryCANARY0123456789"
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=200) | st.just("a/b"),
    lambda inner: (
        st.lists(inner, max_size=5) | st.dictionaries(st.sampled_from([*ANSWER, "rfilename"]), inner, max_size=6)
    ),
    max_leaves=30,
)
TRICKS = [
    None, True, -1, 0, 2**70, 1e400, float("nan"), "", "x" * 10**6, "../../a.gguf", "/a.gguf", "C:\\a.gguf", "a\0.gguf",
    "nul.gguf", [], {}, [[]], [None] * 1000, {"a": {"b": []}}, "a/../../b", "\u202e", "\ud800",
]  # fmt: skip


def checked(summary: RepoSummary) -> None:
    assert summary.repo_id.count("/") == 1
    assert ".." not in summary.repo_id
    for count in (summary.downloads, summary.num_parameters, summary.context_length):
        assert count is None or (isinstance(count, int) and not isinstance(count, bool) and 0 <= count < 2**63)
    assert isinstance(summary.gated, bool)
    assert all(len(text) <= 120 and text.isprintable() for text in (summary.licence, summary.architecture))
    assert summary.updated is None or summary.updated.tzinfo is not None


def checked_details(details: RepoDetails) -> None:
    checked(details.summary)
    for model in details.models:
        for file in model.files:
            assert "/".join(safe_parts(file.path)) == file.path
            assert file.size_bytes is None or file.size_bytes >= 0
            assert len(file.sha256) in (0, 64)


@settings(max_examples=300)
@given(JSON)
def test_any_json_gives_records_or_a_sentence(answer: object) -> None:
    with contextlib.suppress(HubAnswerError):
        for summary in summaries_of(answer, 50):
            checked(summary)
    with contextlib.suppress(HubAnswerError):
        checked_details(details_of(answer, REPO))


def mutated(draw: random.Random) -> Any:  # noqa: ANN401 (whatever a hub may send)
    """A valid answer with one to four fields, at any depth, replaced by hostile values or removed."""
    answer = json.loads(json.dumps(ANSWER))
    for _ in range(draw.randint(1, 4)):
        place: Any = answer
        while True:
            keys = list(place) if isinstance(place, dict) else list(range(len(place)))
            if not keys:
                break
            key = draw.choice(keys)
            if isinstance(place[key], dict | list) and place[key] and draw.random() < 0.6:
                place = place[key]
                continue
            if draw.random() < 0.15:
                del place[key]
            else:
                place[key] = draw.choice(TRICKS)
            break
    return answer


def test_500_mutated_answers(tmp_path: Path) -> None:
    draw = random.Random(4)  # noqa: S311 (cases, no secret)
    library = Library(tmp_path / "models", tmp_path / "library.json")
    num_details = 0
    for _ in range(500):
        try:
            details = details_of(mutated(draw), REPO)
        except HubAnswerError:
            continue
        num_details += 1
        checked_details(details)
        for model in details.models:
            request = DownloadRequest(details.summary.repo_id, model)
            for file in request.model.files:
                place = library.path_for(request.repo_id, file.path)
                assert place.resolve().is_relative_to(library.folder.resolve())
    assert num_details > 250
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("body", [b"", b"{", b"\xff\xfe\x00", b"[" * 100_000, b"<html>down</html>", b"NaN,"], ids=ascii)
def test_what_is_no_json_is_a_sentence(body: bytes) -> None:
    with pytest.raises(HubAnswerError, match="not JSON"):
        parse(body)


def test_a_huge_list_is_bounded() -> None:
    siblings = [{"rfilename": f"{number}.gguf", "size": 1} for number in range(MAX_FILES + 500)]
    assert len(details_of({**ANSWER, "siblings": siblings}, REPO).models) == MAX_FILES
    assert len(summaries_of([ANSWER] * 5000, 10_000)) == 1000


def test_good_fields_are_taken() -> None:
    summary = summary_of({**ANSWER, "gated": "auto", "cardData": {"license": "other", "license_name": "gemma"}})
    assert summary is not None
    assert (summary.gated, summary.licence) == (True, "gemma")


# ---- over the wire -----------------------------------------------------------------------------------------------


@pytest.fixture
def client(hub: LoopbackHub) -> Iterator[HubClient]:
    hub.add_file(REPO, "m-Q4_0.gguf", b"GGUF" + bytes(100_000))
    opened = HubClient(timeout_s=20)
    yield opened
    opened.close()


def test_an_endless_answer_is_cut_off(hub: LoopbackHub, client: HubClient) -> None:
    hub.answers["/api/models"] = b"[" + b'"' + b"x" * (40 << 20)
    tracemalloc.start()
    with pytest.raises(HubAnswerError, match="far too long"):
        client.search("x")
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 100 << 20


HEADERS = [
    ("Content-Length", "-1"), ("Content-Length", "99999999999999999999"), ("ETag", ""), ("ETag", "x" * 5000),
    ("ETag", '"../../x"'), ("X-Linked-Size", "nan"), ("X-Linked-Size", "٣"), ("X-Linked-Etag", "\\"),
    ("X-Repo-Commit", "../" * 9), ("Location", "http://127.0.0.1:1/"), ("Location", "//x"), ("Location", "\\\\x\\y"),
    ("Content-Range", "bytes 5-1/0"), ("Content-Encoding", "gzip"), ("Retry-After", "9" * 400), ("Location", "ftp://x/"),
]  # fmt: skip


def test_100_odd_headers_leave_no_wrong_file_and_leak_no_token(
    hub: LoopbackHub, client: HubClient, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Impatient(TransferControl):
        def wait(self, seconds: float) -> None:
            if seconds > 10:
                raise StoppedError
            super().wait(0)

    monkeypatch.setenv("HF_TOKEN", TOKEN)
    draw = random.Random(6)  # noqa: S311 (cases, no secret)
    retry_policy = RetryPolicy(max_failures=2, first_wait_s=0.0, max_wait_s=0.0)
    with LoopbackHub() as stranger:
        for number in range(100):
            names = [(name, value) for name, value in draw.sample(HEADERS, 2) if value.isascii()]
            names.append(("Location", f"{stranger.url}/blob-store/x"))
            fault = Fault(status=draw.choice([0, 200, 206, 302, 307, 401, 404, 416, 429, 500]), headers=tuple(names))
            hub.faults.extend([fault] if draw.random() < 0.5 else [])
            hub.refusals.extend([fault] if draw.random() < 0.5 and fault.status else [])
            place = tmp_path / f"{number}" / "m.gguf"
            try:
                fetch(
                    client,
                    FileRequest(REPO, "m-Q4_0.gguf", place, tmp_path / "locks"),
                    Impatient(),
                    retry_policy,
                )
            except (HubError, StoppedError, UnsafeNameError):
                assert not place.exists()
            else:
                assert place.read_bytes() == b"GGUF" + bytes(100_000)
            hub.faults.clear()
            hub.refusals.clear()
        assert TOKEN not in str([dict(seen.headers) for seen in stranger.requests])
