"""The theme in force: palette, type sizes and recoloured icons, applied to Fusion."""

from __future__ import annotations

from pathlib import Path
from weakref import WeakKeyDictionary

from PySide6.QtCore import QObject, Qt, Signal
from PySide6.QtGui import QColor, QFont, QFontInfo, QFontMetricsF, QIcon, QPalette, QPixmap, QScreen
from PySide6.QtWidgets import QApplication, QStyleFactory, QWidget
from shiboken6 import isValid

from ui.formulas.formulas import FormulaCache
from ui.theme.density import DENSITIES, apply_density, compacted_stylesheet
from ui.theme.highlight_queue import HighlightQueue
from ui.theme.icons import IconSet
from ui.theme.palette import DARK, LIGHT, Palette
from ui.theme.stylesheet import TypeScale, stylesheet
from ui.theme.typeface import code_font, use_typefaces

THEME_NAMES = ("system", "light", "dark")
TEXT_SIZES = {"small": -1, "normal": 0, "large": 2, "larger": 5}  # pixels from the system's own size
SMALLEST_BASE_PX = 13
REGULAR, SEMIBOLD = QFont.Weight.Normal, QFont.Weight.DemiBold
FontKey = tuple[int, QFont.Weight]  # pixels from the base size, and the weight


def qt_palette(tokens: Palette) -> QPalette:
    """``tokens`` as Fusion wants them: what the stylesheet does not draw takes these."""
    palette = QPalette()
    roles = {
        QPalette.ColorRole.Window: tokens.page,
        QPalette.ColorRole.WindowText: tokens.text,
        QPalette.ColorRole.Base: tokens.page,
        QPalette.ColorRole.AlternateBase: tokens.tint,
        QPalette.ColorRole.Text: tokens.text,
        QPalette.ColorRole.Button: tokens.raised,
        QPalette.ColorRole.ButtonText: tokens.text,
        QPalette.ColorRole.BrightText: tokens.danger,
        QPalette.ColorRole.ToolTipBase: tokens.raised,
        QPalette.ColorRole.ToolTipText: tokens.text,
        QPalette.ColorRole.PlaceholderText: tokens.text_muted,
        QPalette.ColorRole.Highlight: tokens.accent,
        QPalette.ColorRole.HighlightedText: tokens.on_accent,
        QPalette.ColorRole.Link: tokens.accent_text,
        QPalette.ColorRole.LinkVisited: tokens.accent_text,
        QPalette.ColorRole.Accent: tokens.accent,
        QPalette.ColorRole.Light: tokens.hover,
        QPalette.ColorRole.Midlight: tokens.border,
        QPalette.ColorRole.Mid: tokens.border,
        QPalette.ColorRole.Dark: tokens.border_strong,
        QPalette.ColorRole.Shadow: tokens.border_strong,
    }
    for role, color in roles.items():
        palette.setColor(role, QColor(color))
    for role in (QPalette.ColorRole.WindowText, QPalette.ColorRole.Text, QPalette.ColorRole.ButtonText):
        palette.setColor(QPalette.ColorGroup.Disabled, role, QColor(tokens.text_disabled))
    return palette


class PaintCache:
    """Fonts, font metrics and colours of the theme for painting, each made once.

    They are shared: do not change them, and ask again after `Theme.changed`.
    """

    def __init__(self, base_px: int) -> None:
        self._base_px = base_px
        self._fonts: dict[FontKey, QFont] = {}
        self._metrics: dict[FontKey, QFontMetricsF] = {}
        self._colors: dict[str, QColor] = {}

    def clear(self, base_px: int) -> None:
        """Forget everything: text now has a size of ``base_px`` pixels, or the system another font or palette."""
        self._base_px = base_px
        for cache in (self._fonts, self._metrics, self._colors):
            cache.clear()

    def font(self, step: int = 0, weight: QFont.Weight = REGULAR) -> QFont:
        """The application's font ``step`` pixels from the base, with tabular figures."""
        key = (step, weight)
        found = self._fonts.get(key)
        if found is None:
            found = self._fonts[key] = QFont(QApplication.font())
            found.setPixelSize(self._base_px + step)
            found.setWeight(weight)
            found.setFeature(QFont.Tag("tnum"), 1)
        return found

    def metrics(self, step: int = 0, weight: QFont.Weight = REGULAR) -> QFontMetricsF:
        """The measures of that font, in logical pixels."""
        key = (step, weight)
        found = self._metrics.get(key)
        if found is None:
            found = self._metrics[key] = QFontMetricsF(self.font(step, weight))
        return found

    def color(self, name: str) -> QColor:
        """A colour of the palette by what it holds: ``#2b2f36``."""
        found = self._colors.get(name)
        if found is None:
            found = self._colors[name] = QColor(name)
        return found


