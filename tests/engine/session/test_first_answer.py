"""The first answer of a process does not wait for anything that could have been loaded with the model."""

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[3]
# In a separate process: this one has imported much already.
ANSWER = """
import sys
from app.core.paths import builtin_draft, builtin_target
from engine.records import ChatRequest, Finished, LoadRequest, Message, Mode, SamplingParams
from engine.session.session import Session

session = Session()
session.load(LoadRequest(str(builtin_target()), str(builtin_draft())))
loaded = set(sys.modules)
for temperature in (0.0, 0.8):
    sampling = SamplingParams(temperature, top_k=40, min_p=0.05, repeat_penalty=1.1)
    request = ChatRequest((Message("user", "Say: blue."),), Mode.AUTO, None, sampling, max_tokens=16)
    (end,) = (event for event in session.generate(request) if isinstance(event, Finished))
    assert end.stats.tokens
session.close()
print(*sorted(set(sys.modules) - loaded))
"""


def test_nothing_is_imported_while_somebody_waits_for_words() -> None:
    done = subprocess.run(
        [sys.executable, "-c", ANSWER], cwd=ROOT, capture_output=True, text=True, check=False, timeout=120
    )
    assert done.returncode == 0, done.stderr[-2000:]
    assert done.stdout.split() == []
