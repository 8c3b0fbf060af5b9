"""The empty page: offers models if none is loaded, and example prompts for a new chat."""

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtGui import QResizeEvent, QShowEvent
from PySide6.QtWidgets import QBoxLayout, QLabel, QPushButton, QScrollArea, QWidget

from app.core.domain.engine_view import EngineState, EngineView
from ui.text.language import Translator, translate
from ui.text.model_titles import TINY_NOTE, title_of
from ui.theme.theme import Theme
from ui.transcript.column import COLUMN_PX
from ui.widgets.building import GUTTER_PX, Stretch, button, empty_layout, grid, hbox, label, reserve_scroll_bar, vbox

tr = Translator("EmptyState")

NARROW_PX = 560  # below this width the buttons are stacked
PAGE_MARGINS_PX = 72
Example = tuple[str, str, str]  # icon, title, message

BUILTIN: tuple[Example, ...] = (
    (
        "copy",
        tr.mark("Repeat a text"),
        tr.mark("Repeat this text exactly: The quiet river runs past the old stone bridge."),
    ),
    (
        "list",
        tr.mark("Make a table"),
        tr.mark("Make a Markdown table of these words: river, stone, lamp, boat, apple, bell."),
    ),
    ("circle-question-mark", tr.mark("Ask about drafting"), tr.mark("What is speculative decoding?")),
    ("feather", tr.mark("Hear a story"), tr.mark("Write a short story about a fox.")),
)
CHAT: tuple[Example, ...] = (
    (
        "circle-question-mark",
        tr.mark("Have something explained"),
        tr.mark("Explain how a refrigerator works, in five short sentences."),
    ),
    (
        "list",
        tr.mark("Make a plan"),
        tr.mark("Plan a weekend in a city that I do not know yet, as a table with times."),
    ),
    (
        "pencil",
        tr.mark("Improve a text"),
        tr.mark(
            "Correct this text and list what you changed: Yesterday me and my brother has went to the libary, "
            "because they're books was overdue."
        ),
    ),
    ("feather", tr.mark("Hear a story"), tr.mark("Write a short story about a fox.")),
)


def examples_for(*, builtin: bool, completes: bool) -> tuple[Example, ...]:
    """Examples for a model. The built-in pair knows little; a base model only continues texts."""
    return BUILTIN if builtin else () if completes else CHAT


