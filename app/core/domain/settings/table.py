"""The table of all settings. The settings file, the dialog and the checks are derived from it.

If the default is None, the app chooses until the user sets a value.
"""

from dataclasses import replace
from types import MappingProxyType

from app.core.domain.devices import device_names, tensor_split
from app.core.domain.local_server import ALL_ADDRESSES, LOOPBACK, read_host_names
from app.core.domain.settings.fields import (
    FieldKind,
    SettingField,
    SettingValue,
    choice,
    integer,
    line,
    number,
    switch,
    text,
)
from app.core.domain.template_variables import read_variables
from app.core.domain.tools.permissions import read_allowed_tools
from app.core.domain.tools.servers import read_names
from engine.records import CacheType, Mode, Overflow, SplitMode
from engine.sentences import Sentence, i18n, phrase

MODELS, SPECULATION, SAMPLING, CHAT, APPEARANCE = "Models", "Speculation", "Sampling", "Chat", "Appearance"
ENGINE, DEVICES, SERVER, TOOLS = "Engine", "Devices", "Local server", "Tools"
MAX_TEXT_CHARS = 100_000
COMPLETION_FORMAT = "text"  # the prompt format without a chat template: the model continues the text
KEPT_CACHES = "kept_caches"
MIB = 1 << 20

_MODE_LABELS = {
    Mode.OFF.value: "Off",
    Mode.NGRAM.value: "N-gram (prompt lookup)",
    Mode.SUFFIX.value: "Suffix decoding",
    Mode.DRAFT.value: "Draft model",
    Mode.HEAD.value: "Head (MTP, EAGLE-3)",
    Mode.AUTO.value: "Auto",
}
_CACHE_LABELS = {
    CacheType.F16.value: "f16",
    CacheType.Q8_0.value: "q8_0 (half the memory)",
    CacheType.Q4_0.value: "q4_0 (a quarter)",
}
_THINKING_LABELS = {
    "": "The model's default",
    "off": "Off",
    "on": "On",
    "adaptive": "As needed",
    "minimal": "Minimal",
    "low": "Low",
    "medium": "Medium",
    "high": "High",
    "xhigh": "Very high",
    "max": "Maximum",
    "512": "Up to 512 tokens",
    "2048": "Up to 2,048 tokens",
    "8192": "Up to 8,192 tokens",
}
_OVERFLOW_LABELS = {
    Overflow.DROP.value: "Leave out the oldest messages",
    Overflow.SUMMARISE.value: "Summarise the oldest messages",
    Overflow.STOP.value: "Stop and tell me",
}
_SPLIT_LABELS = {
    SplitMode.LAYER.value: "Layer by layer",
    SplitMode.ROW.value: "By rows",
    SplitMode.TENSOR.value: "By tensors (experimental)",
}
_BUILT_IN_TOOLS_LABELS = {
    "current_time": "Date and time",
    "calculate": "Calculator",
}
_TEXT_SIZE_LABELS = {
    "small": "Small",
    "normal": "Same as system",
    "large": "Large",
    "larger": "Larger",
    "150": "150 %",
    "200": "200 %",
}

