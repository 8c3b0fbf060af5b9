"""The stylesheet, generated from palette and type scale, for every state of every control. No Qt."""

from dataclasses import asdict, dataclass
from math import ceil
from string import Template

from ui.theme.palette import Palette

LINE_HEIGHT = 1.2  # line height as a multiple of the letter height
DESIGN_TEXT_PX = 13  # text size for which all widths were designed


@dataclass(frozen=True, slots=True)
class TypeScale:
    """Type sizes in pixels, relative to the system's size."""

    base: int

    @property
    def growth(self) -> float:
        """The factor relative to the default text size; at least 1."""
        return max(self.base / DESIGN_TEXT_PX, 1.0)

    @property
    def line(self) -> int:
        """The minimum height of button content: Qt makes buttons of large text too low."""
        return max(18, ceil(self.base * LINE_HEIGHT))

    @property
    def field(self) -> int:
        """The minimum height of field content."""
        return self.line + 2

    @property
    def answer(self) -> int:
        return self.base + 1

    @property
    def caption(self) -> int:
        return self.base - 1

    @property
    def heading(self) -> int:
        return self.base + 3

    @property
    def title(self) -> int:
        return self.base + 7

    @property
    def headline(self) -> int:
        return self.base + 11

    @property
    def figure(self) -> int:
        return self.base + 9

    @property
    def verdict(self) -> int:
        return self.base + 21


_SURFACES = """
QMainWindow, QDialog, #page, #transcript, #transcriptContent { background: $page; }
#sidebar, #statsPanel, #statsContent, #settingsNav { background: $pane; }
#sidebar { border: none; border-right: 1px solid $border; }
#statsPanel { border: none; border-left: 1px solid $border; }
#hubList { background: $page; border: none; border-right: 1px solid $border; }
#header, #marksLegend, #findBar { background: $page; border-bottom: 1px solid $border; }
QWidget { color: $text; font-size: ${base}px; }
QScrollArea, QAbstractScrollArea { border: none; background: transparent; }
QScrollArea#keyScrolled { border: 1px solid transparent; border-radius: 4px; }
QScrollArea#keyScrolled:focus { border-color: $focus; }
QLabel { background: transparent; }
QLabel:disabled { color: $text_disabled; }
QLabel[kind="caption"] { color: $text_muted; font-size: ${caption}px; }
QLabel[kind="muted"] { color: $text_muted; }
QLabel[kind="section"] { color: $text_muted; font-size: ${caption}px; font-weight: 600; }
QLabel[kind="heading"] { font-size: ${heading}px; font-weight: 600; }
QLabel[kind="key"] { color: $text_muted; background: $hover; border-radius: 4px; padding: 2px 6px; }
QLabel[kind="strong"] { font-weight: 600; }
QLabel[kind="title"] { font-size: ${title}px; font-weight: 600; }
QLabel[kind="warning"] { color: $caution; font-size: ${caption}px; }
QLabel[kind="live"] { color: $good; font-size: ${caption}px; }
QLabel[kind="tone-good"] { color: $good; }
QLabel[kind="tone-warn"] { color: $caution; }
QLabel[kind="tone-bad"] { color: $danger; }
QLabel[kind="tone-muted"] { color: $text_muted; }
QLabel[kind="error"] { color: $danger; font-size: ${caption}px; }
QToolTip { background: $raised; color: $text; border: 1px solid $border_strong; padding: 6px 8px; }
QSplitter::handle { background: transparent; }
QSplitter::handle:hover { background: $focus; }
QFrame#rule { background: $border; border: none; max-height: 1px; min-height: 1px; }
QFrame#card { background: $raised; border: 1px solid $edge; border-radius: 8px; }
"""

