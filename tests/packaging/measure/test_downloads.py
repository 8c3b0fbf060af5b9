"""The measurement of downloads, scaled down: every download ends complete and right, and little is fetched twice."""

from __future__ import annotations

import importlib.util
import os
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
SIZE_BYTES = 3_000_000
SOCKET_BYTES = 400_000  # what sockets hold of a slow hub when a process is killed or a connection reset


@pytest.mark.skipif(os.name != "posix", reason="kills processes by signals")
def test_bad_networks_kills_and_full_disks() -> None:
    spec = importlib.util.spec_from_file_location("downloads", ROOT / "packaging" / "measure" / "downloads.py")
    assert spec is not None
    assert spec.loader is not None
    downloads = importlib.util.module_from_spec(spec)
    sys.modules["downloads"] = downloads  # its dataclasses look for their module there
    try:
        spec.loader.exec_module(downloads)
        results = downloads.measure(count=8, size_bytes=SIZE_BYTES, jobs=2, bytes_per_s=10e6)
    finally:
        del sys.modules["downloads"]
    figures = downloads.summary(results)
    assert figures["complaints"] == []
    assert figures["complete_and_right"] == 8
    assert figures["kills"] >= 4
    assert figures["changed"] >= 2
    assert figures["disk_filled"] >= 1
    assert figures["with_the_bound"] >= 2
    for result in results:
        if result.must_resume:
            num_breaks = len(result.plan.kills) + len(result.plan.faults)
            assert result.sent_bytes <= 1.1 * SIZE_BYTES + num_breaks * SOCKET_BYTES
