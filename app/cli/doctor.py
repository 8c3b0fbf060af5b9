"""`paceline doctor`: what works here, what is missing and how to get it, as text or as JSON."""

from __future__ import annotations

import argparse
import json
import sys
import textwrap
from pathlib import Path
from typing import Any

from app.cli.terminal_stream import Style, write_styled
from app.core.logs import redact
from app.core.paths import find_paths
from app.startup.doctor import Finding, Level, examine

_MARKS = {Level.OK: "ok", Level.NOTE: "note", Level.PROBLEM: "FAULT"}
_STYLES = {Level.OK: Style.GOOD, Level.NOTE: Style.WARN, Level.PROBLEM: Style.BAD}
_WIDTH = 100


def command(options: argparse.Namespace) -> int:
    """Print the findings; exit code 1 if something does not work."""
    findings = examine(find_paths())
    if options.updates:
        findings = (*findings, updates())
    num_faults = sum(finding.level is Level.PROBLEM for finding in findings)
    if options.json:
        answer = {"works": num_faults == 0, "findings": [_as_dict(finding) for finding in findings]}
        print(_without_private_paths(json.dumps(answer, ensure_ascii=False)))
    else:
        for finding in findings:
            head, words = _finding_text(finding)
            write_styled(sys.stdout, head, _STYLES[finding.level])
            print(_without_private_paths(words))
        print()
        write_styled(sys.stdout, _verdict(num_faults), Style.BAD if num_faults else Style.GOOD)
        print()
    return 1 if num_faults else 0


def updates() -> Finding:
    """Look for a newer version; no answer is a note, not a fault."""
    from app.core.hub.updates import UpdatesError, newest_release  # noqa: PLC0415  (brings the network's library)

    try:
        release = newest_release()
    except UpdatesError as error:
        return Finding("Updates", Level.NOTE, error.problem.message, error.problem.advice)
    facts = {"newest": release.version, "page": release.page or None}
    if release.is_newer:
        advice = f"See {release.page}." if release.page else ""
        return Finding("Updates", Level.NOTE, f"Paceline {release.version} is out.", advice, facts)
    return Finding("Updates", Level.OK, f"{release.version} is the newest version.", facts=facts)


def _finding_text(finding: Finding) -> tuple[str, str]:
    head = f"{_MARKS[finding.level]:>5}  "
    text = f"{finding.subject}: {finding.message}"
    lines = textwrap.wrap(text, _WIDTH - len(head), break_long_words=False, break_on_hyphens=False)
    if finding.advice:
        lines.append(f"-> {finding.advice}")
    return head, f"\n{' ' * len(head)}".join(lines)


def _verdict(num_faults: int) -> str:
    if not num_faults:
        return "Nothing is missing that Paceline needs."
    return "1 fault was found; see above." if num_faults == 1 else f"{num_faults} faults were found; see above."


def _as_dict(finding: Finding) -> dict[str, Any]:
    return {
        "subject": finding.subject,
        "level": finding.level.value,
        "message": finding.message,
        "advice": finding.advice or None,
        "facts": finding.facts,
    }


def _without_private_paths(text: str) -> str:
    """The text without the home folder's name and without tokens, since it may be shown to other people."""
    home = str(Path.home())
    return redact(text.replace(home, "~") if len(home) > 1 else text)
