"""The settings about the engine: memory, threads and devices.

A change of any of these loads the models again.
"""

from __future__ import annotations

from app.core.domain.devices import MOST_PARTS, device_names, tensor_overrides, tensor_split
from app.core.domain.settings.fields import FieldKind, SettingField
from engine.records import CacheType, FlashAttention, SplitMode

ENGINE, DEVICES = "Engine", "Devices"
_CACHE_CHOICES = (
    (CacheType.F16.value, "f16"),
    (CacheType.Q8_0.value, "q8_0 (half the memory)"),
    (CacheType.Q4_0.value, "q4_0 (a quarter)"),
)

_DEVICE_FIELDS: tuple[SettingField, ...] = (
    SettingField(
        "device",
        DEVICES,
        "Device",
        FieldKind.DEVICES,
        "",
        "The devices that hold the model, separated by commas. “none” uses the processor alone; rpc:host:port is a "
        "computer that runs llama.cpp's RPC server.",
        maximum=500,
        automatic="all GPUs",
        check=device_names,
        example="CUDA0, CUDA1",
    ),
    SettingField(
        "draft_device",
        DEVICES,
        "Draft device",
        FieldKind.DEVICES,
        "",
        "The device that runs the draft model.",
        maximum=500,
        automatic="where it is faster",
        check=device_names,
        example="CUDA1",
    ),
    SettingField(
        "split_mode",
        DEVICES,
        "Split",
        FieldKind.CHOICE,
        SplitMode.LAYER.value,
        "How several devices share the model. Rows and tensors need devices that support it.",
        choices=(
            (SplitMode.LAYER.value, "Layer by layer"),
            (SplitMode.ROW.value, "By rows"),
            (SplitMode.TENSOR.value, "By tensors (experimental)"),
            (SplitMode.NONE.value, "All on the main device"),
        ),
    ),
    SettingField(
        "main_device",
        DEVICES,
        "Main device",
        FieldKind.INTEGER,
        0,
        "The device for a model that is not split, counted from 0.",
        minimum=0,
        maximum=MOST_PARTS - 1,
        step=1,
    ),
    SettingField(
        "tensor_split",
        DEVICES,
        "Shares",
        FieldKind.LINE,
        "",
        "How much of the model each device gets, as proportions in the order of the devices.",
        maximum=200,
        automatic="by free memory",
        check=tensor_split,
        example="3,1",
    ),
    SettingField(
        "cpu_moe_layers",
        DEVICES,
        "Experts in main memory",
        FieldKind.INTEGER,
        None,
        "For mixture-of-experts models: the number of layers whose experts stay in main memory, "
        "so that the rest fits on the GPU.",
        minimum=0,
        maximum=10_000,
        step=1,
        automatic="as many as necessary",
        unit="layers",
    ),
    SettingField(
        "tensor_overrides",
        DEVICES,
        "Single tensors",
        FieldKind.LINE,
        "",
        "Puts tensors whose name matches a pattern on a device of their own, as llama.cpp's --override-tensor does.",
        maximum=2000,
        automatic="none",
        check=tensor_overrides,
        example="ffn_up_exps=CPU",
    ),
)

ENGINE_FIELDS: tuple[SettingField, ...] = (
    SettingField(
        "n_ctx",
        ENGINE,
        "Context",
        FieldKind.INTEGER,
        None,
        "How many tokens of a conversation the model can see; more takes more memory.",
        minimum=256,
        maximum=10_000_000,
        step=256,
        automatic="automatic",
        unit="tokens",
    ),
    SettingField(
        "parallel",
        ENGINE,
        "Answers at once",
        FieldKind.INTEGER,
        None,
        "How many answers the model writes at the same time, for programs and chats. Each needs "
        "memory for a context of its own. Automatic: up to 4, if the memory allows it. A change "
        "loads the model again.",
        minimum=1,
        maximum=8,
        step=1,
        automatic="automatic",
    ),
    SettingField(
        "shared_context",
        ENGINE,
        "Shared context",
        FieldKind.SWITCH,
        False,
        "Answers written at the same time share one context. This saves memory, but long answers may not fit.",
    ),
    SettingField(
        "threads",
        ENGINE,
        "Threads",
        FieldKind.INTEGER,
        None,
        "CPU threads used by the model; more than the physical cores rarely helps.",
        minimum=1,
        maximum=512,
        step=1,
        automatic="automatic",
    ),
    SettingField(
        "gpu_layers",
        ENGINE,
        "GPU layers",
        FieldKind.INTEGER,
        None,
        "Layers of the model kept on the GPU; 0 uses the CPU only.",
        minimum=0,
        maximum=10_000,
        step=1,
        automatic="all that fit",
    ),
    SettingField(
        "cache_type",
        ENGINE,
        "Cache type",
        FieldKind.CHOICE,
        CacheType.F16.value,
        "How precisely the target remembers the conversation; smaller types change the answers a little, "
        "equally in every mode.",
        choices=_CACHE_CHOICES,
    ),
    SettingField(
        "flash_attention",
        ENGINE,
        "Flash attention",
        FieldKind.CHOICE,
        FlashAttention.AUTO.value,
        "Faster attention on a GPU. The CPU and smaller cache types always use it.",
        choices=(("auto", "Auto"), ("on", "On"), ("off", "Off")),
    ),
    SettingField(
        "draft_threads",
        ENGINE,
        "Draft threads",
        FieldKind.INTEGER,
        None,
        "CPU threads for the draft model.",
        minimum=1,
        maximum=512,
        step=1,
        automatic="automatic",
    ),
    SettingField(
        "draft_gpu_layers",
        ENGINE,
        "Draft GPU layers",
        FieldKind.INTEGER,
        None,
        "Layers of the draft kept on the GPU; 0 runs it on the CPU, even with the target on the GPU.",
        minimum=0,
        maximum=10_000,
        step=1,
        automatic="where it is faster",
    ),
    SettingField(
        "draft_cache_type",
        ENGINE,
        "Draft cache type",
        FieldKind.CHOICE,
        CacheType.F16.value,
        "How precisely the draft remembers the conversation; this affects only what it proposes. With f16, "
        "its keys are q8_0 where that measured faster.",
        choices=_CACHE_CHOICES,
    ),
    *_DEVICE_FIELDS,
)
