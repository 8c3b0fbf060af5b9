"""Device options in llama.cpp's notation: names and proportions."""

import re

from engine.records import DEFAULT_PLACEMENT, NO_DEVICE, Placement, SplitMode
from engine.sentences import i18n

MAX_PARTS = 16  # llama.cpp's maximum number of devices
_DEVICE = re.compile(r"[\w.:\-\[\]]+")
_SPLIT = re.compile(r"\s*(\d+(\.\d+)?\s*([,/]\s*\d+(\.\d+)?\s*){0,15})?")


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


def parse_placement(
    devices: str = "",
    split_mode: str = DEFAULT_PLACEMENT.split_mode.value,
    split: str = "",
    cpu_moe_layers: int | None = None,
) -> Placement:
    """Make a placement from the texts of the options.

    Raises:
        ValueError: one part is invalid; the message names it.
    """
    return Placement(device_names(devices), SplitMode(split_mode), tensor_split(split), cpu_moe_layers)
