"""The settings dialog, generated from the table of fields: sections at the left, rows at the right."""

from collections.abc import Mapping, Sequence

from PySide6.QtCore import QEvent, QObject, QSize, Signal
from PySide6.QtWidgets import QListWidget, QScrollArea, QSizePolicy, QStackedWidget, QWidget

from app.core.domain.settings.fields import SettingField, SettingValue
from engine.records import Mode
from ui.settings.rows import CONTROL_PX, ModeRow, SettingRow, make_row
from ui.text.language import Translator, translate
from ui.widgets.building import (
    Stretch,
    button,
    hbox,
    label,
    line_edit,
    scroll_area,
    separator,
    set_style_property,
    vbox,
)
from ui.widgets.dialogs import Dialog, within_screen

tr = Translator("SettingsDialog")

SIZE = QSize(800, 600)

NAV_PX, AROUND_NAV_PX = 168, 38  # the margins around the list include a scroll bar


class _Sections(QListWidget):
    """The section list, as wide as the names."""

    def __init__(self) -> None:
        super().__init__()
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Expanding)

    def sizeHint(self) -> QSize:
        return QSize(max(NAV_PX, self.sizeHintForColumn(0) + AROUND_NAV_PX), super().sizeHint().height())


MAX_CONTROL_PX = 320  # leaves space for the explanation beside a control


class ControlWidths(QObject):
    """Gives a page's controls equal widths, also after a change of style or text size."""

    def __init__(self, page: QWidget, rows: Sequence[SettingRow]) -> None:
        super().__init__(page)
        self._rows = [row for row in rows if not row.is_wide]
        self._width = 0
        page.installEventFilter(self)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:  # noqa: ARG002
        if event.type() in (QEvent.Type.LayoutRequest, QEvent.Type.Show):
            wanted = [row.control.sizeHint().width() for row in self._rows]
            width = min(max([CONTROL_PX, *wanted]), MAX_CONTROL_PX)
            if width != self._width:
                self._width = width
                for row in self._rows:
                    row.set_control_px(width)
        return False


_PREVIEWED = frozenset({"theme", "text_size"})