_SECTIONS: dict[str, tuple[SettingField, ...]] = {
    MODELS: (
        text("target_path", "Target", FieldKind.MODEL_FILE).explained(
            "The model that answers, a GGUF file. Leave empty for the small built-in one.", automatic="built-in"
        ),
        text("draft_path", "Draft", FieldKind.MODEL_FILE).explained(
            "The model that drafts for it, a GGUF file. Leave empty to use the built-in one with the built-in target.",
            automatic="built-in or none",
        ),
        text("embedding_path", "Embedding model", FieldKind.MODEL_FILE).explained(
            "Finds passages of a project's files by their meaning as well as by their words. A GGUF file made for "
            "embeddings, such as Nomic Embed or EmbeddingGemma.",
            automatic="none: by words alone",
        ),
        text("models_dir", "Library folder", FieldKind.FOLDER, 4096).explained(
            "Where downloaded models are stored. Changing it does not move any files.",
            automatic="in the app's data folder",
        ),
    ),
    SPECULATION: (
        choice("mode", "Mode", _MODE_LABELS, Mode.AUTO.value, FieldKind.MODE).explained(
            "How tokens are drafted. The mode affects only the speed: the answers are those of the target."
        ),
        # 32 is the largest number of tokens in a pass.
        integer("depth", "Draft length", None, 0, 32).explained(
            "Tokens drafted per pass; 0 is without drafting.", automatic="automatic", unit="tokens"
        ),
        switch("learn_past", "Draft from past chats", True).explained(
            "Also drafts from the text of other chats. The data stays on this computer; turning this off deletes it."
        ),
    ),
    SAMPLING: (
        number("temperature", "Temperature", 0.8, 0.0, 5.0, 0.05).explained(
            "Higher is more varied; 0 always picks the most likely token."
        ),
        integer("top_k", "Top-k", 40, 0, 1000).explained("Samples from the k most likely tokens only; 0 turns it off."),
        number("top_p", "Top-p", 0.95, 0.01, 1.0, 0.01).explained(
            "Samples from the most likely tokens that together reach this probability; 1 turns it off."
        ),
        number("min_p", "Min-p", 0.05, 0.0, 1.0, 0.01).explained(
            "Drops tokens less likely than this fraction of the most likely one; 0 turns it off."
        ),
        number("repeat_penalty", "Repeat penalty", 1.0, 0.1, 5.0, 0.05).explained(
            "Divides the scores of recent tokens; 1 turns it off."
        ),
        number("frequency_penalty", "Frequency penalty", 0.0, -2.0, 2.0, 0.05).explained(
            "Lowers a token's score for each recent appearance; 0 turns it off."
        ),
        number("presence_penalty", "Presence penalty", 0.0, -2.0, 2.0, 0.05).explained(
            "Lowers a token's score once if it appeared recently; 0 turns it off."
        ),
        integer("seed", "Seed", None, 0, 2**31 - 1).explained(
            "The same seed gives the same answer to the same messages, in every mode.", automatic="random"
        ),
        integer("max_tokens", "Maximum length", None, 1, 1_000_000).explained(
            "An answer stops after this many tokens.", automatic="no limit", unit="tokens"
        ),
    ),
    CHAT: (
        text("system_prompt", "System prompt", FieldKind.TEXT, MAX_TEXT_CHARS).explained(
            "Instructions for the model before the conversation. Leave empty for none."
        ),
        choice("thinking", "Thinking", _THINKING_LABELS).explained(
            "Whether the model thinks before it answers, and how long. The choices depend on the model."
        ),
        line(
            "template_variables", "Template variables", MAX_TEXT_CHARS, read_variables, "with_date=true, style=brief"
        ).explained("Extra variables for the model's chat template. The pages of some models list them."),
        choice(
            "prompt_format",
            "Prompt format",
            {"chat": "Chat: answer the message", COMPLETION_FORMAT: "Text: continue the message"},
        ).explained("Whether the model answers your message, or continues it as a text."),
        choice("overflow", "Full context", _OVERFLOW_LABELS).explained(
            "What happens when a conversation no longer fits the context. You get a notice in any case."
        ),
        integer(KEPT_CACHES, "Saved caches", 1024, 0, 1 << 20, 256).explained(
            "Disk space for returning to a chat without reading it again. The files contain text of your chats; 0 "
            "deletes them.",
            unit="MiB",
        ),
    ),
    ENGINE: (  # a change of these, or of the next section, loads the models again
        integer("n_ctx", "Context", None, 256, 10_000_000, 256).explained(
            "How many tokens of a conversation the model can see; more takes more memory.",
            automatic="automatic",
            unit="tokens",
        ),
        integer("parallel", "Simultaneous answers", None, 1, 8).explained(
            "How many answers the model writes at the same time, for programs and chats. Each needs memory for a "
            "context of its own. Automatic: up to 4, if the memory allows it. A change loads the model again.",
            automatic="automatic",
        ),
        integer("threads", "Threads", None, 1, 512).explained(
            "CPU threads used by the model; more than the physical cores rarely helps.", automatic="automatic"
        ),
        integer("gpu_layers", "GPU layers", None, 0, 10_000).explained(
            "Layers of the model kept on the GPU; 0 uses the CPU only.", automatic="all that fit"
        ),
        choice("cache_type", "Cache type", _CACHE_LABELS).explained(
            "How precisely the target remembers the conversation; smaller types change the answers a little, "
            "equally in every mode."
        ),
        choice("flash_attention", "Flash attention", {"auto": "Auto", "on": "On", "off": "Off"}).explained(
            "Faster attention on a GPU. The CPU and smaller cache types always use it."
        ),
        integer("draft_threads", "Draft threads", None, 1, 512).explained(
            "CPU threads for the draft model.", automatic="automatic"
        ),
        integer("draft_gpu_layers", "Draft GPU layers", None, 0, 10_000).explained(
            "Layers of the draft kept on the GPU; 0 runs it on the CPU, even with the target on the GPU.",
            automatic="as for the model",
        ),
        choice("draft_cache_type", "Draft cache type", _CACHE_LABELS).explained(
            "How precisely the draft remembers the conversation; this affects only its proposals. With f16, keys are "
            "stored as q8_0 if that was faster on this computer."
        ),
    ),
    DEVICES: (
        line("device", "Device", 500, device_names, "CUDA0, CUDA1").explained(
            "The devices that hold the model, separated by commas. “none” uses the processor alone.",
            automatic="all GPUs",
        ),
        line("draft_device", "Draft device", 500, device_names, "CUDA1").explained(
            "The device that runs the draft model.", automatic="as for the model"
        ),
        choice("split_mode", "Split", _SPLIT_LABELS).explained(
            "How several devices share the model. Rows and tensors need devices that support it."
        ),
        line("tensor_split", "Shares", 200, tensor_split, "3,1").explained(
            "How much of the model each device gets, as proportions in the order of the devices.",
            automatic="by free memory",
        ),
        integer("cpu_moe_layers", "Experts in main memory", None, 0, 10_000).explained(
            "For mixture-of-experts models: the number of layers whose experts stay in main memory, so that the "
            "rest fits on the GPU.",
            automatic="as many as necessary",
            unit="layers",
        ),
    ),
    SERVER: (
        switch("server", "Local server", False).explained(
            "Lets editors and other programs use the loaded model while Paceline is open, as they would use OpenAI's "
            "API."
        ),
        choice(
            "server_host", "Reachable from", {LOOPBACK: "This computer only", ALL_ADDRESSES: "Other computers, too"}
        ).explained("The connection is not encrypted: allow other computers only in a network that you trust."),
        integer("server_port", "Port", 8080, 1024, 65_535).explained(
            "Choose another number if a program on this computer uses this one already."
        ),
        switch("server_loads", "Other models", False).explained(
            "Programs may request any model of your library. It is loaded for them; your own is loaded again with "
            "your next message."
        ),
        switch("server_key", "Ask for the key", True).explained(
            "When off, programs on this computer need no key. Web pages are refused all the same, and other computers "
            "always need it."
        ),
        line("server_names", "Further names", 4096, read_host_names, "host.docker.internal").explained(
            "Other names that programs use for this computer, for example from a container; all others are refused."
        ),
    ),
    TOOLS: (
        switch("tools", "Tools", False).explained(
            "Lets the model call tools. A tool that could change or reveal something asks you first."
        ),
        choice(
            "built_in_tools", "Built-in tools", _BUILT_IN_TOOLS_LABELS, "current_time, calculate", FieldKind.SEVERAL
        ).explained("None of them uses a network or writes anything."),
        text("unused_servers", "Tool servers", FieldKind.SERVERS, MAX_TEXT_CHARS).explained(
            "The tool servers that the model may use, out of those switched on in the settings."
        ),
        switch("hold_calls", "Keep tool calls valid", True).explained(
            "A tool call can then contain only what the tool's schema allows. Parts that the schema fixes are "
            "written at once."
        ),
        line(
            "allowed_tools",
            "Allowed without asking",
            2 * MAX_TEXT_CHARS,
            read_allowed_tools,
            "files/read_file, files/list_directory",
        ).explained("Tools that run without asking, because you always allow them. Delete one to be asked again."),
    ),
    APPEARANCE: (
        choice("theme", "Theme", {"system": "Same as system", "light": "Light", "dark": "Dark"}).explained(
            "Light, dark, or the same as the system."
        ),
        choice("text_size", "Text size", _TEXT_SIZE_LABELS, "normal").explained(
            "Size of all text in the window, relative to the system's."
        ),
        choice(
            "announce",
            "Screen reader",
            {"words": "All, with the answer", "events": "Beginnings and endings", "nothing": "Nothing"},
        ).explained("What a screen reader announces during an answer."),
        choice("language", "Language", {"system": "Same as system", "en": "English", "de": "Deutsch"}).explained(
            "Language of the window. A change takes effect at the next start."
        ),
    ),
}

