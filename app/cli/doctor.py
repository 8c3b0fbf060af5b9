"""`paceline doctor`: what works here, what is missing and how to get it, as text or as JSON."""

import argparse
import sys
import textwrap

from app.cli.output import counted_text, print_json
from app.cli.terminal_stream import Style, write_styled
from app.core.doctor import Level, examine
from app.core.paths import find_paths

_MARKS = {Level.OK: ("ok", Style.GOOD), Level.NOTE: ("note", Style.WARN), Level.PROBLEM: ("FAULT", Style.BAD)}
_WIDTH = 100
_INDENT = 7  # the width of a mark with its spaces


def command(options: argparse.Namespace) -> int:
    """Print the findings; exit code 1 if something does not work."""
    findings = examine(find_paths())
    num_faults = sum(finding.level is Level.PROBLEM for finding in findings)
    if options.json:
        print_json({"works": num_faults == 0, "findings": findings})
        return int(num_faults > 0)
    for finding in findings:
        mark, style = _MARKS[finding.level]
        write_styled(sys.stdout, f"{mark:>{_INDENT - 2}}  ", style)
        text = f"{finding.subject}: {finding.message}"
        lines = textwrap.wrap(text, _WIDTH - _INDENT, break_long_words=False, break_on_hyphens=False)
        print(f"\n{' ' * _INDENT}".join([*lines, *([f"-> {finding.advice}"] if finding.advice else [])]))
    verdict = f"{counted_text(num_faults, 'fault was', 'faults were')} found; see above."
    print()
    write_styled(
        sys.stdout,
        verdict if num_faults else "Nothing is missing that Paceline needs.",
        Style.BAD if num_faults else Style.GOOD,
    )
    print()
    return int(num_faults > 0)
