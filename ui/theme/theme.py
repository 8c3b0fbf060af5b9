"""The theme in force: palette, typefaces, sizes and recoloured icons, on Fusion.

Text is set in Inter, code in JetBrains Mono, with the system's fonts as fallback. Both are loaded once from
`assets/fonts`; the files lack contextual alternates, which would draw ``->`` as an arrow.
"""

import logging
import math
from functools import cache
from pathlib import Path
from weakref import WeakKeyDictionary

from PySide6.QtCore import QByteArray, QObject, QRectF, QSize, Qt, Signal
from PySide6.QtGui import (
    QColor,
    QFont,
    QFontDatabase,
    QFontInfo,
    QFontMetricsF,
    QGuiApplication,
    QIcon,
    QImage,
    QPainter,
    QPalette,
    QPixmap,
    QScreen,
)
from PySide6.QtSvg import QSvgRenderer
from PySide6.QtWidgets import QApplication, QStyleFactory, QWidget
from shiboken6 import isValid

from ui.formulas.formula import FormulaCache
from ui.theme.highlighting import HighlightQueue
from ui.theme.palette import DARK, HIGH_DARK, HIGH_LIGHT, LIGHT, Palette
from ui.theme.stylesheet import TypeScale, stylesheet

THEME_NAMES = ("system", "light", "dark")
# Integers: pixels to add to the system's size. Floats: factors of that size.
TEXT_SIZES = {"small": -1, "normal": 0, "large": 2, "larger": 5, "150": 1.5, "200": 2.0}
SMALLEST_BASE_PX = 13
REGULAR, SEMIBOLD = QFont.Weight.Normal, QFont.Weight.DemiBold
FontKey = tuple[int, QFont.Weight]  # pixels added to the base size; the weight
TEXT_FAMILIES, CODE_FAMILIES = "Inter", "JetBrains Mono"  # family names in the font files
_log = logging.getLogger(__name__)
APP_ICON_SIZES = (16, 24, 32, 48, 64, 128, 256, 512)


@cache
def _shape(file: Path, pixels: int) -> QImage:
    """An icon in black. A QImage, unlike a QPixmap, may outlive the application."""
    # The icon set's stroke width of 2 looks heavy beside 13 px text.
    thin = file.read_text("utf-8").replace("currentColor", "#000000").replace('width="2"', 'width="1.75"')
    image = QImage(pixels, pixels, QImage.Format.Format_ARGB32_Premultiplied)
    image.fill(Qt.GlobalColor.transparent)
    painter = QPainter(image)
    QSvgRenderer(QByteArray(thin.encode())).render(painter, QRectF(0, 0, pixels, pixels))
    painter.end()
    return image


def _tinted(file: Path, color: str, size: int, ratio: float) -> QPixmap:
    """An icon in a colour, keeping transparency."""
    image = QImage(_shape(file, math.ceil(size * ratio)))
    painter = QPainter(image)
    painter.setCompositionMode(QPainter.CompositionMode.CompositionMode_SourceIn)
    painter.fillRect(image.rect(), QColor(color))
    painter.end()
    pixmap = QPixmap.fromImage(image)
    pixmap.setDevicePixelRatio(ratio)
    return pixmap


def screen_ratios() -> tuple[float, ...]:
    """The pixel ratios of the current screens."""
    return tuple(sorted({screen.devicePixelRatio() for screen in QGuiApplication.screens()})) or (1.0,)