FIELDS = tuple(replace(field, section=section) for section, fields in _SECTIONS.items() for field in fields)
FIELD_BY_KEY = MappingProxyType({field.key: field for field in FIELDS})
DEFAULTS = MappingProxyType({field.key: field.default for field in FIELDS})
SERVER_KEYS = frozenset({"server", "server_host", "server_port", "server_key", "server_names"})
RELOAD_KEYS = frozenset({"target_path", *(field.key for field in (*_SECTIONS[ENGINE], *_SECTIONS[DEVICES]))})


def value_problem(field: SettingField, value: object) -> str:
    """Why ``value`` is invalid, in one sentence; empty if it is valid."""
    label = phrase("Settings", field.label)
    if value is None and field.default is None:
        return ""
    if field.kind in (FieldKind.INTEGER, FieldKind.NUMBER):
        return _number_problem(field, value, label)
    if field.kind is FieldKind.SWITCH:
        return "" if isinstance(value, bool) else i18n("{label} must be true or false.", label=label)
    return _text_problem(field, value, label) if isinstance(value, str) else i18n("{label} must be text.", label=label)


def _text_problem(field: SettingField, value: str, label: Sentence) -> str:
    values = [choice for choice, _ in field.choices]
    if field.kind in (FieldKind.CHOICE, FieldKind.MODE) and value not in values:
        return i18n("{label} must be one of: {choices}.", label=label, choices=", ".join(values))
    if field.kind is FieldKind.SEVERAL and not set(read_names(value)) <= set(values):
        return i18n("{label} must be some of: {choices}.", label=label, choices=", ".join(values))
    if field.maximum is not None and len(value) > field.maximum:
        return i18n("{label} may have at most {limit:,.0f} characters.", label=label, limit=field.maximum)
    if any("\ud800" <= char <= "\udfff" for char in value):
        return i18n("{label} contains an incomplete character.", label=label)
    try:
        if field.check is not None:
            field.check(value)
    except ValueError as error:
        return error.args[0] if isinstance(error.args[0], Sentence) else str(error)
    return ""


def _number_problem(field: SettingField, value: object, label: Sentence) -> str:
    kinds = (int,) if field.kind is FieldKind.INTEGER else (int, float)
    if isinstance(value, bool) or not isinstance(value, kinds):
        if field.kind is FieldKind.INTEGER:
            return i18n("{label} must be a whole number.", label=label)
        return i18n("{label} must be a number.", label=label)
    if not (field.minimum or 0) <= value <= (field.maximum or 0):  # also true for NaN
        low, high = (i18n("{number:,.15g}", number=bound or 0) for bound in (field.minimum, field.maximum))
        return i18n("{label} must be from {low} to {high}.", label=label, low=low, high=high)
    return ""


def normalised(field: SettingField, value: SettingValue) -> SettingValue:
    """Convert a valid value to its field's type: 1 to 1.0 for a number."""
    return float(value) if field.kind is FieldKind.NUMBER and isinstance(value, int) else value
