"""Devices as people write them: names, proportions and overrides of tensors, in llama.cpp's own notation."""

from __future__ import annotations

import re

from engine.records import ANYWHERE, NO_DEVICE, Placement, SplitMode
from engine.sentences import said

MOST_PARTS = 16  # devices that llama.cpp can use
_DEVICE = re.compile(r"[\w.:\-\[\]]+")
_SPLIT = re.compile(r"\s*(\d+(\.\d+)?\s*([,/]\s*\d+(\.\d+)?\s*){0,15})?")
_OVERRIDE = re.compile(r"[^=]+=[^=]+")


def device_names(text: str) -> tuple[str, ...]:
    """Names between commas, such as "CUDA0, rpc:10.0.0.2:50052"; none where the text is empty.

    Raises:
        ValueError: a name cannot be one, or `NO_DEVICE` stands beside others.
    """
    names = tuple(name.strip() for name in text.split(",") if name.strip())
    for name in names:
        if _DEVICE.fullmatch(name) is None:
            raise ValueError(said("{name} is no name of a device; several are separated by commas.", name=name))
    if NO_DEVICE in names and len(names) > 1:
        raise ValueError(said("“none” stands for the processor alone: name it without other devices."))
    if len(names) > MOST_PARTS:
        raise ValueError(said("llama.cpp uses at most {most} devices.", most=MOST_PARTS))
    return names


def tensor_split(text: str) -> tuple[float, ...]:
    """Proportions between commas or slashes, such as "3,1".

    Raises:
        ValueError: what stands there are no proportions.
    """
    if _SPLIT.fullmatch(text) is None:
        raise ValueError(said("The shares of the devices must be numbers such as 3,1, one for each."))
    return tuple(float(part) for part in re.split(r"[,/]", text) if part.strip())


def tensor_overrides(text: str) -> tuple[tuple[str, str], ...]:
    """Pairs of a regular expression and a buffer type or device, such as "ffn_up_exps=CPU", between commas.

    Raises:
        ValueError: it is written otherwise, or an expression is none.
    """
    parts = [part.strip() for part in text.split(",") if part.strip()]
    if not all(map(_OVERRIDE.fullmatch, parts)):
        raise ValueError(said("A tensor override must be written as a pattern and a device, such as ffn_up=CPU."))
    pairs = [part.partition("=") for part in parts]
    for pattern, _, _ in pairs:
        try:
            re.compile(pattern)
        except re.error as error:
            raise ValueError(
                said("The pattern {pattern} of a tensor override is wrong: {reason}.", pattern=pattern, reason=error)
            ) from error
    return tuple((pattern.strip(), where.strip()) for pattern, _, where in pairs)


def written_placement(
    devices: str = "",
    split_mode: str = ANYWHERE.split_mode.value,
    main_device: int = 0,
    split: str = "",
    cpu_moe_layers: int | None = None,
    overrides: str = "",
) -> Placement:
    """All of it together.

    Raises:
        ValueError: one part is not written as it has to be; the sentence says which.
    """
    return Placement(
        device_names(devices),
        SplitMode(split_mode),
        main_device,
        tensor_split(split),
        cpu_moe_layers,
        tensor_overrides(overrides),
    )
