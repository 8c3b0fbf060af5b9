"""Light and dark palettes, each also in high contrast: neutral greys and one accent."""

from dataclasses import dataclass, replace

from engine.records import Source


@dataclass(frozen=True, slots=True)
class Palette:
    """Every colour of the window as ``#rrggbb``. Adjacent surfaces differ by one step of grey."""

    name: str
    page: str  # the transcript
    pane: str  # sidebar and statistics
    raised: str  # composer, menus, cards of dialogs
    tint: str  # the user's messages, code
    hover: str
    pressed: str
    selected: str
    border: str
    border_strong: str
    edge: str  # border of fields, buttons and cards
    text: str
    text_muted: str
    text_disabled: str
    accent: str  # filled controls
    accent_hover: str
    accent_pressed: str
    on_accent: str
    accent_text: str  # links and accented words on a surface
    focus: str
    danger: str
    warning_surface: str
    warning_border: str
    warning_text: str
    caution: str  # a warning word or icon on a surface
    good: str
    ngram: str
    draft: str
    head: str
    recovered: str
    bonus: str
    target: str
    verify: str
    sample: str
    rest: str
    code_keyword: str
    code_string: str
    code_number: str
    code_comment: str
    code_name: str
    code_type: str

    def source(self, source: Source) -> str:
        """The colour of a source; all are distinguishable for colour-blind users."""
        return {
            Source.TARGET: self.target,
            Source.NGRAM: self.ngram,
            Source.DRAFT: self.draft,
            Source.HEAD: self.head,
            Source.RECOVERED: self.recovered,
            Source.BONUS: self.bonus,
        }[source]


LIGHT = Palette(
    name="light",
    page="#ffffff",
    pane="#f6f7f8",
    raised="#ffffff",
    tint="#f2f3f5",
    hover="#eaecef",
    pressed="#dfe2e7",
    selected="#e4e8f7",
    border="#e3e5e9",
    border_strong="#c5cad2",
    edge="#858b95",
    text="#1c1e22",
    text_muted="#5b616b",
    text_disabled="#9aa0a9",
    accent="#3a5ccc",
    accent_hover="#3250b8",
    accent_pressed="#2a459f",
    on_accent="#ffffff",
    accent_text="#3451b2",
    focus="#3a5ccc",
    danger="#b42318",
    warning_surface="#fdf6e7",
    warning_border="#ecd9ab",
    warning_text="#6b4a06",
    caution="#8a5a00",
    good="#1a7f4b",
    ngram="#0072b2",
    draft="#00815e",
    head="#8a6f00",
    recovered="#c24a00",
    bonus="#a24f85",
    target="#7b828d",
    verify="#6f7fc0",
    sample="#a17a2e",
    rest="#868c97",
    code_keyword="#7a3ea8",
    code_string="#1d6b42",
    code_number="#9a4a00",
    code_comment="#666c76",
    code_name="#2550b0",
    code_type="#0b6a7d",
)

DARK = Palette(
    name="dark",
    page="#1a1b1e",
    pane="#151618",
    raised="#222428",
    tint="#232529",
    hover="#292c31",
    pressed="#33363c",
    selected="#2a3046",
    border="#2b2e33",
    border_strong="#44484f",
    edge="#70757e",
    text="#e7e8ea",
    text_muted="#a3a8b1",
    text_disabled="#656a73",
    accent="#4a6adb",
    accent_hover="#4262d0",
    accent_pressed="#3b58bd",
    on_accent="#ffffff",
    accent_text="#9db2ff",
    focus="#8aa3ff",
    danger="#ff8f85",
    warning_surface="#2c2617",
    warning_border="#4f4322",
    warning_text="#eccf8e",
    caution="#e3b341",
    good="#4cc38a",
    ngram="#56b4e9",
    draft="#2fb98f",
    head="#e0c341",
    recovered="#f0814a",
    bonus="#d78fbb",
    target="#8f96a1",
    verify="#8c9be0",
    sample="#d0a958",
    rest="#6f757f",
    code_keyword="#c9a0f0",
    code_string="#8fce9f",
    code_number="#f0b070",
    code_comment="#949aa4",
    code_name="#92b4ff",
    code_type="#6fcbdc",
)


def luminance(color: str) -> float:
    """Relative luminance of ``#rrggbb`` as WCAG 2.2 defines it, 0 to 1."""
    channels = (int(color[start : start + 2], 16) / 255 for start in (1, 3, 5))
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(first: str, second: str) -> float:
    """Contrast ratio of two colours, 1 to 21 (WCAG 2.2)."""
    light, dark = sorted((luminance(first), luminance(second)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


MIN_HIGH_CONTRAST = 7.0  # minimum for text in high contrast (WCAG 2.2, 1.4.6)
_FILLS = ("tint", "hover", "pressed", "selected")  # backgrounds of ordinary text
_ACCENTS = ("accent", "accent_hover", "accent_pressed")  # backgrounds with their own text colour
_SURFACES = ("page", "pane", "raised", "warning_surface")
_DIM_COLORS = ("border", "text_disabled")
_NO_TEXT_COLORS = {*_FILLS, *_ACCENTS, *_SURFACES, *_DIM_COLORS, "name", "on_accent"}


def _mixed_to_contrast(color: str, toward: str, grounds: tuple[str, ...], least: float) -> str:
    """Mix the colour with black or white until its contrast with each ground is at least ``least``."""
    for step in range(101):
        pairs = ((int(color[at : at + 2], 16), int(toward[at : at + 2], 16)) for at in (1, 3, 5))
        mixed = "#" + "".join(f"{round(old + (new - old) * step / 100):02x}" for old, new in pairs)
        if min(contrast(mixed, ground) for ground in grounds) >= least:
            return mixed
    return toward


def high_contrast(palette: Palette) -> Palette:
    """The palette with black and white surfaces and a contrast of at least 7:1."""
    page, ink = ("#ffffff", "#000000") if luminance(palette.page) > 0.5 else ("#000000", "#ffffff")
    fills = {name: _mixed_to_contrast(getattr(palette, name), page, (ink,), MIN_HIGH_CONTRAST * 1.8) for name in _FILLS}
    grounds = (page, *fills.values())
    names = [name for name in Palette.__slots__ if name not in _NO_TEXT_COLORS]
    inks = {name: _mixed_to_contrast(getattr(palette, name), ink, grounds, MIN_HIGH_CONTRAST) for name in names}
    filled = {
        name: _mixed_to_contrast(getattr(palette, name), "#000000", (palette.on_accent,), MIN_HIGH_CONTRAST)
        for name in _ACCENTS
    }
    surfaces = dict.fromkeys(_SURFACES, page)
    dim = {name: _mixed_to_contrast(getattr(palette, name), ink, grounds, 4.5) for name in _DIM_COLORS}
    return replace(palette, **{**inks, **fills, **filled, **surfaces, **dim, "text": ink})


HIGH_LIGHT, HIGH_DARK = high_contrast(LIGHT), high_contrast(DARK)
