"""Finds the side file (mmproj) of a vision model, and checks its header before llama.cpp opens it.

Names of keys and tensors are from llama.cpp's tools/mtmd/clip.cpp.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from engine.errors import ModelFileError, SideFileError
from engine.gguf.header import GgufHeader, read_header
from engine.gguf.model_kind import is_own_projector
from engine.gguf.source import open_for_reading
from engine.sentences import i18n

if TYPE_CHECKING:  # the window appears before NumPy is needed
    import numpy as np
    from numpy.typing import NDArray

_ARCHITECTURE = "clip"
# For each projector, tensors whose number of rows (True: columns) is the width of the text model; libmtmd checks the
# others. The key ``projection_dim`` is unusable, since older files store the encoder's own width.
_WIDTHS: dict[str, tuple[tuple[str, bool], ...]] = {
    "mlp": (("mm.3.bias", False), ("mm.2.weight", True)),
    "qwen2vl_merger": (("mm.2.bias", False),),
    "qwen2.5vl_merger": (("mm.2.bias", False),),
    "qwen3vl_merger": (("mm.2.bias", False),),  # a row has several parts (DeepStack), each of the text model's width
    "gemma3": (("mm.input_projection.weight", False),),
    "gemma4v": (("mm.input_projection.weight", True),),
    "pixtral": (("mm.2.weight", True),),
    "idefics3": (("mm.model.fc.weight", True),),
    "internvl": (("mm.model.mlp.3.weight", True),),
    "lfm2": (("mm.2.weight", True),),
}
# Prefixes of the architectures that a projector fits. Projectors that are not listed, such as LLaVA's, fit any.
_QWEN = ("qwen2vl", "qwen3vl", "qwen35")
_FAMILIES = {
    "qwen2vl_merger": _QWEN,
    "qwen2.5vl_merger": _QWEN,
    "qwen3vl_merger": _QWEN,
    "gemma3": ("gemma3",),
    "gemma4v": ("gemma",),
    "gemma4uv": ("gemma",),
    "lfm2": ("lfm2",),
}
# Projectors whose embeddings depend on the rest of the prompt, which the encoder does not get.
_DEPENDENT = ("hunyuanvl", "deepseek4v")
# Maximum number of embeddings of a picture, for projectors with non-causal attention.
_MAX_EMBEDDINGS = {"gemma4v": 1_120, "gemma4uv": 1_120, "gemma3": 256}
_RANGES = {
    "vision.block_count": (0, 1_024),
    "vision.embedding_length": (1, 65_536),
    "vision.attention.head_count": (0, 1_024),
    "vision.image_size": (1, 16_384),
    "vision.patch_size": (1, 1_024),
}
_ROW_END_TOKENS = "v.token_embd.img_break"
_FLOATS = {"F32": "<f4", "F16": "<f2"}
_MAX_LISTED_FILES = 200  # maximum number of files of a folder that are checked
_PREFERRED = ("f16", "bf16", "f32", "q8_0")  # preferred types; most encoders are published in half precision


def find_side_file(target: Path) -> Path | None:
    """Find a side file in a model's folder that fits by name and header."""
    try:
        names = sorted(path.name for path in target.parent.glob("*.gguf") if path.name != target.name)
        own = [target.parent / name for name in names[:_MAX_LISTED_FILES] if is_own_projector(name, target.name, names)]
        if not own:  # true for most models; saves reading the header
            return None
        header = read_header(target)
    except (OSError, ModelFileError):
        return None
    return min((path for path in own if _fits(path, header)), key=_preference, default=None)


def _preference(path: Path) -> int:
    low = path.name.lower()
    return next((rank for rank, kind in enumerate(_PREFERRED) if kind in low), len(_PREFERRED))


def _fits(path: Path, target: GgufHeader) -> bool:
    try:
        check_side_file(path, target)
    except ModelFileError:
        return False
    return True


def check_side_file(path: Path, target: GgufHeader) -> None:
    """Check that a file is a complete side file for pictures and fits the width of ``target``.

    Raises:
        ModelFileError: the file does not fit, or cannot be read.
    """
    try:
        header = read_header(path)
    except ModelFileError as error:
        raise SideFileError(error.message) from error
    name = path.name
    if header.architecture != _ARCHITECTURE:
        raise SideFileError(
            i18n(
                "{name} is not a side file (mmproj): its architecture is {architecture}, not clip.",
                name=name,
                architecture=header.architecture[:40] or i18n("not given"),
            )
        )
    if header.metadata.get("clip.has_vision_encoder") is not True:
        raise SideFileError(i18n("{name} does not see: it has no encoder for pictures.", name=name))
    for key, (least, most) in _RANGES.items():
        number = header.arch_value(key)
        if number is None or isinstance(number, bool) or not isinstance(number, int) or not least <= number <= most:
            raise SideFileError(i18n("{name} is damaged: its {key} is {number}.", name=name, key=key, number=number))
    projector = _projector(header)
    if projector in _DEPENDENT:
        raise SideFileError(
            i18n("{name} is of a kind that is not supported ({projector}).", name=name, projector=projector),
            "Choose another model that sees pictures.",
        )
    family = _FAMILIES.get(projector)
    if family is not None and not target.architecture.startswith(family):
        raise SideFileError(
            i18n(
                "{name} belongs to another model: it is for {family}, and this one is {architecture}.",
                name=name,
                family=family[0],
                architecture=target.architecture,
            )
        )
    width, wanted = row_width(header), target.arch_value("embedding_length")
    if width is not None and width != wanted:
        raise SideFileError(
            i18n(
                "{name} belongs to another model: it gives {width} numbers per position, this model takes {wanted}.",
                name=name,
                width=width,
                wanted=wanted,
            )
        )


def picture_ubatch(path: Path) -> int:
    """Number of embeddings that the largest picture needs in one pass; 0 if passes may be smaller.

    Raises:
        ModelFileError: the header cannot be read.
    """
    return _MAX_EMBEDDINGS.get(_projector(read_header(path)), 0)


def row_width(header: GgufHeader) -> int | None:
    """Width of the encoder's embeddings; None if the header does not specify it."""
    dims = {tensor.name: tensor.dims for tensor in header.tensors}
    for name, by_columns in _WIDTHS.get(_projector(header), ()):
        if name in dims and len(dims[name]) > by_columns:
            return int(dims[name][by_columns])
    return None


def row_end(path: Path) -> NDArray[np.float32] | None:
    """The row [width] that ends each row of patches (Pixtral), if the file has one in floating point.

    llama.cpp's own result may be NaN, since it multiplies uninitialized memory by 0 (`clip_graph_pixtral::build`).
    """
    header = read_header(path)
    tensor = next((one for one in header.tensors if one.name == _ROW_END_TOKENS and one.type_name in _FLOATS), None)
    if tensor is None:
        return None
    with open_for_reading(path) as (read_at, _):
        data = read_at(header.data_offset + tensor.offset, tensor.num_bytes)
    import numpy as np  # noqa: PLC0415  (as above)

    return np.frombuffer(data, dtype=_FLOATS[tensor.type_name]).astype(np.float32)


def _projector(header: GgufHeader) -> str:
    return str(header.metadata.get("clip.projector_type") or header.metadata.get("clip.vision.projector_type") or "")
