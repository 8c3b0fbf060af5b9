"""A short download measurement: every download ends complete and correct, and little is fetched twice."""

import os

import pytest

from tests.app.core.hub.downloads import bad_networks

SIZE_BYTES = 3_000_000
SOCKET_BYTES = 400_000  # socket buffers of a slow hub when a process is killed or a connection reset


@pytest.mark.skipif(os.name != "posix", reason="kills processes by signals")
def test_bad_networks_kills_and_full_disks() -> None:
    results = bad_networks.measure(count=8, size_bytes=SIZE_BYTES, jobs=2, bytes_per_s=10e6)
    figures = bad_networks.summary(results)
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