class IconSet:
    """Icons by name, colour and size, cached. Each shape is drawn once and then tinted.

    Icons are drawn for the current screens; `follow_screens` redraws them when these change.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._ratios = screen_ratios()
        self._icons: dict[tuple[str, str, str, int], QIcon] = {}

    def follow_screens(self) -> bool:
        """Redraw for the current screens; True if they changed and icons must be fetched again."""
        ratios = screen_ratios()
        if ratios == self._ratios:
            return False
        self._ratios = ratios
        self._icons.clear()
        return True

    def pixmap(self, name: str, color: str, size: int, ratio: float) -> QPixmap:
        return _tinted(self._folder / f"{name}.svg", color, size, ratio)

    def icon(self, name: str, color: str, disabled: str, size: int = 16) -> QIcon:
        """An icon in its normal and disabled colour."""
        key = (name, color, disabled, size)
        if key not in self._icons:
            icon = QIcon()
            for ratio in self._ratios:
                icon.addPixmap(self.pixmap(name, color, size, ratio), QIcon.Mode.Normal)
                icon.addPixmap(self.pixmap(name, disabled, size, ratio), QIcon.Mode.Disabled)
            self._icons[key] = icon
        return self._icons[key]

    def application(self) -> QIcon:
        icon = QIcon()
        for size in APP_ICON_SIZES:
            icon.addFile(str(self._folder / f"paceline-{size}.png"), QSize(size, size))
        return icon


def use_typefaces(folder: Path) -> None:
    """Load the typefaces in ``folder`` and use them at the size of the system's font.

    Missing typefaces are replaced by the system's fonts. A second call does nothing.
    """
    system = QApplication.font()
    if system.families()[:1] == [TEXT_FAMILIES]:
        return
    for file in sorted(folder.glob("*.ttf")):
        if QFontDatabase.addApplicationFont(str(file)) < 0:
            _log.warning("The font %s could not be loaded.", file.name)
    if QFontDatabase.hasFamily(TEXT_FAMILIES):
        font = QFont(system)
        font.setFamilies(
            [TEXT_FAMILIES, *(system.families() or [system.family()])]
        )  # fallbacks, for example for Chinese
        QApplication.setFont(font)


def code_font(pixels: int) -> QFont:
    font = QFontDatabase.systemFont(QFontDatabase.SystemFont.FixedFont)
    if not QFontInfo(font).fixedPitch():
        font = QFont("monospace")
        font.setStyleHint(QFont.StyleHint.Monospace)
    if QFontDatabase.hasFamily(CODE_FAMILIES):
        font.setFamilies([CODE_FAMILIES, *(font.families() or [font.family()])])
    font.setPixelSize(pixels)
    return font


def qt_palette(tokens: Palette) -> QPalette:
    """``tokens`` as a Qt palette, for elements that the stylesheet does not style."""
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
    """Cached fonts, font metrics and colours for painting.

    The objects are shared: do not change them, and fetch them again after `Theme.changed`.
    """

    def __init__(self, base_px: int) -> None:
        self._base_px = base_px
        self._fonts: dict[FontKey, QFont] = {}
        self._metrics: dict[FontKey, QFontMetricsF] = {}
        self._colors: dict[str, QColor] = {}

    def clear(self, base_px: int) -> None:
        """Clear the cache: the text size, the system font or the palette changed."""
        self._base_px = base_px
        for kept in (self._fonts, self._metrics, self._colors):
            kept.clear()

    def font(self, step: int = 0, weight: QFont.Weight = REGULAR) -> QFont:
        """The application's font ``step`` pixels from the base size, with tabular figures."""
        key = (step, weight)
        found = self._fonts.get(key)
        if found is None:
            found = self._fonts[key] = QFont(QApplication.font())
            found.setPixelSize(self._base_px + step)
            found.setWeight(weight)
            found.setFeature(QFont.Tag("tnum"), 1)
        return found

    def metrics(self, step: int = 0, weight: QFont.Weight = REGULAR) -> QFontMetricsF:
        key = (step, weight)
        found = self._metrics.get(key)
        if found is None:
            found = self._metrics[key] = QFontMetricsF(self.font(step, weight))
        return found

    def color(self, name: str) -> QColor:
        found = self._colors.get(name)
        if found is None:
            found = self._colors[name] = QColor(name)
        return found


