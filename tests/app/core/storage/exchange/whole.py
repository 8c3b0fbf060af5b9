"""Exports read as a whole, for tests of what is in them."""

from __future__ import annotations

import json
from pathlib import Path

from app.core.storage.exchange import own_format, reading
from app.core.storage.exchange.records import PortableChat


def read_chats(file: Path) -> list[PortableChat]:
    return list(reading.read_chats(file))


def there_and_back(*chats: PortableChat) -> list[PortableChat]:
    """The parts of chats that an export in Paceline's format keeps."""
    return [own_format.from_data(one) for one in own_format.chats_of(json.loads("".join(own_format.to_json(chats))))]