class Theme(QObject):
    """What every widget asks for colours, fonts and icons.

    Signals:
        changed: another palette is in force; painted and rich-text widgets draw themselves again.
    """

    changed = Signal()

    def __init__(self, icons_folder: Path, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._folder = icons_folder
        use_typefaces(icons_folder.with_name("fonts"))
        self._icons = IconSet(icons_folder)
        self.formulas = FormulaCache()
        self.highlight_queue = HighlightQueue(self)
        self._name = "system"
        self._density = DENSITIES[0]
        self._text_size = "normal"
        self.tokens = LIGHT
        base = max(QFontInfo(QApplication.font()).pixelSize(), SMALLEST_BASE_PX)
        self._system_base = base
        self.type = TypeScale(base)
        self.paint_cache = PaintCache(base)
        self._widgets_with_fonts: WeakKeyDictionary[QWidget, tuple[int, bool]] = WeakKeyDictionary()
        QApplication.styleHints().colorSchemeChanged.connect(self._follow_system)
        application = QApplication.instance()
        if isinstance(application, QApplication):
            application.screenAdded.connect(self._watch_screen)
            application.fontChanged.connect(self._follow_font)
        for screen in QApplication.screens():
            screen.geometryChanged.connect(self._follow_screens)

    @property
    def name(self) -> str:
        """The theme asked for: "system", "light" or "dark"."""
        return self._name

    def apply(self, name: str, window: QWidget) -> None:
        """Put a theme in force on the application and on ``window``."""
        self._name = name if name in THEME_NAMES else "system"
        tokens = self._resolve()
        if tokens is self.tokens and window.styleSheet():
            return
        self.tokens = tokens
        self.paint_cache.clear(self.type.base)
        if QApplication.style().objectName() != "fusion":
            QApplication.setStyle(QStyleFactory.create("Fusion"))
        QApplication.setPalette(qt_palette(self.tokens))
        window.setStyleSheet(self._sheet())
        self.changed.emit()

    def text_size_beside(self, by: int) -> str:
        """The next larger text size (1) or the next smaller one (-1); the one in force where there is none."""
        names = tuple(TEXT_SIZES)
        return names[min(max(names.index(self._text_size) + by, 0), len(names) - 1)]

    @property
    def compact(self) -> bool:
        """Whether things stand closer."""
        return self._density == "compact"

    def set_density(self, name: str, window: QWidget) -> None:
        """Leave more or less space between things: one of `DENSITIES`."""
        if name == self._density or name not in DENSITIES:
            return
        self._density = name
        apply_density(window, name)
        window.setStyleSheet(self._sheet())
        self.changed.emit()

    def apply_density(self, widget: QWidget) -> None:
        """Give a widget that was made later the spacing of the others."""
        if self.compact:
            apply_density(widget, self._density)

    def set_text_size(self, name: str, window: QWidget) -> None:
        """Make all text smaller or larger: a key of `TEXT_SIZES`."""
        self._text_size = name if name in TEXT_SIZES else "normal"
        size = TypeScale(max(self._system_base + TEXT_SIZES[self._text_size], SMALLEST_BASE_PX - 1))
        if size == self.type:
            return
        self.type = size
        self.paint_cache.clear(size.base)
        window.setStyleSheet(self._sheet())
        for widget, (step, code) in list(self._widgets_with_fonts.items()):
            if isValid(widget):
                widget.setFont(self.code_font() if code else self.font(step))
        self.changed.emit()

    def set_font(self, widget: QWidget, step: int = 0, *, code: bool = False) -> None:
        """Give a widget `font` or `code_font`, and keep it so when the text size changes."""
        widget.setFont(self.code_font() if code else self.font(step))
        self._widgets_with_fonts[widget] = (step, code)

    def _sheet(self) -> str:
        sheet = stylesheet(self.tokens, self.type, self._images())
        return compacted_stylesheet(sheet) if self.compact else sheet

    def _resolve(self) -> Palette:
        if self._name == "system":
            dark = QApplication.styleHints().colorScheme() == Qt.ColorScheme.Dark
            return DARK if dark else LIGHT
        return DARK if self._name == "dark" else LIGHT

    def _images(self) -> dict[str, str]:
        # A stylesheet cannot recolour an image, so these few exist once for each palette.
        files = {"chevron": f"chevron-down-{self.tokens.name}.svg", "tick": "check-on-accent.svg"}
        return {key: (self._folder / file).as_posix() for key, file in files.items()}

    def _follow_system(self) -> None:
        window = self.parent()
        if self._name == "system" and isinstance(window, QWidget) and self._resolve() != self.tokens:
            self.apply("system", window)

    def _follow_font(self) -> None:
        """The system has another font."""
        self.paint_cache.clear(self.type.base)
        self.changed.emit()

    def _watch_screen(self, screen: QScreen) -> None:
        screen.geometryChanged.connect(self._follow_screens)
        self._follow_screens()

    def _follow_screens(self) -> None:
        """A screen is there, or its scale was set, that the icons were not drawn for."""
        if self._icons.follow_screens():
            self.changed.emit()

    def icon(self, name: str, color: str = "", size: int = 16) -> QIcon:
        """A bundled icon, muted unless another colour is given."""
        return self._icons.icon(name, color or self.tokens.text_muted, self.tokens.text_disabled, size)

    def pixmap(self, name: str, color: str, size: int, ratio: float) -> QPixmap:
        return self._icons.pixmap(name, color, size, ratio)

    def application_icon(self) -> QIcon:
        return self._icons.application()

    def font(self, step: int = 0, weight: QFont.Weight = REGULAR) -> QFont:
        """The application's font ``step`` pixels from the base, with tabular figures; a copy, which may be changed."""
        return QFont(self.paint_cache.font(step, weight))

    def code_font(self) -> QFont:
        return code_font(self.type.base)

    def text_height(self, step: int = 0) -> float:
        """Height of a line in the base font, in logical pixels."""
        return self.paint_cache.metrics(step).height()

    def text_width(self, text: str, step: int = 0) -> float:
        """Width of ``text`` in the base font, in logical pixels."""
        return self.paint_cache.metrics(step).horizontalAdvance(text)