class SettingsDialog(Dialog):
    saved = Signal(dict)  # the changed keys and their values
    previewed = Signal(str, str)  # a theme or text size to show at once: its key and value

    def __init__(
        self,
        fields: Sequence[SettingField],
        values: Mapping[str, SettingValue],
        parent: QWidget,
        below: Mapping[str, QWidget] | None = None,
    ) -> None:
        """``below``: widgets below the rows, by section."""
        super().__init__(parent, tr("Settings"))
        self._values = {field.key: values.get(field.key, field.default) for field in fields}
        self._below = below or {}
        self.rows: dict[str, SettingRow] = {}
        self.nav = _Sections()
        self.nav.setObjectName("settingsNav")
        self.nav.setAccessibleName(tr("Sections"))
        self.search = line_edit(tr("Search settings"), tr("Search"))
        self.search.setClearButtonEnabled(True)
        self.search.textChanged.connect(self.find_setting)
        self.pages = QStackedWidget()
        self._sections = list(dict.fromkeys(field.section for field in fields))
        for section in self._sections:
            self.nav.addItem(translate("Settings", section))
            self.pages.addWidget(self._page(section, [field for field in fields if field.section == section]))
        self.nav.currentRowChanged.connect(self.pages.setCurrentIndex)
        self.nav.currentRowChanged.connect(self._check)
        self.nav.setCurrentRow(0)
        self.save_button = button(tr("Save"), self._save, kind="primary")
        self.cancel_button = button(tr("Cancel"), self.reject)
        self.defaults_button = button(
            tr("Restore defaults"),
            self.restore_defaults,
            tip=tr("Resets every setting; nothing is saved until you click Save"),
        )
        self.other_page_problem = label("", "error", wrap=True)  # a problem on another page that prevents saving
        self.save_button.setDefault(True)
        for key in _PREVIEWED & self.rows.keys():
            row = self.rows[key]
            row.changed.connect(lambda key=key, row=row: self.previewed.emit(key, row.value()))
            self.rejected.connect(lambda key=key, row=row: row.set_value(self._values[key]))
        self._arrange()
        self.setTabOrder(self.search, self.nav)
        self._check()
        self.resize(within_screen(self, SIZE))

    def _page(self, section: str, fields: Sequence[SettingField]) -> QScrollArea:
        content = QWidget()
        heading = label(translate("Settings", section), "heading")
        column = vbox(heading, parent=content, margins=(24, 20, 24, 24), spacing=16)
        for place, field in enumerate(fields):
            if place:
                column.addWidget(separator())
            row = make_row(field)
            row.set_value(self._values[field.key])
            row.changed.connect(self._check)
            self.rows[field.key] = row
            column.addWidget(row)
        if section in self._below:
            column.addWidget(self._below[section])
        column.addStretch(1)
        ControlWidths(content, [self.rows[field.key] for field in fields])
        return scroll_area(content, translate("Settings", section), sideways=False)

    def _arrange(self) -> None:
        side = vbox(hbox(self.search, margins=(8, 12, 8, 4)), (self.nav, 1), spacing=0)
        body = hbox(side, (self.pages, 1), spacing=0)
        buttons = hbox(
            self.defaults_button, Stretch(), self.cancel_button, self.save_button, margins=(16, 12, 16, 12), spacing=8
        )
        self.other_page_problem.setContentsMargins(16, 8, 16, 0)
        vbox((body, 1), separator(), self.other_page_problem, buttons, parent=self, margins=0, spacing=0)

    def _check(self) -> None:
        if len(self.rows) == len(self._values) and hasattr(self, "save_button"):
            problems = self._problems()
            self.save_button.setEnabled(not problems)
            page = next(iter(problems), self.nav.currentRow())
            problem = "" if self.nav.currentRow() in problems else problems.get(page, "")
            self.other_page_problem.setText(f"{self.nav.item(page).text()}: {problem}" if problem else "")
            self.other_page_problem.setVisible(bool(problem))

    def _problems(self) -> dict[int, str]:
        """The first problem of each page, by the page's place."""
        sections = list(dict.fromkeys(row.field.section for row in self.rows.values()))
        found: dict[int, str] = {}
        for row in self.rows.values():
            if problem := row.problem():
                found.setdefault(sections.index(row.field.section), f"{row.label.text()}. {problem}")
        return found

    def set_unavailable(self, reasons: Mapping[Mode, str]) -> None:
        for row in self.rows.values():
            if isinstance(row, ModeRow):
                row.explain({mode.value: reason for mode, reason in reasons.items()})

    def find_setting(self, typed: str) -> None:
        """Show the sections that match, and scroll to the first matching setting."""
        words = typed.casefold().split()
        first: SettingRow | None = None
        for place in range(self.nav.count()):
            title, section = self.nav.item(place).text(), self._sections[place]
            rows = [row for row in self.rows.values() if row.field.section == translate("Settings", section)]
            fits = [row for row in rows if _contains_all(words, f"{title} {row.label.text()} {row.help.text()}")]
            for row in rows:
                set_style_property(row.label, "kind", "strong" if words and row in fits else "")
            is_left = bool(fits) or _contains_all(words, title)
            self.nav.item(place).setHidden(not is_left)
            if words and first is None and is_left:
                self.nav.setCurrentRow(place)
                first = fits[0] if fits else None
        page = self.pages.currentWidget()
        if first is not None and isinstance(page, QScrollArea):
            page.ensureWidgetVisible(first)

    def show_section(self, section: str) -> None:
        self.nav.setCurrentRow(self._sections.index(section))

    def changed_values(self) -> dict[str, SettingValue]:
        edited = {key: row.value() for key, row in self.rows.items()}
        return {key: value for key, value in edited.items() if value != self._values[key]}

    def restore_defaults(self) -> None:
        """Show the default of every setting."""
        for row in self.rows.values():
            row.set_value(row.field.default)

    def _save(self) -> None:
        changed = self.changed_values()
        if changed:
            self.saved.emit(changed)
        self.accept()


def _contains_all(words: Sequence[str], text: str) -> bool:
    return all(word in text.casefold() for word in words)
