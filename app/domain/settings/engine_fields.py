"""The rows of the settings about the engine: memory, threads, and which device computes.

A change of any of these loads the models again.
"""

from __future__ import annotations

from app.domain.settings.fields import FieldKind, SettingField
from engine.records import CacheType, FlashAttention

ENGINE = "Engine"
_CACHE_CHOICES = (
    (CacheType.F16.value, "f16"),
    (CacheType.Q8_0.value, "q8_0 (half the memory)"),
    (CacheType.Q4_0.value, "q4_0 (a quarter)"),
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
        "One fused kernel. Automatic turns it on unless separate steps measured faster on the CPU. Smaller "
        "cache types always use it.",
        choices=(("auto", "Automatic"), ("on", "On"), ("off", "Off")),
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
)
