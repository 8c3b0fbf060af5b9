"""The tools that may run without asking, as the settings store them: `server/tool#digest, server/tool`.

The digest is made of the tool's description when the user allowed it: if the description changes, the user is asked
again. It is a full SHA-256, since a server could find another description for a short digest in seconds.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from urllib.parse import quote, unquote

from engine.sentences import i18n

MAX_TOOLS = 1000
_NAME = re.compile(r"[a-zA-Z0-9_-]{1,64}")
_DIGEST = re.compile(r"[0-9a-f]{64}")
_ESCAPED = {char: quote(char, safe="") for char in "%,/#"}  # characters with a meaning in the line


@dataclass(frozen=True, slots=True)
class AllowedTool:
    """An allowed tool of a server; an empty ``digest`` allows any description."""

    server: str
    name: str
    digest: str = ""


def read_allowed_tools(line: str) -> tuple[AllowedTool, ...]:
    """Read the tools of a line.

    Raises:
        ValueError: a part is not ``server/tool``.
    """
    found = dict.fromkeys(_read(part.strip()) for part in line.split(",") if part.strip())
    if len(found) > MAX_TOOLS:
        raise ValueError(i18n("There are more than {most} tools.", most=MAX_TOOLS))
    return tuple(found)


def allowed_line(tools: Iterable[AllowedTool]) -> str:
    """Write the tools as a line, each tool once with its last digest."""
    kept = {(one.server, one.name): one for one in tools}
    servers = ("".join(_ESCAPED.get(char, char) for char in one.server) for one in kept.values())
    return ", ".join(
        f"{server}/{one.name}" + (f"#{one.digest}" if one.digest else "")
        for server, one in zip(servers, kept.values(), strict=True)
    )


def _read(part: str) -> AllowedTool:
    place, _, digest = part.partition("#")
    server, slash, name = place.partition("/")
    if not slash or not server or not _NAME.fullmatch(name) or (digest and not _DIGEST.fullmatch(digest)):
        raise ValueError(i18n("{part} is not of the form server/tool.", part=repr(part[:80])))
    return AllowedTool(unquote(server), name, digest)
