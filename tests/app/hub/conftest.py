"""A hub of this machine for every test that asks for one."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.app.hub.loopback import LoopbackHub


@pytest.fixture
def hub(monkeypatch: pytest.MonkeyPatch) -> Iterator[LoopbackHub]:
    """A running loopback hub that HF_ENDPOINT names; no token, proxy or offline mode of this machine is seen."""
    for name in ("HF_TOKEN", "HUGGING_FACE_HUB_TOKEN", "HF_HUB_OFFLINE", "TRANSFORMERS_OFFLINE"):
        monkeypatch.delenv(name, raising=False)
    for name in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "all_proxy"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("PYTHON_KEYRING_BACKEND", "keyring.backends.null.Keyring")
    with LoopbackHub() as running:
        monkeypatch.setenv("HF_ENDPOINT", running.url)
        yield running
