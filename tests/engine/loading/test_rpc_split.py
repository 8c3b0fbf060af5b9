"""Tests real llama.cpp RPC servers on loopback: a model split over two has equal answers and the estimated memory.

They need a build of this llama.cpp with ``GGML_RPC=ON``: PACELINE_RPC_BUILD names the folder of its libraries and of
``ggml-rpc-server``.
"""

from __future__ import annotations

import contextlib
import json
import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from app.core.benchmark.peers.llama_server import free_ports
from tests.engine.moe_factory import tiny_moe

BUILD = os.environ.get("PACELINE_RPC_BUILD", "")
pytestmark = pytest.mark.skipif(not BUILD, reason="PACELINE_RPC_BUILD names no build of llama.cpp with RPC")
ROOT = Path(__file__).parents[3]
N_LAYER = 10
LIMIT_S = 300.0


@contextlib.contextmanager
def rpc_server(port: int) -> Iterator[subprocess.Popen[bytes]]:
    """A server with one thread, once it listens."""
    command = [str(Path(BUILD) / "ggml-rpc-server"), "--host", "127.0.0.1", "--port", str(port), "--threads", "1"]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        try:
            for _ in range(200):
                with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), 1.0):
                    break
                time.sleep(0.05)
            yield process
        finally:
            process.kill()


@pytest.fixture(name="servers", scope="module")
def fixture_servers() -> Iterator[tuple[str, str]]:
    one, two = free_ports(2)
    with rpc_server(one), rpc_server(two):
        yield f"rpc:127.0.0.1:{one}", f"rpc:127.0.0.1:{two}"


@pytest.fixture(name="moe", scope="module")
def fixture_moe(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tiny_moe(N_LAYER, 32).write(tmp_path_factory.mktemp("moe") / "moe.gguf")


def command(question: str, model: Path | str, servers: tuple[str, ...]) -> list[str]:
    return [sys.executable, "-m", "tests.engine.loading.rpc_child", question, str(model), *servers]


def environment() -> dict[str, str]:
    return {**os.environ, "LLAMA_CPP_LIB_PATH": BUILD}


def ask(question: str, model: Path | str, servers: tuple[str, ...]) -> Any:  # noqa: ANN401
    done = subprocess.run(
        command(question, model, servers),
        capture_output=True, check=False, cwd=ROOT, env=environment(), timeout=LIMIT_S, text=True,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-2000:]
    return json.loads(done.stdout.splitlines()[-1])


def test_split_over_two_servers_the_ids_are_the_local_ones(servers: tuple[str, str]) -> None:
    told = ask("answers", "none", servers)
    local = told.pop("local")
    assert len(local["off"]) > 10
    assert local["draft"] == local["off"]
    assert set(told) == {"split", "uneven", "one", "tensors"}
    for place, answers in told.items():
        assert answers == local, place


def test_each_device_has_what_was_estimated(moe: Path, servers: tuple[str, str]) -> None:
    told = ask("memory", moe, servers)
    layers = [{name: use["num_layers"] for name, use in one["uses"].items()} for one in told]
    whole = N_LAYER + 1
    assert [sum(one.values()) for one in layers] == [whole] * len(told)
    assert [one["RPC0"] > 0 for one in layers] == [True] * 5 + [False] if "RPC0" in layers[-1] else True
    assert layers[1]["RPC1"] > layers[1]["RPC0"]
    assert layers[2]["RPC0"] > layers[2]["RPC1"]
    assert layers[5] == {"RPC1": 4, "CPU": 7}
    for one in told:
        for name, estimated in one["estimated"].items():
            use = one["uses"][name]
            real = use["weights_bytes"] + use["cache_bytes"] + use["compute_bytes"]
            assert estimated == pytest.approx(real, rel=0.05), (name, one)
    experts = 32 * 3 * 256 * 512 * 9 // 16  # bytes of a layer's experts in q4_0
    assert told[3]["uses"]["CPU"]["weights_bytes"] == pytest.approx(4 * experts, rel=0.03)
    moved = told[4]["uses"]["RPC1"]["weights_bytes"] - told[0]["uses"]["RPC1"]["weights_bytes"]
    assert moved == pytest.approx(experts, rel=0.03)


def test_compute_buffers_of_known_models_are_as_llama_cpp_plans_them(servers: tuple[str, str]) -> None:
    for one in ask("planned", "none", servers):
        assert one["estimated"] == pytest.approx(one["compute"], rel=0.06), one


def test_where_a_device_is_short_experts_stay_in_main_memory(moe: Path, servers: tuple[str, str]) -> None:
    told = ask("short", moe, servers)
    assert 0 < told["layers"] < N_LAYER
    assert told["gpu_layers"] == N_LAYER + 1  # everything else is there
    assert 0.6 * told["free"] < told["taken"]["RPC0"] <= told["free"]
    assert any(f"the experts of {told['layers']} layers stay in main memory" in one for one in told["notices"])


def test_devices_can_be_asked_while_a_model_lies_on_them(servers: tuple[str, str]) -> None:
    told = ask("listed", "none", servers)
    assert told["rpc"] is True
    assert [one["name"] for one in told["before"]] == ["RPC0", "RPC1"]
    assert [one["description"] for one in told["before"]] == [name.removeprefix("rpc:") for name in servers]
    assert all(one["free_bytes"] > 0 and one["kind"] == "remote" for one in told["while"])
    assert told["gpus"] == 0  # the backend alone is not a GPU


def test_a_split_that_the_devices_do_not_know_is_a_sentence(servers: tuple[str, str]) -> None:
    error = ask("rows", "none", servers)["error"]
    assert "cannot be split that way: device RPC0 does not support split buffers" in error


def test_a_busy_server_is_reported_and_does_not_hang(servers: tuple[str, str]) -> None:
    host, port = servers[0].removeprefix("rpc:").split(":")
    with socket.create_connection((host, int(port)), 5.0):
        assert "may serve another program" in ask("listed", "none", servers)["error"]


def test_a_connection_that_breaks_ends_the_program_with_a_sentence() -> None:
    (port,) = free_ports(1)
    name = f"rpc:127.0.0.1:{port}"
    with rpc_server(port) as server:
        child = subprocess.Popen(
            command("lost", "none", (name,)),
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            cwd=ROOT, env=environment(), text=True,
        )  # fmt: skip
        assert child.stdout is not None
        assert child.stdout.readline() == "ready\n"
        server.kill()
        server.wait()
        _, errors = child.communicate("go\n", timeout=LIMIT_S)
    assert child.returncode != 0
    assert "The connection to an RPC server broke" in errors
