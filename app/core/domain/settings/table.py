"""The table of all settings. The settings file, the dialog and the checks are derived from it.

If the default is None, the app chooses until the user sets a value.
"""

from __future__ import annotations

import math
from types import MappingProxyType

from app.core.domain.local_server import ALL_ADDRESSES, LOOPBACK, read_host_names
from app.core.domain.settings.context_fields import context_fields
from app.core.domain.settings.engine_fields import ENGINE_FIELDS
from app.core.domain.settings.fields import FieldKind, SettingField, SettingValue
from app.core.domain.template_variables import read_variables
from app.core.domain.tools.permissions import read_allowed_tools
from app.core.domain.tools.servers import read_names
from engine.records import Mode
from engine.sentences import Sentence, i18n, phrase

MODELS, SPECULATION, SAMPLING, CHAT, APPEARANCE = "Models", "Speculation", "Sampling", "Chat", "Appearance"
SERVER, TOOLS = "Local server", "Tools"
MAX_TEXT_CHARS = 100_000
COMPLETION_FORMAT = "text"  # the prompt format without a chat template: the model continues the text

_MODE_LABELS = {
    "off": "Off",
    "ngram": "N-gram (prompt lookup)",
    "suffix": "Suffix decoding",
    "draft": "Draft model",
    "head": "Head (MTP, EAGLE-3)",
    "auto": "Auto",
}

