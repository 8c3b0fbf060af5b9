"""llama.cpp aborts a process on any thread: the message and the exit status."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.engine.vocabularies import CONTROL, UNKNOWN, UNKNOWN_AND_ENDS, with_vocabulary

FAIL = """
import ctypes, json, sys, threading
from engine.llama import library
from engine.llama.aborts import report_aborts
from engine.llama.model import LlamaModel

report_aborts(lambda reason: print(json.dumps({"reason": reason})))
model = LlamaModel(sys.argv[1], vocab_only=True)

def fail():
    if sys.argv[2] == "exception":  # past what keeps such a text away
        model._lib.llama_tokenize(model.vocab.handle, b"xyz", 3, (ctypes.c_int32 * 50)(), 50, False, False)
    else:
        library.ggml().ggml_abort(b"file.cpp", 12, b"GGML_ASSERT(%s) failed", b"n > 0")

worker = threading.Thread(target=fail)
worker.start()
worker.join()
print("not reached")
"""


@pytest.mark.skipif(sys.platform == "win32", reason="the terminate handler has another name there")
@pytest.mark.parametrize(
    ("how", "reason"),
    [("exception", "an exception that nothing caught"), ("assertion", "file.cpp:12: GGML_ASSERT(n > 0) failed")],
)
def test_the_reason_is_told_and_the_status_is_1(tmp_path: Path, how: str, reason: str) -> None:
    tokens = with_vocabulary("llama", [*UNKNOWN_AND_ENDS, "\u2581", "a"], [UNKNOWN, CONTROL, CONTROL])
    path = tokens.write(tmp_path / "model.gguf")
    done = subprocess.run(
        [sys.executable, "-c", FAIL, str(path), how], capture_output=True, text=True, check=False, timeout=120
    )
    assert (done.returncode, json.loads(done.stdout)) == (1, {"reason": reason}), done.stderr[-500:]
    assert done.stderr == ""