_BUTTONS = """
QPushButton { background: $raised; border: 1px solid $edge; border-radius: 6px; padding: 5px 12px;
  min-height: ${line}px; }
QPushButton:hover { background: $hover; }
QPushButton:pressed { background: $pressed; }
QPushButton:focus { border: 2px solid $focus; padding: 4px 11px; }
QPushButton:disabled { color: $text_disabled; background: transparent; border-color: $border; }
QPushButton[kind="primary"] { background: $accent; border-color: $accent; color: $on_accent; font-weight: 600; }
QPushButton[kind="primary"]:hover { background: $accent_hover; border-color: $accent_hover; }
QPushButton[kind="primary"]:pressed { background: $accent_pressed; border-color: $accent_pressed; }
QPushButton[kind="primary"]:focus { border: 2px solid $text; }
QPushButton[kind="primary"]:disabled { background: $hover; border-color: $hover; color: $text_disabled; }
QPushButton[kind="danger"] { color: $danger; }
QPushButton[kind="prompt"] { text-align: left; padding: 11px 14px; border-radius: 8px; }
QPushButton[kind="prompt"]:focus { padding: 10px 13px; border: 2px solid $focus; }
QPushButton[kind="side"] { text-align: left; border: 1px solid transparent; background: transparent;
  padding: 6px 8px; }
QPushButton[kind="side"]:hover { background: $hover; }
QPushButton[kind="side"]:pressed { background: $pressed; }
QPushButton[kind="side"]:focus { border: 2px solid $focus; padding: 5px 7px; }
QPushButton[kind="legend"], QPushButton[kind="mark"] { background: transparent; border: 1px solid transparent;
  border-radius: 4px; padding: 0; min-height: 22px; }
QPushButton[kind="mark"]:hover { background: $hover; }
QPushButton[kind="mark"]:focus { border: 1px solid $focus; }
QPushButton[kind="legend"]:hover { background: $hover; }
QPushButton[kind="legend"]:checked { background: $selected; }
QPushButton[kind="legend"]:focus { border: 1px solid $focus; }
QToolButton { background: transparent; border: 1px solid transparent; border-radius: 6px; padding: 4px; }
QToolButton:hover { background: $hover; }
QToolButton:pressed, QToolButton:open { background: $pressed; }
QToolButton:focus { border: 2px solid $focus; padding: 3px; }
QToolButton:disabled { color: $text_disabled; background: transparent; }
QToolButton::menu-indicator { image: none; width: 0; }
#versionSwitch QToolButton { padding: 4px 3px; }
#versionSwitch QToolButton:focus { padding: 3px 2px; }
QToolButton#contextMeter { padding: 4px 6px; color: $text_muted; font-size: ${caption}px; }
QToolButton#contextMeter:focus { padding: 3px 5px; }
QToolButton#contextMeter:hover { color: $text; }
#popup { background: $raised; border: 1px solid $border_strong; }
#popup QListView { background: transparent; }
#summaryLine { background: $tint; border: 1px solid $border; border-radius: 8px; margin-top: 8px; }
QToolButton#modelButton { padding: 4px 8px; color: $text_muted; }
QToolButton#modelButton:focus { padding: 3px 7px; }
QToolButton#modelButton:hover { color: $text; }
QToolButton#modeButton { padding: 4px 8px; color: $text; }
QToolButton#modeButton:focus { padding: 3px 7px; }
#pageSwitch { background: $hover; border-radius: 7px; }
#pageSwitch QToolButton { border-radius: 5px; padding: 3px 6px; margin: 2px; color: $text_muted;
  border: 1px solid transparent; }
#pageSwitch QToolButton:hover { color: $text; background: transparent; }
#pageSwitch QToolButton:checked { background: $raised; color: $text; border: 1px solid $edge; }
#pageSwitch QToolButton:focus { border: 2px solid $focus; padding: 2px 5px; }
QToolButton#jump { background: $raised; border: 1px solid $border_strong; border-radius: 14px; padding: 4px 12px; }
QToolButton#jump:hover { background: $hover; }
QToolButton#jump:focus { border: 2px solid $focus; padding: 3px 11px; }
"""