class Theme(QObject):
    """Colours, fonts and icons for all widgets."""

    changed = Signal()  # the palette changed; painted and rich-text widgets redraw themselves

    def __init__(self, icons_folder: Path, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._folder = icons_folder
        use_typefaces(icons_folder.with_name("fonts"))
        self._icons = IconSet(icons_folder)
        self.formulas = FormulaCache()
        self.highlight_queue = HighlightQueue(self)
        self._name = "system"
        self._text_size = "normal"
        self.tokens = LIGHT
        self._system_base = base = max(QFontInfo(QApplication.font()).pixelSize(), SMALLEST_BASE_PX)
        self._system_font = QFontDatabase.systemFont(QFontDatabase.SystemFont.GeneralFont)
        self.type = TypeScale(base)
        self.paint_cache = PaintCache(base)
        self._widgets_with_fonts: WeakKeyDictionary[QWidget, tuple[int, bool]] = WeakKeyDictionary()
        hints = QApplication.styleHints()
        hints.colorSchemeChanged.connect(self._follow_system)
        hints.accessibility().contrastPreferenceChanged.connect(self._follow_system)
        application = QApplication.instance()
        if isinstance(application, QApplication):
            application.screenAdded.connect(self._watch_screen)
            application.fontChanged.connect(self._follow_font)
        for screen in QApplication.screens():
            screen.geometryChanged.connect(self._follow_screens)

    @property
    def name(self) -> str:
        return self._name

    def apply(self, name: str, window: QWidget) -> None:
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

    def adjacent_text_size(self, by: int) -> str:
        """The next larger (1) or smaller (-1) text size; the current one at the ends."""
        names = tuple(TEXT_SIZES)
        return names[min(max(names.index(self._text_size) + by, 0), len(names) - 1)]

    def set_text_size(self, name: str, window: QWidget) -> None:
        """Set the text size: a key of `TEXT_SIZES`."""
        self._text_size = name if name in TEXT_SIZES else "normal"
        by = TEXT_SIZES[self._text_size]
        base = round(self._system_base * by) if isinstance(by, float) else self._system_base + by
        size = TypeScale(max(base, SMALLEST_BASE_PX - 1))
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
        """Set `font` or `code_font` on a widget, also after changes of the text size."""
        widget.setFont(self.code_font() if code else self.font(step))
        self._widgets_with_fonts[widget] = (step, code)

    def _sheet(self) -> str:
        return stylesheet(self.tokens, self.type, self._images())

    def _resolve(self) -> Palette:
        hints = QApplication.styleHints()
        is_high = hints.accessibility().contrastPreference() == Qt.ContrastPreference.HighContrast
        is_dark = self._name == "dark" or (self._name == "system" and hints.colorScheme() == Qt.ColorScheme.Dark)
        return (HIGH_DARK if is_high else DARK) if is_dark else (HIGH_LIGHT if is_high else LIGHT)

    def _images(self) -> dict[str, str]:
        # A stylesheet cannot recolour an image, so these few files exist for each palette.
        files = {"chevron": f"chevron-down-{self.tokens.name}.svg", "tick": "check-on-accent.svg"}
        return {key: (self._folder / file).as_posix() for key, file in files.items()}

    def _follow_system(self) -> None:
        window = self.parent()
        if isinstance(window, QWidget) and self._resolve() is not self.tokens:
            self.apply(self._name, window)

    def _follow_font(self) -> None:
        """Handle a change of the system font."""
        self.paint_cache.clear(self.type.base)
        self.changed.emit()

    def follow_system_font(self) -> None:
        """Use the system's current font and size: Qt does not follow the system once a font was set."""
        font, window = QFontDatabase.systemFont(QFontDatabase.SystemFont.GeneralFont), self.parent()
        if font == self._system_font or not isinstance(window, QWidget):
            return
        self._system_font = font
        QApplication.setFont(font)
        use_typefaces(self._folder.with_name("fonts"))
        self._system_base = max(QFontInfo(font).pixelSize(), SMALLEST_BASE_PX)
        self.set_text_size(self._text_size, window)

    def _watch_screen(self, screen: QScreen) -> None:
        screen.geometryChanged.connect(self._follow_screens)
        self._follow_screens()

    def _follow_screens(self) -> None:
        if self._icons.follow_screens():
            self.changed.emit()

    def icon(self, name: str, color: str = "", size: int = 16) -> QIcon:
        return self._icons.icon(name, color or self.tokens.text_muted, self.tokens.text_disabled, size)

    def pixmap(self, name: str, color: str, size: int, ratio: float) -> QPixmap:
        return self._icons.pixmap(name, color, size, ratio)

    def application_icon(self) -> QIcon:
        return self._icons.application()

    def font(self, step: int = 0, weight: QFont.Weight = REGULAR) -> QFont:
        """The application's font ``step`` pixels from the base size, with tabular figures; a copy."""
        return QFont(self.paint_cache.font(step, weight))

    def code_font(self) -> QFont:
        return code_font(self.type.base)

    def text_height(self, step: int = 0) -> float:
        return self.paint_cache.metrics(step).height()

    def text_width(self, text: str, step: int = 0) -> float:
        """The width of ``text``, in logical pixels."""
        return self.paint_cache.metrics(step).horizontalAdvance(text)
