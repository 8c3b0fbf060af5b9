"""The lanes side by side with the verdict above them, during a race and after it."""

from collections.abc import Iterable, Sequence
from math import ceil

from PySide6.QtGui import QAccessible, QAccessibleAnnouncementEvent, QResizeEvent
from PySide6.QtWidgets import QBoxLayout, QFrame, QLabel, QSizePolicy, QWidget

from app.core.domain.speed.races import (
    AUTO_LANE,
    LaneChoice,
    LaneProgress,
    LaneText,
    LaneVerdict,
    RaceResult,
    RaceSetup,
    base_lane,
    main_verdict,
    verdict_sentence,
)
from app.core.domain.speed.verdict import MIN_TOKENS
from engine.records import Source, TokenSpan
from ui.race.lane_card import LaneCard
from ui.race.words import lane_name, machine_line, pair_name, result_line
from ui.statistics.words import SOURCES
from ui.text.formatting import count, times_plain
from ui.text.language import Translator, translate
from ui.text.problem_words import in_language
from ui.theme.theme import Theme
from ui.widgets.building import ElidedLabel, hbox, label, set_style_property, vbox
from ui.widgets.metrics import LegendRow

tr = Translator("Race")

NAME_MARGIN_PX = 38  # width of a legend row without its name: swatch and padding
MIN_LANE_PX = 250  # narrower lanes are stacked


class RaceVerdictBox(QFrame):
    """The race's main ratio, and sentences about its uncertainty."""

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self._theme = theme
        self.setObjectName("raceVerdict")
        self.headline = QLabel()
        self.headline.setObjectName("raceHeadline")
        kinds = ("strong", "", "caption")
        self.title, self.words, self.state = (label("", kind, wrap=True, selectable=True) for kind in kinds)
        for each in (self.title, self.words, self.state):
            each.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Minimum)
        column = vbox(self.title, self.words, self.state, spacing=2)
        hbox(self.headline, (column, 1), parent=self, margins=(16, 10, 16, 10), spacing=20)

    def show_result(self, verdicts: Sequence[LaneVerdict], lanes: Sequence[LaneChoice], state: str) -> None:
        """Show the current verdicts; ``state`` is the line below them."""
        first = main_verdict(verdicts, lanes)
        self._show_ratio(
            None if first is None else first.ratio, is_significant=first is not None and first.is_significant
        )
        self.title.setText(verdict_title(first, lanes))
        ordered = sorted(verdicts, key=lambda verdict: verdict is not first)
        names = [lane_name(lane) for lane in lanes]
        sentences = [in_language(verdict_sentence(each, names)) for each in ordered]
        self.words.setText("\n".join(sentences))
        # Reserve a line for each verdict, so that the lanes below do not move.
        self.words.setMinimumHeight(ceil(self._theme.text_height()) * max(len(lanes) - 1, 1))
        self.state.setText(state)
        self.setAccessibleName(" ".join([self.title.text(), *sentences, state]))

    def show_live(self, ratios: Sequence[tuple[LaneChoice, float]]) -> None:
        """Show speeds relative to the baseline during the first round; the large number is Auto's, else the highest."""
        words = tr("{lane}: {times} so far")
        lines = [words.format(lane=lane_name(choice), times=times_plain(ratio)) for choice, ratio in ratios]
        self.words.setText("\n".join(lines))
        main = dict(ratios).get(AUTO_LANE, max((ratio for _, ratio in ratios), default=None))
        self._show_ratio(main, is_significant=False)

    def _show_ratio(self, ratio: float | None, *, is_significant: bool) -> None:
        """Show the ratio, in the accent colour only if it is significant; None shows nothing."""
        kind = "" if is_significant else "unsure"
        if self.headline.property("kind") != kind:
            set_style_property(self.headline, "kind", kind)
        self.headline.setText(times_plain(1.0 if ratio is None else ratio))
        self.headline.ensurePolished()  # the pending layout only runs after the next paint
        self.headline.setMinimumWidth(self.headline.sizeHint().width())
        if ratio is None:
            self.headline.clear()  # the label keeps its width, so that its neighbours do not move