_INPUTS = """
QDialogButtonBox { dialogbuttonbox-buttons-have-icons: 0; }
QLineEdit, QSpinBox, QDoubleSpinBox, QComboBox, QPlainTextEdit[kind="field"] { background: $raised;
  border: 1px solid $edge; border-radius: 6px; padding: 4px 8px; min-height: ${field}px;
  selection-background-color: $accent; selection-color: $on_accent; }
QLineEdit, QPlainTextEdit { placeholder-text-color: $text_muted; }
QLineEdit:hover, QSpinBox:hover, QDoubleSpinBox:hover, QComboBox:hover { border-color: $text_muted; }
QLineEdit:focus, QSpinBox:focus, QDoubleSpinBox:focus, QComboBox:focus, QPlainTextEdit[kind="field"]:focus {
  border: 2px solid $focus; padding: 3px 7px; }
QLineEdit:disabled, QSpinBox:disabled, QDoubleSpinBox:disabled, QComboBox:disabled { color: $text_disabled;
  background: transparent; border-color: $border; }
QLineEdit#search { background: $hover; border-color: $edge; }
QLineEdit#search:focus { background: $raised; border-color: $focus; }
QSpinBox::up-button, QDoubleSpinBox::up-button, QSpinBox::down-button, QDoubleSpinBox::down-button {
  width: 0; border: none; }
QComboBox::drop-down { border: none; width: 22px; }
QComboBox::down-arrow { image: url("$chevron"); width: 14px; height: 14px; }
QComboBox QAbstractItemView { background: $raised; border: 1px solid $border_strong; padding: 4px; outline: none;
  color: $text; }
QComboBox QAbstractItemView::item { padding: 4px 8px; border-radius: 4px; min-height: 18px; color: $text; }
QComboBox QAbstractItemView::item:selected, QComboBox QAbstractItemView::item:hover { background: $selected; }
QCheckBox, QRadioButton { spacing: 8px; background: transparent; padding: 3px 4px 3px 1px; border-radius: 4px;
  border: 1px solid transparent; }
QCheckBox:focus, QRadioButton:focus { border: 1px solid $focus; outline: none; }
QCheckBox:disabled { color: $text_disabled; }
QCheckBox::indicator { width: 14px; height: 14px; border: 1px solid $text_muted; border-radius: 4px;
  background: $raised; }
QCheckBox::indicator:hover { border-color: $accent; }
QCheckBox::indicator:checked { background: $accent; border-color: $accent; image: url("$tick"); }
QCheckBox::indicator:disabled { border-color: $border_strong; }
QMenuBar { background: $page; border-bottom: 1px solid $border; padding: 2px; }
QMenuBar::item { padding: 5px 10px; border-radius: 5px; background: transparent; }
QMenuBar::item:selected, QMenuBar::item:pressed { background: $selected; }
QMenu { background: $raised; border: 1px solid $border_strong; padding: 5px; }
QMenu::item { padding: 6px 28px 6px 10px; border-radius: 5px; background: transparent; }
QMenu::icon { padding-left: 8px; }
QMenu::item:selected { background: $selected; }
QMenu::item:disabled { color: $text_disabled; }
QMenu::separator { height: 1px; background: $border; margin: 4px 6px; }
"""

