"""The settings about the context: overflow and caches."""

from __future__ import annotations

from app.core.domain.settings.fields import FieldKind, SettingField
from engine.records import Overflow

KEPT_CACHES = "kept_caches"
MIB = 1 << 20


def context_fields(section: str) -> tuple[SettingField, ...]:
    return (
        SettingField(
            "overflow",
            section,
            "Full context",
            FieldKind.CHOICE,
            Overflow.DROP.value,
            "What happens when a conversation no longer fits the context. You get a notice in any case.",
            choices=(
                (Overflow.DROP.value, "Leave out the oldest messages"),
                (Overflow.SUMMARISE.value, "Summarise the oldest messages"),
                (Overflow.STOP.value, "Stop and tell me"),
            ),
        ),
        SettingField(
            KEPT_CACHES,
            section,
            "Saved caches",
            FieldKind.INTEGER,
            1024,
            "Disk space for returning to a chat without reading it again. The files contain text of your chats; 0 "
            "deletes them.",
            minimum=0,
            maximum=1 << 20,
            step=256,
            unit="MiB",
        ),
    )
