"""The rows of the settings about the context: what happens when it is full, and the caches that are kept."""

from __future__ import annotations

from app.domain.settings.fields import FieldKind, SettingField
from engine.records import Overflow

KEPT_CACHES = "kept_caches"
MIB = 1 << 20


def context_fields(section: str) -> tuple[SettingField, ...]:
    """Give them for a section of the settings."""
    return (
        SettingField(
            "overflow",
            section,
            "Full context",
            FieldKind.CHOICE,
            Overflow.DROP.value,
            "What happens when a conversation outgrows the context; either way you are told.",
            choices=(
                (Overflow.DROP.value, "Leave the oldest turns out"),
                (Overflow.SUMMARISE.value, "Summarise the oldest turns"),
                (Overflow.STOP.value, "Stop and say so"),
            ),
        ),
        SettingField(
            KEPT_CACHES,
            section,
            "Kept caches",
            FieldKind.INTEGER,
            1024,
            "Disk for coming back to a chat without reading it again; it holds what was said. 0 deletes it all.",
            minimum=0,
            maximum=1 << 20,
            step=256,
            unit="MiB",
        ),
    )