_LISTS = """
QListView { background: transparent; border: none; outline: none; }
QListWidget#settingsNav { padding: 8px; border-right: 1px solid $border; }
QListWidget#settingsNav::item { padding: 7px 10px; border-radius: 6px; color: $text; }
QListWidget#settingsNav::item:hover { background: $hover; }
QListWidget#settingsNav::item:selected { background: $selected; color: $text; }
QListWidget#settingsNav::item:focus { border: 2px solid $focus; padding: 5px 8px; }
#promptList { background: $raised; border: 1px solid $border_strong; border-radius: 10px; }
QListWidget#prompts::item { padding: 6px 8px; border-radius: 6px; color: $text; }
QListWidget#prompts::item:hover { background: $hover; }
QListWidget#prompts::item:selected { background: $selected; color: $text; }
QListWidget#choices { background: $raised; border: 1px solid $border_strong; border-radius: 6px; padding: 4px; }
QListWidget#choices:focus { border: 1px solid $focus; }
QListWidget#choices::item { padding: 5px 8px; border-radius: 4px; color: $text; }
QListWidget#choices::item:hover { background: $hover; }
QListWidget#choices::item:selected { background: $selected; color: $text; }
QListWidget#hubNav::item { padding: 7px; border-radius: 6px; color: $text; }
QListWidget#hubNav::item:hover { background: $hover; }
QListWidget#hubNav::item:selected { background: $selected; color: $text; }
QListWidget#hubNav::item:focus { border: 2px solid $focus; padding: 5px; }
QTableView#statsTable, QTreeView#projectFiles { background: transparent; border: 1px solid $border; border-radius: 6px;
  outline: none; selection-background-color: $selected; selection-color: $text; }
QTableView#statsTable:focus, QTreeView#projectFiles:focus { border: 1px solid $focus; }
QTableView#statsTable::item { padding: 2px 5px; }
QTreeView#projectFiles::item { padding: 4px 5px; }
QTreeView#projectFiles::item:selected { background: $selected; color: $text; }
QHeaderView { background: transparent; border: none; }
QHeaderView::section { background: transparent; color: $text_muted; font-size: ${caption}px; font-weight: 600;
  border: none; border-bottom: 1px solid $border; padding: 5px 8px; }
QHeaderView::section:hover { background: $hover; }
QScrollBar:vertical { background: transparent; width: 12px; margin: 0; }
QScrollBar::handle:vertical { background: $border_strong; border-radius: 3px; min-height: 32px; margin: 2px 3px; }
QScrollBar::handle:vertical:hover { background: $text_disabled; }
QScrollBar::handle:vertical:disabled { background: transparent; }
QScrollBar:horizontal { background: transparent; height: 12px; margin: 0; }
QScrollBar::handle:horizontal { background: $border_strong; border-radius: 3px; min-width: 32px; margin: 3px 2px; }
QScrollBar::handle:horizontal:hover { background: $text_disabled; }
QScrollBar::add-line, QScrollBar::sub-line { width: 0; height: 0; border: none; background: transparent; }
QScrollBar::add-page, QScrollBar::sub-page { background: transparent; }
QProgressBar { background: $hover; border: none; border-radius: 2px; max-height: 4px; min-height: 4px; }
QProgressBar::chunk { background: $accent; border-radius: 2px; }
"""

_SETTINGS = """
#chatSettings { background: $page; border-left: 1px solid $border; }
QSlider::groove:horizontal { height: 4px; border-radius: 2px; background: $border_strong; }
QSlider::sub-page:horizontal { height: 4px; border-radius: 2px; background: $accent; }
QSlider::handle:horizontal { width: 12px; height: 12px; margin: -5px 0; border-radius: 7px; background: $raised;
  border: 1px solid $text_muted; }
QSlider::handle:horizontal:hover { border-color: $accent; }
QSlider::handle:horizontal:focus { border: 2px solid $focus; width: 10px; height: 10px; }
QPushButton#promptInUse { background: $page; border: none; border-bottom: 1px solid $border; border-radius: 0; }
QPushButton#promptInUse:hover { background: $hover; }
QPushButton#promptInUse:focus { border: 2px solid $focus; }
QRadioButton::indicator { width: 14px; height: 14px; border: 1px solid $text_muted; border-radius: 8px;
  background: $raised; }
QRadioButton::indicator:hover { border-color: $accent; }
QRadioButton::indicator:checked { width: 6px; height: 6px; border: 5px solid $accent; }
QLabel[kind="key"][own="true"] { background: $selected; color: $text; font-weight: 600; }
QPushButton[kind="link"] { background: transparent; border: 1px solid transparent; color: $accent_text;
  padding: 1px 4px; min-height: 20px; border-radius: 4px; font-size: ${caption}px; }
QPushButton[kind="link"]:hover { background: $hover; }
QPushButton[kind="link"]:pressed { background: $pressed; }
QPushButton[kind="link"]:focus { border: 1px solid $focus; }
"""