FIELDS: tuple[SettingField, ...] = (
    SettingField(
        "target_path",
        MODELS,
        "Target",
        FieldKind.MODEL_FILE,
        "",
        "The model that answers, a GGUF file. Leave empty for the small built-in one.",
        automatic="built-in",
    ),
    SettingField(
        "draft_path",
        MODELS,
        "Draft",
        FieldKind.MODEL_FILE,
        "",
        "The model that drafts for it, a GGUF file. Leave empty to use the built-in one with the built-in target.",
        automatic="built-in or none",
    ),
    SettingField(
        "embedding_path",
        MODELS,
        "Embedding model",
        FieldKind.MODEL_FILE,
        "",
        "Finds passages of a project's files by their meaning as well as by their words. A GGUF file made for "
        "embeddings, such as Nomic Embed or EmbeddingGemma.",
        automatic="none: by words alone",
    ),
    SettingField(
        "models_dir",
        MODELS,
        "Library folder",
        FieldKind.FOLDER,
        "",
        "Where downloaded models are stored. Changing it does not move any files.",
        maximum=4096,
        automatic="in the app's data folder",
    ),
    SettingField(
        "mode",
        SPECULATION,
        "Mode",
        FieldKind.MODE,
        Mode.AUTO.value,
        "How tokens are drafted. The mode affects only the speed: the answers are those of the target.",
        choices=tuple((mode.value, _MODE_LABELS.get(mode.value, mode.value)) for mode in Mode),
    ),
    SettingField(
        "depth",
        SPECULATION,
        "Draft length",
        FieldKind.INTEGER,
        None,
        "Tokens drafted per pass; 0 is without drafting.",
        minimum=0,
        maximum=32,  # the largest number of tokens in a pass
        step=1,
        automatic="automatic",
        unit="tokens",
    ),
    SettingField(
        "learn_past",
        SPECULATION,
        "Draft from past chats",
        FieldKind.SWITCH,
        True,
        "Also drafts from the text of other chats. The data stays on this computer; turning this off deletes it.",
    ),
    SettingField(
        "temperature",
        SAMPLING,
        "Temperature",
        FieldKind.NUMBER,
        0.8,
        "Higher is more varied; 0 always picks the most likely token.",
        minimum=0.0,
        maximum=5.0,
        step=0.05,
    ),
    SettingField(
        "top_k",
        SAMPLING,
        "Top-k",
        FieldKind.INTEGER,
        40,
        "Samples from the k most likely tokens only; 0 turns it off.",
        minimum=0,
        maximum=1000,
        step=1,
    ),
    SettingField(
        "top_p",
        SAMPLING,
        "Top-p",
        FieldKind.NUMBER,
        0.95,
        "Samples from the most likely tokens that together reach this probability; 1 turns it off.",
        minimum=0.01,
        maximum=1.0,
        step=0.01,
    ),
    SettingField(
        "min_p",
        SAMPLING,
        "Min-p",
        FieldKind.NUMBER,
        0.05,
        "Drops tokens less likely than this fraction of the most likely one; 0 turns it off.",
        minimum=0.0,
        maximum=1.0,
        step=0.01,
    ),
    SettingField(
        "repeat_penalty",
        SAMPLING,
        "Repeat penalty",
        FieldKind.NUMBER,
        1.0,
        "Divides the scores of recent tokens; 1 turns it off.",
        minimum=0.1,
        maximum=5.0,
        step=0.05,
    ),
    SettingField(
        "frequency_penalty",
        SAMPLING,
        "Frequency penalty",
        FieldKind.NUMBER,
        0.0,
        "Lowers a token's score for each recent appearance; 0 turns it off.",
        minimum=-2.0,
        maximum=2.0,
        step=0.05,
    ),
    SettingField(
        "presence_penalty",
        SAMPLING,
        "Presence penalty",
        FieldKind.NUMBER,
        0.0,
        "Lowers a token's score once if it appeared recently; 0 turns it off.",
        minimum=-2.0,
        maximum=2.0,
        step=0.05,
    ),
    SettingField(
        "seed",
        SAMPLING,
        "Seed",
        FieldKind.INTEGER,
        None,
        "The same seed gives the same answer to the same messages, in every mode.",
        minimum=0,
        maximum=2**31 - 1,
        step=1,
        automatic="random",
    ),
    SettingField(
        "max_tokens",
        SAMPLING,
        "Maximum length",
        FieldKind.INTEGER,
        None,
        "An answer stops after this many tokens.",
        minimum=1,
        maximum=1_000_000,
        step=1,
        automatic="no limit",
        unit="tokens",
    ),
    SettingField(
        "system_prompt",
        CHAT,
        "System prompt",
        FieldKind.TEXT,
        "",
        "Instructions for the model before the conversation. Leave empty for none.",
        maximum=MAX_TEXT_CHARS,
    ),
    SettingField(
        "thinking",
        CHAT,
        "Thinking",
        FieldKind.CHOICE,
        "",
        "Whether the model thinks before it answers, and how long. The choices depend on the model.",
        choices=(
            ("", "The model's default"),
            ("off", "Off"),
            ("on", "On"),
            ("adaptive", "As needed"),
            ("minimal", "Minimal"),
            ("low", "Low"),
            ("medium", "Medium"),
            ("high", "High"),
            ("xhigh", "Very high"),
            ("max", "Maximum"),
            ("512", "Up to 512 tokens"),
            ("2048", "Up to 2,048 tokens"),
            ("8192", "Up to 8,192 tokens"),
        ),
    ),
    SettingField(
        "template_variables",
        CHAT,
        "Template variables",
        FieldKind.LINE,
        "",
        "Extra variables for the model's chat template. The pages of some models list them.",
        maximum=MAX_TEXT_CHARS,
        check=read_variables,
        example="with_date=true, style=brief",
    ),
    SettingField(
        "prompt_format",
        CHAT,
        "Prompt format",
        FieldKind.CHOICE,
        "chat",
        "Whether the model answers your message, or continues it as a text.",
        choices=(("chat", "Chat: answer the message"), (COMPLETION_FORMAT, "Text: continue the message")),
    ),
    *ENGINE_FIELDS,
    *context_fields(CHAT),
    SettingField(
        "server",
        SERVER,
        "Local server",
        FieldKind.SWITCH,
        False,
        "Lets editors and other programs use the loaded model while Paceline is open, as they would use OpenAI's API.",
    ),
    SettingField(
        "server_host",
        SERVER,
        "Reachable from",
        FieldKind.CHOICE,
        LOOPBACK,
        "The connection is not encrypted: allow other computers only in a network that you trust.",
        choices=((LOOPBACK, "This computer only"), (ALL_ADDRESSES, "Other computers, too")),
    ),
    SettingField(
        "server_port",
        SERVER,
        "Port",
        FieldKind.INTEGER,
        8080,
        "Choose another number if a program on this computer uses this one already.",
        minimum=1024,
        maximum=65_535,
        step=1,
    ),
    SettingField(
        "server_loads",
        SERVER,
        "Other models",
        FieldKind.SWITCH,
        False,
        "Programs may request any model of your library. It is loaded for them; your own is loaded again with "
        "your next message.",
    ),
    SettingField(
        "server_key",
        SERVER,
        "Ask for the key",
        FieldKind.SWITCH,
        True,
        "When off, programs on this computer need no key. Web pages are refused all the same, and other computers "
        "always need it.",
    ),
    SettingField(
        "server_names",
        SERVER,
        "Further names",
        FieldKind.LINE,
        "",
        "Other names that programs use for this computer, for example from a container; all others are refused.",
        maximum=4096,
        check=read_host_names,
        example="host.docker.internal",
    ),
    SettingField(
        "tools",
        TOOLS,
        "Tools",
        FieldKind.SWITCH,
        False,
        "Lets the model call tools. A tool that could change or reveal something asks you first.",
    ),
    SettingField(
        "built_in_tools",
        TOOLS,
        "Built-in tools",
        FieldKind.SEVERAL,
        "current_time, calculate",
        "None of them uses a network or writes anything. Files and chats are read only after you allow it.",
        choices=(
            ("current_time", "Date and time"),
            ("calculate", "Calculator"),
            ("read_attachment", "Attached files"),
            ("search_chats", "Search in chats"),
        ),
    ),
    SettingField(
        "unused_servers",
        TOOLS,
        "Tool servers",
        FieldKind.SERVERS,
        "",
        "The tool servers that the model may use, out of those switched on in the settings.",
        maximum=MAX_TEXT_CHARS,
    ),
    SettingField(
        "hold_calls",
        TOOLS,
        "Keep tool calls valid",
        FieldKind.SWITCH,
        True,
        "A tool call can then contain only what the tool's schema allows. Parts that the schema fixes are "
        "written at once.",
    ),
    SettingField(
        "allowed_tools",
        TOOLS,
        "Allowed without asking",
        FieldKind.LINE,
        "",
        "Tools that run without asking, because you always allow them. Delete one to be asked again.",
        maximum=2 * MAX_TEXT_CHARS,  # a digest is 64 characters
        check=read_allowed_tools,
        example="files/read_file, files/list_directory",
    ),
    SettingField(
        "theme",
        APPEARANCE,
        "Theme",
        FieldKind.CHOICE,
        "system",
        "Light, dark, or the same as the system.",
        choices=(("system", "Same as system"), ("light", "Light"), ("dark", "Dark")),
    ),
    SettingField(
        "text_size",
        APPEARANCE,
        "Text size",
        FieldKind.CHOICE,
        "normal",
        "Size of all text in the window, relative to the system's.",
        choices=(
            ("small", "Small"),
            ("normal", "Same as system"),
            ("large", "Large"),
            ("larger", "Larger"),
            ("150", "150 %"),
            ("200", "200 %"),
        ),
    ),
    SettingField(
        "density",
        APPEARANCE,
        "Density",
        FieldKind.CHOICE,
        "comfortable",
        "How much space is left between elements.",
        choices=(("comfortable", "Comfortable"), ("compact", "Compact")),
    ),
    SettingField(
        "announce",
        APPEARANCE,
        "Screen reader",
        FieldKind.CHOICE,
        "words",
        "What a screen reader announces during an answer.",
        choices=(("words", "All, with the answer"), ("events", "Beginnings and endings"), ("nothing", "Nothing")),
    ),
    SettingField(
        "language",
        APPEARANCE,
        "Language",
        FieldKind.CHOICE,
        "system",
        "Language of the window. A change takes effect at the next start.",
        choices=(("system", "Same as system"), ("en", "English"), ("de", "Deutsch")),
    ),
)