class EmptyState(QScrollArea):
    """The empty page, shown in place of the transcript."""

    prompt_chosen = Signal(str)  # send an example

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self._theme = theme
        self._builtin = True
        self._completes = False
        self._view = EngineView()
        self.examples: tuple[Example, ...] = ()
        self.setWidgetResizable(True)
        reserve_scroll_bar(self)
        self.setAccessibleName(tr("Start"))
        self.mark = QLabel()
        self.title, self.text = label("", "title", wrap=True), label("", "muted", wrap=True)
        tip = translate("Header", TINY_NOTE)
        self.builtin_button = button(tr("Quick demo"), kind="primary", tip=tip)
        tip = tr("Choose a model file on this computer")
        self.open_button = button(tr(" Open a GGUF file…"), tip=tip)
        tip = tr("Recommended models, search and library")
        self.browse_button = button(tr(" Find models"), tip=tip)
        self.prompt_buttons: list[QPushButton] = []
        self._arrange()
        theme.changed.connect(self._recolor)
        self.set_completing(False)

    def _prompt_button(self, icon: str, title: str, prompt: str) -> QPushButton:
        tip = translate("PromptCard", "Send “{prompt}”").format(prompt=prompt)
        made = button(f" {title}", lambda: self.prompt_chosen.emit(prompt), kind="prompt", tip=tip)
        made.setAccessibleName(f"{title}: {prompt}")
        made.setIcon(self._theme.icon(icon, self._theme.tokens.accent_text))
        return made

    def _arrange(self) -> None:
        left = Qt.AlignmentFlag.AlignLeft
        buttons = (self.builtin_button, self.open_button, self.browse_button)
        self._first_row = hbox(*((each, 0, left) for each in buttons), Stretch(), spacing=8)
        self.prompts = QWidget()
        self._grid = grid(gaps=(8, 8), parent=self.prompts, margins=0)
        self._show_examples(BUILTIN)
        column, page = QWidget(), QWidget()
        column.setMaximumWidth(COLUMN_PX - 2 * GUTTER_PX)  # as wide as the composer below
        parts = (self.mark, 8, self.title, self.text, 12, self._first_row, 8, self.prompts)
        sides = 24 - GUTTER_PX
        vbox(Stretch(2), *parts, Stretch(3), parent=column, margins=(sides, 24, sides, 24), spacing=8)
        page.setObjectName("page")
        hbox(Stretch(), (column, 1000), Stretch(), parent=page, margins=(GUTTER_PX, 0, 0, 0))
        self.setWidget(page)

    def _show_examples(self, examples: tuple[Example, ...]) -> None:
        """Show these examples."""
        if examples == self.examples:
            return
        self.examples = examples
        empty_layout(self._grid)
        self.prompt_buttons = [self._prompt_button(icon, *map(tr, texts)) for icon, *texts in examples]
        self._place_prompts()

    def _place_prompts(self) -> None:
        """Place the prompts in two columns, or in one where two are too wide."""
        widest = max((each.sizeHint().width() for each in self.prompt_buttons), default=0)
        columns = 2 if self.width() > 2 * widest + PAGE_MARGINS_PX else 1
        for place, each in enumerate(self.prompt_buttons):
            self._grid.addWidget(each, place // columns, place % columns)

    def set_engine(self, view: EngineView, *, builtin: bool = True) -> None:
        """Offer models, or example prompts if one is loaded. ``builtin``: show the notes on the built-in model."""
        self._builtin, self._view = builtin, view
        # While another model is loading, no note on the built-in one is shown.
        loading = view.state is EngineState.LOADING and (view.target is None or builtin)
        missing = view.target is None or loading
        self.builtin_button.setVisible(missing and not loading)
        self.open_button.setVisible(missing and not loading)
        self.browse_button.setVisible((missing or builtin) and not loading)
        self.prompts.setVisible(not missing)
        has_no_template = view.target is not None and not view.target.has_template
        self._show_examples(examples_for(builtin=builtin, completes=self._completes))
        ready = view.state is EngineState.READY
        for each in self.prompt_buttons:
            each.setEnabled(ready)
        if loading:
            self._show_text(
                tr("Loading {name}").format(name=title_of(view.loading)) if view.loading else tr("Loading the model"),
                tr("This takes a moment. You can already write your message."),
            )
        elif missing:
            self._show_text(
                tr("No model yet"),
                tr("Open a GGUF file from your computer, or start with the quick demo. {note}").format(
                    note=translate("Header", TINY_NOTE)
                ),
            )
        elif self._builtin:
            self._show_text(
                tr("Quick demo"), tr("{note} Try messages like these.").format(note=translate("Header", TINY_NOTE))
            )
        else:
            self._show_text(*self._ready_words(has_no_template))

    def set_completing(self, completes: bool) -> None:
        """Set whether messages are continued as texts."""
        self._completes = completes
        self.set_engine(self._view, builtin=self._builtin)

    def _ready_words(self, has_no_template: bool) -> tuple[str, str]:
        """Title and text of a new chat; ``has_no_template``: the model has no chat template."""
        if self._completes:
            return (
                tr("Continue a text"),
                tr("Write the beginning of a text below; the model continues it."),
            )
        if has_no_template:
            return (
                tr("New chat"),
                tr(
                    "This model has no chat template, so it was probably trained to continue texts, not to "
                    "answer. You can chat with it in a common format, or let it continue what you write: choose that "
                    "as the prompt format in the chat settings."
                ),
            )
        return (
            tr("New chat"),
            tr("Write a message below, or try one of these."),
        )

    def _show_text(self, title: str, text: str) -> None:
        self.title.setText(title)
        self.text.setText(text)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        narrow = event.size().width() < NARROW_PX
        direction = QBoxLayout.Direction.TopToBottom if narrow else QBoxLayout.Direction.LeftToRight
        self._first_row.setDirection(direction)
        self._place_prompts()

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self._recolor()

    def _recolor(self) -> None:
        self.mark.setPixmap(self._theme.application_icon().pixmap(QSize(44, 44), self.devicePixelRatioF()))
        for (icon, *_), each in zip(self.examples, self.prompt_buttons, strict=True):
            each.setIcon(self._theme.icon(icon, self._theme.tokens.accent_text))
        self.open_button.setIcon(self._theme.icon("folder-open", self._theme.tokens.text))
        self.browse_button.setIcon(self._theme.icon("search", self._theme.tokens.text))
