"""Unusable remote devices are reported in a sentence before llama.cpp uses them."""

from __future__ import annotations

import contextlib
import socket
import struct
import threading
from collections.abc import Callable, Iterator

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from engine.errors import DeviceError
from engine.llama import rpc
from engine.llama.devices import find_devices
from engine.loading.loading import LoadOptions, placement_notices
from engine.records import LoadRequest, Placement

_REQUEST_BYTES = 1 + 8 + 24
Answer = Callable[[socket.socket], object]


@contextlib.contextmanager
def server(answer: Answer) -> Iterator[str]:
    """Listen on a port; ``answer`` handles each connection after the greeting. Yields the device name."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        ends = threading.Event()

        def serve() -> None:
            listener.settimeout(0.05)
            while not ends.is_set():
                with contextlib.suppress(TimeoutError):
                    connection, _ = listener.accept()
                    with connection, contextlib.suppress(OSError):
                        assert len(connection.recv(_REQUEST_BYTES, socket.MSG_WAITALL)) == _REQUEST_BYTES
                        answer(connection)

        thread = threading.Thread(target=serve)
        thread.start()
        try:
            yield f"rpc:127.0.0.1:{listener.getsockname()[1]}"
        finally:
            ends.set()
            thread.join()


def hello(major: int, minor: int, size: int = 28) -> bytes:
    return struct.pack("<QBBBB", size, major, minor, 0, 0) + bytes(24)


@pytest.fixture(name="has_rpc", autouse=True)
def fixture_has_rpc(monkeypatch: pytest.MonkeyPatch) -> None:
    """Pretend that the build has the backend, which is not called before a server was greeted."""
    monkeypatch.setattr(rpc, "is_supported", lambda: True)
    monkeypatch.setattr(rpc, "_LIMIT_S", 0.3)


@pytest.mark.parametrize(
    ("reply", "sentence"),
    [
        (hello(6, 0), r"speaks version 6\.0, and Paceline's llama\.cpp 7\.0"),
        (hello(7, 1), r"speaks version 7\.1"),
        (hello(7, 0, size=4), "is not an RPC server of llama"),
        (b"HTTP/1.1 400 Bad Request\r\n\r\n", "is not an RPC server of llama"),
        (b"", "is not an RPC server of llama"),
    ],
)
def test_who_answers_otherwise_is_refused(reply: bytes, sentence: str) -> None:
    with server(lambda connection: connection.sendall(reply)) as name, pytest.raises(DeviceError, match=sentence):
        rpc.connect(name)


def test_a_server_that_serves_somebody_else_is_not_waited_for() -> None:
    ends = threading.Event()
    with server(lambda _connection: ends.wait(5.0)) as name:
        with pytest.raises(DeviceError, match="does not answer; it may serve another program"):
            rpc.connect(name)
        ends.set()


def test_nobody_is_there() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
    with pytest.raises(DeviceError, match=f"No RPC server answers at rpc:127.0.0.1:{port}: .+ Check|refused"):
        rpc.connect(f"rpc:127.0.0.1:{port}")


def test_a_build_without_the_backend_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rpc, "is_supported", lambda: False)
    with pytest.raises(DeviceError, match=r"cannot use rpc:10\.0\.0\.2:50052: it has no RPC backend") as raised:
        find_devices(("rpc:10.0.0.2:50052",))
    assert "GGML_RPC=ON" in raised.value.advice


@given(st.text(max_size=40))
@example("rpc:host")
@example("rpc::50052")
@example("rpc:host:0")
@example("rpc:host:65536")
@example("rpc:host:50052:1")
@example("rpc:[::1]:50052")
@example("rpc:ho st:1")
@example("rpc:host:５")
def test_what_names_no_server_is_refused_before_anything_is_asked(text: str) -> None:
    with pytest.raises(DeviceError, match="has to be rpc:host:port"):
        rpc.checked(text)


def test_a_name_is_an_address() -> None:
    assert rpc.checked("rpc:gpu-box.lan:50052") == "rpc:gpu-box.lan:50052"


def test_while_a_model_lies_there_the_server_is_not_greeted_again(monkeypatch: pytest.MonkeyPatch) -> None:
    greeted: list[str] = []
    monkeypatch.setattr(rpc, "_check_server", lambda name, _endpoint: greeted.append(name))
    monkeypatch.setitem(rpc._devices, "10.0.0.2:50052", (1,))
    name = "rpc:10.0.0.2:50052"
    assert rpc.connect(name) == (1,)
    rpc.hold(("CUDA0", name))
    rpc.hold((name,))
    rpc.release((name,))
    assert rpc.connect(name) == (1,)
    rpc.release(("CUDA0", name))
    assert greeted == [name]
    rpc.connect(name)
    assert greeted == [name, name]


def test_whoever_uses_a_server_is_warned() -> None:
    assert rpc.warning(("CUDA0", "none")) is None
    assert "no authentication" in (rpc.warning(("rpc:a:1",)) or "")
    there = Placement(("rpc:10.0.0.2:50052",))
    assert "no authentication" in placement_notices(LoadRequest("t", placement=there))[0]
    assert placement_notices(LoadRequest("t", draft_devices=there.devices)) == ()  # there is no draft
    assert placement_notices(LoadRequest("t", "d", draft_devices=there.devices)) != ()


def test_layers_may_leave_this_machine_without_a_gpu(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("engine.llama.library.supports_gpu", lambda: False)
    assert LoadOptions(placement=Placement(("rpc:10.0.0.2:50052",))).may_leave_main_memory
    assert not LoadOptions(gpu_layers=0, placement=Placement(("rpc:10.0.0.2:50052",))).may_leave_main_memory
    assert not LoadOptions().may_leave_main_memory


@pytest.mark.parametrize(
    ("reason", "is_explained"),
    [(b"ggml-rpc.cpp:41: Remote RPC server crashed or returned malformed response", True), (b"ggml.c:9: fatal", False)],
)
def test_why_llama_cpp_ends_the_program_is_written_where_it_is_seen(
    reason: bytes, is_explained: bool, capfd: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture
) -> None:
    rpc._on_abort(reason)
    written = capfd.readouterr().err
    assert written.startswith(f"paceline: {reason.decode()}\n")
    assert ("what was answered is stored" in written) is is_explained
    assert reason.decode() in caplog.text
