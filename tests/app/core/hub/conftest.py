"""A loopback hub, as a fixture."""

from collections.abc import Iterator

import pytest
from pytestqt.qtbot import QtBot

from app.core.paths import builtin_draft, builtin_target
from tests.app.controllers.models.place_steps import DRAFT_FILE, DRAFT_REPO, OTHER, REPO, TARGET_FILE
from tests.app.core.hub.loopback import LoopbackHub
from tests.app.fakes import AppHarness, PuppetWorker, keep_settings, open_app


@pytest.fixture
def hub(monkeypatch: pytest.MonkeyPatch) -> Iterator[LoopbackHub]:
    """A running loopback hub as HF_ENDPOINT; hides this machine's token, proxy and offline mode."""
    for name in ("HF_TOKEN", "HUGGING_FACE_HUB_TOKEN", "HF_HUB_OFFLINE", "TRANSFORMERS_OFFLINE"):
        monkeypatch.delenv(name, raising=False)
    for name in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "all_proxy"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("PYTHON_KEYRING_BACKEND", "keyring.backends.null.Keyring")
    with LoopbackHub() as running:
        monkeypatch.setenv("HF_ENDPOINT", running.url)
        yield running


@pytest.fixture
def filled(hub: LoopbackHub) -> LoopbackHub:
    """A hub with a pair of models and a model in another repository."""
    hub.add_file(REPO, TARGET_FILE, builtin_target())
    hub.add_file(DRAFT_REPO, DRAFT_FILE, builtin_draft())
    hub.describe(DRAFT_REPO, downloads=300, tags=["gguf", "license:mit"], gguf={"architecture": "llama"})
    hub.add_file(REPO, "mmproj-tiny-f16.gguf", b"GGUF" + bytes(1000))
    facts = {"architecture": "llama", "total": 8_100_000, "context_length": 2048}
    hub.describe(REPO, downloads=1200, tags=["gguf", "license:mit"], gguf=facts)
    hub.add_file(OTHER, "other-Q8_0.gguf", builtin_draft())
    hub.describe(OTHER, downloads=7, tags=["gguf"])
    return hub


@pytest.fixture
def harness(filled: LoopbackHub, qtbot: QtBot) -> Iterator[AppHarness]:
    """The app with that hub."""
    keep_settings({"target_path": "", "draft_path": ""})
    opened = open_app(PuppetWorker)
    yield opened
    opened.close()