def verdict_title(verdict: LaneVerdict | None, lanes: Sequence[LaneChoice]) -> str:
    if verdict is None or verdict.ratio is None:
        return tr("The first round is not over yet")
    names = {"lane": lane_name(lanes[verdict.lane]), "base": lane_name(lanes[verdict.base])}
    if verdict.has_interval and not verdict.is_significant:
        return tr("Too close to call between {lane} and {base}").format(**names)
    if not verdict.has_interval:
        slower = tr("{lane} was slower than {base} this time")
        return (slower if verdict.ratio < 1.0 else tr("{lane} was faster than {base} this time")).format(**names)
    slower = tr("{lane} is slower than {base}")
    return (slower if verdict.ratio < 1.0 else tr("{lane} is faster than {base}")).format(**names)


class RaceView(QWidget):
    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self._theme = theme
        self._setup = RaceSetup("")
        self._verdicts: tuple[LaneVerdict, ...] = ()
        self._round, self._last_rounds = 0, [-1]  # the current round; for each lane the last round with text
        self.lanes: list[LaneCard] = []
        self.question = ElidedLabel("", "strong")
        self.verdict = RaceVerdictBox(theme)
        self.legend = {
            source: LegendRow(theme, translate("StatsPanel", name), translate("StatsPanel", words), field)
            for source, (name, field, words) in SOURCES.items()
            if source is not Source.TARGET
        }
        self._legend_space = QWidget()  # reserves the legend's height, also before the first mark
        self._legend_space.setFixedWidth(0)
        self._lane_box = QBoxLayout(QBoxLayout.Direction.LeftToRight)
        self._lane_box.setSpacing(12)
        self._arrange()

    def _arrange(self) -> None:
        legend = hbox(spacing=4)
        for row in self.legend.values():
            row.set_value("")
            row.setChecked(True)
            row.setVisible(False)
            row.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
            row.toggled.connect(self._mark)
            legend.addWidget(row)
        legend.addStretch(1)
        legend.addWidget(self._legend_space)
        self._theme.changed.connect(self._fit_legend)
        self._fit_legend()
        vbox(
            self.question, self.verdict, legend, (self._lane_box, 1), parent=self, margins=(24, 12, 24, 16), spacing=10
        )

    def _fit_legend(self) -> None:
        """Make the legend as wide as its names, and as high as needed."""
        for row in self.legend.values():
            row.setFixedWidth(ceil(self._theme.text_width(row.name, -1)) + NAME_MARGIN_PX)
            row.ensurePolished()  # the stylesheet sets the minimum height of clickable widgets
        heights = (max(row.sizeHint().height(), row.minimumHeight()) for row in self.legend.values())
        self._legend_space.setFixedHeight(max(heights))

    def begin(self, setup: RaceSetup) -> None:
        self._apply_setup(setup)
        self.verdict.show_result((), setup.lanes, tr("Waiting for the model"))

    def begin_lanes(self) -> None:
        """The engine has started the race: enable the lanes."""
        words = tr("Measuring the time of a pass, and reading the question")
        self.verdict.show_result((), self._setup.lanes, words)

    def _apply_setup(self, setup: RaceSetup) -> None:
        self._setup, self._verdicts, self._round = setup, (), 0
        self._last_rounds = [-1] * len(setup.lanes)
        self.question.setText(" ".join(setup.question.split()))
        if [lane.choice for lane in self.lanes] != list(setup.lanes):
            self._make_lanes(setup.lanes)
        self._fit_legend()
        for row in self.legend.values():
            row.hide()
        for lane in self.lanes:
            lane.reset()
            lane.begin_round()

    def _explain(self, spans: Iterable[TokenSpan]) -> None:
        """Add the sources of these tokens to the legend."""
        seen = {span.source for span in spans}
        for source, row in self.legend.items():
            row.setVisible(source in seen or not row.isHidden())

    def _make_lanes(self, choices: Sequence[LaneChoice]) -> None:
        for old in self.lanes:
            self._lane_box.removeWidget(old)
            old.hide()
            old.deleteLater()
        base = base_lane(choices)
        name = lane_name(choices[base])
        self.lanes = [
            LaneCard(self._theme, choice, "" if number == base else name) for number, choice in enumerate(choices)
        ]
        for lane in self.lanes:
            self._lane_box.addWidget(lane, 1)
        self._mark()
        self._reflow(self.width())

    def begin_round(self, number: int) -> None:
        self._round = number
        for lane in self.lanes:
            lane.begin_round()
        self._show_state()

    def add_text(self, event: LaneText) -> None:
        lane = self.lanes[event.lane]
        if self._last_rounds[event.lane] != event.round:
            self._last_rounds[event.lane] = event.round
            lane.begin_text()
            self._show_state()
        lane.text.append(event.text, event.spans)
        self._explain(event.spans)

    def show_progress(self, event: LaneProgress) -> None:
        self.lanes[event.lane].show_progress(event.stats, self._setup.max_tokens, finished=event.finished)
        if not self._verdicts:
            self._show_live_ratios()

    def _show_live_ratios(self) -> None:
        """Show current ratios before a round ends, from the counters of lanes with enough tokens."""
        choices = [lane.choice for lane in self.lanes]
        number = base_lane(choices)
        begun = [lane.stats.tokens >= MIN_TOKENS for lane in self.lanes]
        speeds = [lane.stats.tokens_per_second if far else None for lane, far in zip(self.lanes, begun, strict=True)]
        base = speeds[number]
        ratios = [own / base if own and base else None for own in speeds]
        for lane, ratio in zip(self.lanes, ratios, strict=True):
            if ratio:
                lane.show_ratio(ratio)
        pairs = zip(choices, ratios, strict=True)
        self.verdict.show_live([(choice, ratio) for choice, ratio in pairs if ratio and choice != choices[number]])

    def end_round(self, num_rounds: int, verdicts: tuple[LaneVerdict, ...]) -> None:
        self._verdicts = verdicts
        self._show_ratios()
        self._show_state(num_rounds)

    def _show_ratios(self) -> None:
        ratios = {verdict.lane: verdict.ratio for verdict in self._verdicts}
        for number, lane in enumerate(self.lanes):
            lane.show_ratio(ratios.get(number, 1.0 if self._verdicts else None))

    def _show_state(self, num_rounds: int | None = None) -> None:
        if num_rounds is None:
            of = self._setup.rounds
            number = self._round + 1
            words = (
                tr("Round {number}, until the result is certain").format(number=number)
                if of is None
                else tr("Round {number} of {all}").format(number=number, all=of)
            )
        else:
            words = tr("%n rounds are over", None, num_rounds)
        length = tr("up to {number} tokens").format(number=count(self._setup.max_tokens))
        self.verdict.show_result(self._verdicts, self._setup.lanes, f"{words} · {length}")

    def show_result(self, result: RaceResult) -> None:
        if self._setup != result.setup:
            self._apply_setup(result.setup)
        self._verdicts = result.verdicts
        longest = max((lane.stats.tokens for lane in result.lanes), default=0)
        for lane, outcome in zip(self.lanes, result.lanes, strict=True):
            lane.show_result(outcome, result.num_rounds, longest)
            self._explain(outcome.spans)
        self._show_ratios()
        facts = (pair_name(result.target, result.draft), result_line(result), machine_line(result))
        self.verdict.show_result(result.verdicts, result.setup.lanes, " · ".join(facts))
        announcement = QAccessibleAnnouncementEvent(self, self.verdict.accessibleName())
        QAccessible.updateAccessibility(announcement)

    def _mark(self) -> None:
        wanted = frozenset(source for source, row in self.legend.items() if row.isChecked())
        for lane in self.lanes:
            lane.text.mark_sources(wanted)

    def _reflow(self, width: int) -> None:
        narrow = width < MIN_LANE_PX * max(len(self.lanes), 1) * self._theme.type.base / 13
        direction = QBoxLayout.Direction.TopToBottom if narrow else QBoxLayout.Direction.LeftToRight
        if self._lane_box.direction() is not direction:
            self._lane_box.setDirection(direction)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._reflow(event.size().width())