FIELD_BY_KEY = MappingProxyType({field.key: field for field in FIELDS})
DEFAULTS = MappingProxyType({field.key: field.default for field in FIELDS})
SERVER_KEYS = frozenset({"server", "server_host", "server_port", "server_key", "server_names"})
RELOAD_KEYS = frozenset({"target_path", *(field.key for field in ENGINE_FIELDS)})


def value_problem(field: SettingField, value: object) -> str:
    """Why ``value`` is invalid, in one sentence; empty if it is valid."""
    if value is None and field.default is None:
        return ""
    if field.kind in (FieldKind.INTEGER, FieldKind.NUMBER):
        return _number_problem(field, value)
    if field.kind is FieldKind.SWITCH:
        return "" if isinstance(value, bool) else i18n("{label} must be true or false.", label=_label(field))
    return _text_problem(field, value)


def _text_problem(field: SettingField, value: object) -> str:
    if not isinstance(value, str):
        return i18n("{label} must be text.", label=_label(field))
    if field.kind is FieldKind.MODE:
        value = Mode.from_value(value) or value
    if field.kind in (FieldKind.CHOICE, FieldKind.MODE) and value not in {choice for choice, _ in field.choices}:
        known = ", ".join(choice for choice, _ in field.choices)
        return i18n("{label} must be one of: {choices}.", label=_label(field), choices=known)
    if field.kind is FieldKind.SEVERAL and not set(read_names(value)) <= {choice for choice, _ in field.choices}:
        known = ", ".join(choice for choice, _ in field.choices)
        return i18n("{label} must be some of: {choices}.", label=_label(field), choices=known)
    if field.maximum is not None and len(value) > field.maximum:
        return i18n("{label} may have at most {limit:,.0f} characters.", label=_label(field), limit=field.maximum)
    if any("\ud800" <= char <= "\udfff" for char in value):
        return i18n("{label} contains an incomplete character.", label=_label(field))
    return _line_problem(field, value)


