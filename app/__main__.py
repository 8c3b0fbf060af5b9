"""`python -m app` and the command `paceline`: opens the window, or runs a command or a helper process."""

import sys
from collections.abc import Sequence

from engine.sandbox.helper import CHILD_FLAG, ENGINE_FLAG, run_as_helper


def main(argv: Sequence[str] | None = None) -> int:
    """Run a helper process if a frozen build was started as one, otherwise the command line."""
    words = list(sys.argv[1:] if argv is None else argv)
    if words[:1] == [CHILD_FLAG]:
        run_as_helper(words[1:])
    if words[:1] == [ENGINE_FLAG]:
        from engine.process.child import main as be_the_engine  # noqa: PLC0415

        return be_the_engine()
    if not words:
        from app.cli.window import command as show_window  # noqa: PLC0415  (it waits for no parser)

        return show_window()
    if len(words) == 1 and words[0].lower().endswith(".gguf"):  # a file manager passes only the file
        from app.cli.window import command as show_window  # noqa: PLC0415

        return show_window(file=words[0])
    from app.cli.parser import main as run_command  # noqa: PLC0415  (a helper needs none of it)

    return run_command(words)


if __name__ == "__main__":
    sys.exit(main())
