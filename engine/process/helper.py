"""Where a short-lived helper of this program begins: ``python -m engine.process.helper NAME ...``."""

from __future__ import annotations

import sys


def main(arguments: list[str]) -> int:  # noqa: C901, PLR0912 (a branch for each helper)
    """Be the helper that ``arguments`` name; return its exit status."""
    name, rest = arguments[0], arguments[1:]
    # Imported here, and by name: a helper needs only its own, and tools that freeze programs must see all of them.
    if name == "template":
        from engine.sandbox.template_child import main as be_helper  # noqa: PLC0415
    elif name == "probe":
        from engine.sandbox.probe_child import main as be_helper  # noqa: PLC0415
    elif name == "kernels":
        from engine.sandbox.kernel_child import main as be_helper  # noqa: PLC0415
    elif name == "gpus":
        from engine.sandbox.gpu_child import main as be_helper  # noqa: PLC0415
    elif name == "pairs":
        from engine.sandbox.pair_child import main as be_helper  # noqa: PLC0415
    elif name == "grammar":
        from engine.sandbox.grammar_check import main as be_helper  # noqa: PLC0415
    elif name == "heads":
        from engine.sandbox.head_child import main as be_helper  # noqa: PLC0415
    elif name == "self-draft":
        from engine.sandbox.self_draft_child import main as be_helper  # noqa: PLC0415
    elif name == "devices":
        from engine.sandbox.device_child import main as be_helper  # noqa: PLC0415
    elif name == "guard":
        from engine.sandbox.guard_child import main as be_helper  # noqa: PLC0415
    elif name == "library":
        from engine.sandbox.library_child import main as be_helper  # noqa: PLC0415
    elif name == "sides":
        from engine.sandbox.side_child import main as be_helper  # noqa: PLC0415
    elif name == "embeddings":
        from engine.sandbox.embedding_child import main as be_helper  # noqa: PLC0415
    elif name == "picture":
        from engine.sandbox.picture_child import main as be_helper  # noqa: PLC0415
    else:
        raise ValueError(f"there is no helper called {name!r}")
    return be_helper(rest)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