def _line_problem(field: SettingField, value: str) -> str:
    try:
        if field.check is not None:
            field.check(value)
    except ValueError as error:
        return error.args[0] if isinstance(error.args[0], Sentence) else str(error)
    return ""


def _number_problem(field: SettingField, value: object) -> str:
    kinds = (int,) if field.kind is FieldKind.INTEGER else (int, float)
    endless = isinstance(value, float) and not math.isfinite(value)
    if isinstance(value, bool) or not isinstance(value, kinds) or endless:
        if field.kind is FieldKind.INTEGER:
            return i18n("{label} must be a whole number.", label=_label(field))
        return i18n("{label} must be a number.", label=_label(field))
    too_low = field.minimum is not None and value < field.minimum
    too_high = field.maximum is not None and value > field.maximum
    if too_low or too_high:
        low, high = _bound(field.minimum), _bound(field.maximum)
        return i18n("{label} must be from {low} to {high}.", label=_label(field), low=low, high=high)
    return ""


def _bound(number: float | None) -> str:
    return i18n("anything") if number is None else i18n("{number:,.15g}", number=number)


def _label(field: SettingField) -> Sentence:
    return phrase("Settings", field.label)


def normalised(field: SettingField, value: SettingValue) -> SettingValue:
    """Convert a valid value to its field's type: 1 to 1.0 for a number; the old name of a mode to the new one."""
    if field.kind is FieldKind.MODE:
        return Mode(str(value)).value
    if field.kind is FieldKind.NUMBER and isinstance(value, int):
        return float(value)
    return value
