"""Makes load requests from the settings."""

from pathlib import Path

from app.core.domain.devices import device_names, parse_placement
from app.core.domain.engines import is_remote
from app.core.domain.settings.values import Settings
from app.core.paths import builtin_draft, builtin_target
from engine.records import CacheType, FlashAttention, LoadRequest, Placement


def load_request(settings: Settings) -> LoadRequest:
    """The load request of the settings. The built-in draft is used only with the built-in target."""
    target = settings.text("target_path") or str(builtin_target())
    draft = settings.text("draft_path") or None
    if draft is None and Path(target) == builtin_target():
        draft = str(builtin_draft())
    if is_remote(target):
        draft = None  # drafting is up to the remote server
    return LoadRequest(
        target=target,
        draft=draft,
        n_ctx=settings.integer("n_ctx"),
        threads=settings.integer("threads"),
        gpu_layers=settings.integer("gpu_layers"),
        cache_type=CacheType(settings.text("cache_type")),
        flash_attention=FlashAttention(settings.text("flash_attention")),
        draft_threads=settings.integer("draft_threads"),
        draft_gpu_layers=settings.integer("draft_gpu_layers"),
        draft_cache_type=CacheType(settings.text("draft_cache_type")),
        placement=asked_placement(settings),
        draft_devices=device_names(settings.text("draft_device")),
        mmproj=None if is_remote(target) else "",
        parallel=settings.integer("parallel") or 0,
    )


def asked_placement(settings: Settings) -> Placement:
    return parse_placement(
        settings.text("device"),
        settings.text("split_mode"),
        settings.text("tensor_split"),
        settings.integer("cpu_moe_layers"),
    )