_CHAT = """
QTextBrowser#prose { background: transparent; border: none; font-size: ${answer}px;
  selection-background-color: $accent; selection-color: $on_accent; }
QTextBrowser#prose:focus { border: none; }
QTextBrowser#prose[kind="thought"] { color: $text_muted; font-size: ${base}px; }
QFrame#thought { border: none; border-left: 2px solid $border_strong; }
QToolButton#thoughtHeader, QToolButton#foldHeader { color: $text_muted; padding: 3px 8px 3px 4px; }
QToolButton#thoughtHeader { margin-left: -5px; }
QToolButton#thoughtHeader:hover, QToolButton#thoughtHeader:checked, QToolButton#foldHeader:hover { color: $text; }
QToolButton#thoughtHeader:pressed, QToolButton#thoughtHeader:checked, QToolButton#foldHeader:checked {
  background: transparent; }
QToolButton#thoughtHeader:hover, QToolButton#foldHeader:hover { background: $hover; }
QToolButton#thoughtHeader:focus, QToolButton#foldHeader:focus { padding: 2px 7px 2px 3px; }
#userCard { background: $tint; border-radius: 8px; }
#toolCard { border: 1px solid $edge; border-radius: 8px; }
#toolCard QPushButton[kind="link"] { margin-left: -5px; }
#codeBlock { background: $tint; border: 1px solid $border; border-radius: 8px; }
#codeBlock QToolButton:checked { background: $pressed; }
#codeBlock[focusWithin="true"] { border-color: $focus; }
QPlainTextEdit#code { background: transparent; border: none; selection-background-color: $accent;
  selection-color: $on_accent; }
#composerCard { background: $raised; border: 1px solid $edge; border-radius: 10px; }
#composerCard[focusWithin="true"] { border: 1px solid $focus; }
QPlainTextEdit#composerText { background: transparent; border: none; font-size: ${answer}px;
  selection-background-color: $accent; selection-color: $on_accent; }
#raceVerdict { background: $tint; border: 1px solid $border; border-radius: 8px; }
#raceHeadline { color: $accent_text; font-size: ${verdict}px; font-weight: 600; }
#raceHeadline[kind="unsure"] { color: $text; }
#laneText { background: transparent; }
#problemBanner { background: $warning_surface; border: 1px solid $warning_border; border-radius: 8px; }
#problemBanner QLabel { color: $warning_text; }
#noticeBanner { background: $tint; border: 1px solid $border; border-radius: 8px; }
#problemBanner[onPage="true"], #noticeBanner[onPage="true"] { margin: 4px 0 10px 0; }
QPushButton[kind="chip"] { background: $tint; border: 1px solid $edge; border-radius: 8px; padding: 0;
  text-align: left; }
QPushButton[kind="chip"]:hover { background: $hover; border-color: $text_muted; }
QPushButton[kind="chip"]:pressed { background: $pressed; }
QPushButton[kind="chip"]:focus { border: 2px solid $focus; padding: 0; }
#userCard QPushButton[kind="chip"] { background: $raised; }
#userCard QPushButton[kind="chip"]:hover { background: $hover; }
"""


def stylesheet(tokens: Palette, scale: TypeScale, images: dict[str, str] | None = None) -> str:
    """The window's stylesheet. ``images``: file addresses for ``chevron`` and ``tick``."""
    names = ("base", "line", "field", "answer", "caption", "heading", "title", "figure", "headline", "verdict")
    sizes = {name: getattr(scale, name) for name in names}
    values = {**asdict(tokens), **sizes, "chevron": "", "tick": "", **(images or {})}
    return Template(_SURFACES + _BUTTONS + _INPUTS + _LISTS + _SETTINGS + _CHAT).substitute(values)
