"""Sessions with generated models that have heads, and their answers."""

from collections.abc import Callable
from pathlib import Path

from engine.records import ChatRequest, EngineReady, Finished, LoadRequest
from engine.session.session import Session
from tests.engine.answers import PROMPT
from tests.engine.gguf_factory import GgufFile, Kind, tiny_llama
from tests.engine.heads.head_factory import (
    assistant_for,
    dflash_for,
    eagle3_for,
    head_only,
    markov_qwen35,
    qwen35_with_mtp,
    tiny_gemma4,
    tiny_hy_v3,
)
from tests.engine.hybrid_factory import tiny_qwen35
from tests.exact import agree


def longer(make: Callable[[], GgufFile]) -> GgufFile:
    """The file that ``make`` writes, with a context of 1,024 tokens."""
    return make().with_metadata(llama__context_length=(Kind.UINT32, 1024))


KINDS: dict[str, tuple[Callable[[], GgufFile], Callable[[], GgufFile] | None]] = {
    "mtp": (qwen35_with_mtp, None),
    "mtp that agrees": (lambda: markov_qwen35(0.3), None),
    "mtp file": (tiny_qwen35, lambda: head_only(qwen35_with_mtp())),
    "three layers": (tiny_hy_v3, None),
    "eagle3": (lambda: longer(tiny_llama), eagle3_for),
    "eagle3 with its own tokens": (lambda: longer(tiny_llama), lambda: eagle3_for(own=True)),
    "dflash": (lambda: longer(tiny_llama), dflash_for),
    "dflash2": (lambda: longer(tiny_llama), lambda: dflash_for(num_candidates=4)),
    "assistant": (tiny_gemma4, assistant_for),
    "dspark": (lambda: longer(tiny_llama), lambda: dflash_for(markov_rank=4, own=True)),
}


def load(
    folder: Path, target: GgufFile, head: GgufFile | None = None, **options: object
) -> tuple[Session, EngineReady]:
    files = [target.write(folder / "target.gguf"), head.write(folder / "head.gguf") if head is not None else None]
    session = Session()
    # One thread: the number of threads that share a row changes its last bits, and the tuned number differs between
    # machines.
    usual: dict[str, object] = {"n_ctx": 512, "threads": 1}
    request = LoadRequest(str(files[0]), str(files[1]) if files[1] else None, **(usual | options))  # type: ignore[arg-type]
    return session, session.load(request)


def agrees(session: Session, plain: Finished, other: Finished, prompt: str = PROMPT) -> bool:
    """Whether two greedy answers are equal, as far as the target is exact; see `tests.exact.agree`."""
    return agree(session, ChatRequest(raw_prompt=prompt), plain.token_ids, other.token_ids)
