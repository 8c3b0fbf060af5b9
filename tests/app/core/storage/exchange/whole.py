"""Reads complete exports, for tests of their content."""

import json
from pathlib import Path

from app.core.storage.chats.portable import PortableChat
from app.core.storage.exchange import own_format, reading


def read_chats(file: Path) -> list[PortableChat]:
    return list(reading.read_chats(file))


def there_and_back(*chats: PortableChat) -> list[PortableChat]:
    """Export these chats in Paceline's format and import them again."""
    return [own_format.from_data(one) for one in own_format.chats_of(json.loads("".join(own_format.to_json(chats))))]
