"""Tests the loopback hub itself: huggingface_hub accepts it, and its faults happen."""

from __future__ import annotations

import hashlib
import http.client
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.app.core.hub.loopback import Fault, LoopbackHub

DATA = bytes(range(256)) * 1000
LIBRARY_SPEAKS = """
import sys
from huggingface_hub import HfApi, hf_hub_download
api = HfApi()
(found,) = api.list_models(filter="gguf", search="tiny", sort="downloads", limit=5, expand=["gguf", "siblings"])
info = api.model_info("tiny/pair-GGUF", files_metadata=True)
(file,) = info.siblings
print(found.id, file.rfilename, file.size, file.lfs.sha256)
print(hf_hub_download("tiny/pair-GGUF", file.rfilename, cache_dir=sys.argv[1]))
"""


def get(hub: LoopbackHub, path: str, **headers: str) -> tuple[int, bytes]:
    connection = http.client.HTTPConnection(hub.url.removeprefix("http://"), timeout=30)
    connection.request("GET", path, headers=headers)
    answer = connection.getresponse()
    try:
        return answer.status, answer.read()
    finally:
        connection.close()


def test_the_hubs_own_library_takes_it_for_a_hub(hub: LoopbackHub, tmp_path: Path) -> None:
    hub.add_file("tiny/pair-GGUF", "folder/a-Q4_0.gguf", DATA)
    environ = {**os.environ, "HF_HOME": str(tmp_path)}
    done = subprocess.run(
        [sys.executable, "-c", LIBRARY_SPEAKS, str(tmp_path)], env=environ, capture_output=True, text=True, check=True
    )
    facts, place = done.stdout.splitlines()
    assert facts == f"tiny/pair-GGUF folder/a-Q4_0.gguf {len(DATA)} {hashlib.sha256(DATA).hexdigest()}"
    assert Path(place).read_bytes() == DATA


def test_ranges_and_faults(hub: LoopbackHub) -> None:
    hub.add_file("a/b", "m.gguf", DATA)
    address = "/a/b/resolve/main/m.gguf"
    assert get(hub, address, Range="bytes=10-19") == (206, DATA[10:20])
    assert get(hub, address, Range="bytes=10-", **{"If-Range": '"another"'}) == (200, DATA)
    assert get(hub, address, Range=f"bytes={len(DATA)}-")[0] == 416
    hub.faults.extend([Fault(cut_after=5), Fault(reset_after=5), Fault(status=503), Fault(ignore_range=True)])
    with pytest.raises(http.client.IncompleteRead):
        get(hub, address)
    with pytest.raises((ConnectionResetError, http.client.IncompleteRead)):
        get(hub, address)
    assert get(hub, address)[0] == 503
    assert get(hub, address, Range="bytes=10-19") == (200, DATA)
