"""Device options in llama.cpp's notation: names, proportions and tensor overrides."""

import re

from engine.records import DEFAULT_PLACEMENT, NO_DEVICE, Placement, SplitMode
from engine.sentences import i18n

MAX_PARTS = 16  # llama.cpp's maximum number of devices
_DEVICE = re.compile(r"[\w.:\-\[\]]+")
_SPLIT = re.compile(r"\s*(\d+(\.\d+)?\s*([,/]\s*\d+(\.\d+)?\s*){0,15})?")
_OVERRIDE = re.compile(r"[^=]+=[^=]+")


def device_names(text: str) -> tuple[str, ...]:
    """Read comma-separated names, such as "CUDA0, CUDA1".

    Raises:
        ValueError: a name is invalid, or `NO_DEVICE` is combined with others.
    """
    names = tuple(name.strip() for name in text.split(",") if name.strip())
    for name in names:
        if _DEVICE.fullmatch(name) is None:
            raise ValueError(i18n("{name} is not a device name; separate several names with commas.", name=name))
    if NO_DEVICE in names and len(names) > 1:
        raise ValueError(i18n("“none” stands for the processor alone: name it without other devices."))
    if len(names) > MAX_PARTS:
        raise ValueError(i18n("llama.cpp uses at most {most} devices.", most=MAX_PARTS))
    return names


def tensor_split(text: str) -> tuple[float, ...]:
    """Read proportions separated by commas or slashes, such as "3,1".

    Raises:
        ValueError: the text is invalid.
    """
    if _SPLIT.fullmatch(text) is None:
        raise ValueError(i18n("The shares of the devices must be numbers such as 3,1, one for each."))
    return tuple(float(part.strip()) for part in re.split(r"[,/]", text) if part.strip())


def tensor_overrides(text: str) -> tuple[tuple[str, str], ...]:
    """Read comma-separated pairs of a regular expression and a buffer type or device: "ffn_up_exps=CPU".

    Raises:
        ValueError: the text or an expression is invalid.
    """
    parts = [part.strip() for part in text.split(",") if part.strip()]
    if not all(map(_OVERRIDE.fullmatch, parts)):
        raise ValueError(i18n("A tensor override must be written as a pattern and a device, such as ffn_up=CPU."))
    pairs = [part.partition("=") for part in parts]
    for pattern, _, _ in pairs:
        try:
            re.compile(pattern)
        except re.error as error:
            raise ValueError(
                i18n("The pattern {pattern} of a tensor override is wrong: {reason}.", pattern=pattern, reason=error)
            ) from error
    return tuple((pattern.strip(), where.strip()) for pattern, _, where in pairs)


def parse_placement(
    devices: str = "",
    split_mode: str = DEFAULT_PLACEMENT.split_mode.value,
    main_device: int = 0,
    split: str = "",
    cpu_moe_layers: int | None = None,
    overrides: str = "",
) -> Placement:
    """Make a placement from the texts of the options.

    Raises:
        ValueError: one part is invalid; the message names it.
    """
    return Placement(
        device_names(devices),
        SplitMode(split_mode),
        main_device,
        tensor_split(split),
        cpu_moe_layers,
        tensor_overrides(overrides),
    )
