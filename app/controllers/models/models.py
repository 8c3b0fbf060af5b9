"""Loads, replaces and removes models, and shows the engine's state."""

from collections.abc import Collection
from dataclasses import dataclass, replace
from pathlib import Path

from app.controllers.parts import Parts, PartsController
from app.controllers.state import Models
from app.core.domain.model_name import printable
from app.core.domain.settings.fields import SettingValue
from app.core.domain.settings.table import RELOAD_KEYS
from app.core.load_requests import load_request
from app.core.paths import builtin_draft, builtin_target
from engine.records import EngineEnded, EngineFailed, EngineReady, LoadProgress, LoadRequest, ModelInfo, Problem
from engine.requests import RunJob, SetDraft, next_request_id
from engine.sentences import i18n, joined
from ui.text.language import Translator, mark, translate

tr = Translator("ModelController")

ModelEvent = LoadProgress | EngineReady | EngineEnded | EngineFailed

NO_BUILTIN = Problem(
    "The built-in models are missing",
    "This copy of Paceline came without its small built-in models.",
    "Open a GGUF file of your own as the target.",
)


AFTER_REQUEST = mark("Controller", "This happens when the answer to another program is finished.")
AFTER_ANSWER = mark("Controller", "This happens when the answer is finished. Stop the answer to do it now.")
AFTER_ANSWERS = mark("Controller", "This happens when all answers are finished. Stop them to do it now.")
RELOADED = mark("Problems", "Your text is safe; the model is loaded again.")
ENGINE_ENDED_TWICE = mark(
    "Problems", "Your text is safe. The engine ended twice with this model, so it is not loaded again."
)
NOTHING_LOADED = mark("Problems", "Your text is safe. Choose a model to continue.")


@dataclass(frozen=True, slots=True)
class _PendingLoad:
    """A pending request, and the settings to save after its success."""

    settings_to_save: dict[str, SettingValue]
    request: LoadRequest | None = None
    is_fallback: bool = False  # a replacement that the user did not choose; the message with the reason stays
    is_reload: bool = False  # reloads a model after the engine ended; that was already reported


class ModelController(PartsController):
    """Loads models and shows which are loaded. Settings are saved after a load, so a file that fails is not chosen."""

    def __init__(self, parts: Parts) -> None:
        super().__init__(parts)
        self._ready: EngineReady | None = None
        self._loaded: LoadRequest | None = None  # load request of the models in use
        self._ended = ""  # why the engine ended last
        self._to_reload: LoadRequest | None = None  # models to reload after all failures are reported
        self._wanted: dict[str, SettingValue] | None = None  # settings of a chosen load that has not begun
        self._ended_with = ""  # the target when the engine ended last
        self._has_answered = False  # true if the target answered since it was loaded
        self._progress: LoadProgress | None = None
        self._pending: dict[int, _PendingLoad] = {}  # by request id, in the order of the requests
        self._reload_later: bool | None = None  # after the load, reload for changed settings (True: the draft's only)
        self._shown_problem: Problem | None = None  # about the last model that could not be used
        self._is_saving = False  # true while the settings of the loaded models are saved
        self._state.settings_changed.connect(self._on_settings)
        self._state.model_answered.connect(self._on_answered)
        window = self._window
        window.dialogs.file_chosen.connect(self.choose_file)
        window.header.draft_picked.connect(lambda path: self.choose_file(path, "draft"))
        window.header.remove_draft.connect(self.remove_draft)
        window.header.use_builtin.connect(self.use_builtin)
        window.header.unload.connect(self.unload)

    def _publish(self) -> None:
        self._state.set_models(
            Models(
                self._ready,
                self._loaded,
                bool(self._pending),
                self._progress.fraction if self._progress else None,
                self._loading_name,
            )
        )

    def is_pending(self, number: int) -> bool:
        return number in self._pending

    @property
    def _loading_name(self) -> str:
        """The file that is being loaded; empty for the built-in model and remote servers."""
        pending = next(iter(self._pending.values()), None)
        if pending is None:
            return ""
        asked = pending.request.target if pending.request else str(pending.settings_to_save.get("draft_path") or "")
        path = self._progress.path if self._progress else asked
        return "" if path == str(builtin_target()) or "://" in path else printable(Path(path).stem)

    def choose_file(self, path: str, role: str) -> None:
        """Use a file as target or as draft. A new target gets its last used draft, or none.

        The previous target's draft may not match the new one, or may slow it down.
        """
        self._announce_wait()
        if role == "target":
            changes: dict[str, SettingValue] = {"target_path": path}
            if self._loaded is None or path != self._loaded.target:
                changes["draft_path"] = self._state.pairs.get(path, "")
            self.load(changes)
        else:
            self._set_draft(path, {"draft_path": path})

    def load_pair(self, target: str, draft: str) -> None:
        self._announce_wait()
        self.load({"target_path": target, "draft_path": draft})

    def stop_loading(self) -> None:
        """Cancel loading; the previously loaded models stay."""
        for number in list(self._pending):
            self._worker.cancel(number)

    def unload(self) -> None:
        """Unload the models until the user chooses one."""
        if self._state.answers or self._state.is_serving or self._state.is_racing:
            self._window.show_notice(translate("Controller", "The model is in use. Stop the answer or race first."))
            return
        from app.core.server.engine_job import CallJob, unload  # noqa: PLC0415  (the first paint does not wait for it)

        self.stop_loading()
        self._window.notice_banner.withdraw_suggestion()
        self._worker.submit(RunJob(CallJob(unload)))
        self._ready = self._loaded = None
        self._publish()

    def remove_draft(self) -> None:
        self._announce_wait()
        self._set_draft(None, {"draft_path": ""})

    def _announce_wait(self) -> None:
        """If the load has to wait for running answers, show a notice."""
        if self._state.answers:
            words = AFTER_ANSWER if len(self._state.answers) == 1 else AFTER_ANSWERS
            self._window.show_notice(translate("Controller", words))
        elif self._state.is_serving:
            self._window.show_notice(translate("Controller", AFTER_REQUEST))

    def _on_answered(self) -> None:
        self._has_answered = True

    def _on_settings(self, changed: Collection[str]) -> None:
        if not self._is_saving and not RELOAD_KEYS.union({"draft_path"}).isdisjoint(changed):
            self._follow_settings(draft_only=RELOAD_KEYS.isdisjoint(changed))

    def _follow_settings(self, *, draft_only: bool) -> None:
        """Reload for changed settings; waits for a running load, which may change settings as well."""
        if any(each.settings_to_save for each in self._pending.values()):
            self._reload_later = draft_only and self._reload_later is not False
        elif draft_only and self._ready is not None:
            self._set_draft(load_request(self._state.settings).draft, {})
        else:
            self.load({})

    def use_builtin(self) -> None:
        self._announce_wait()
        self.load({"target_path": "", "draft_path": ""})

    def on_event(self, event: ModelEvent) -> None:
        if isinstance(event, LoadProgress):
            self._progress = event if self._pending else None
        elif isinstance(event, EngineEnded):
            self._on_ended(event)
            self._progress = None
        else:
            self._progress = None
            pending = self._pending.pop(event.request_id, _PendingLoad({}))
            if isinstance(event, EngineReady):
                self._on_ready(event, pending)
            else:
                self._on_failed(event, pending)
            if self._reload_later is not None and not self._pending:
                draft_only, self._reload_later = self._reload_later, None
                self._follow_settings(draft_only=draft_only)
        self._publish()

    def _on_ready(self, event: EngineReady, pending: _PendingLoad) -> None:
        others, self._to_reload = event.library_notices, None
        self._ready = replace(event, notices=(*event.notices, *others))
        self._has_answered = False
        if pending.request is not None:
            self._loaded = pending.request
        elif self._loaded is not None:
            self._loaded = replace(self._loaded, draft=event.draft.path if event.draft else None)
        self._is_saving = True
        self._keeper.change(pending.settings_to_save)
        self._is_saving = False
        if any(each.request for each in self._pending.values()):
            return  # another load follows, and will report its own result
        if pending.is_reload:
            return
        if self._shown_problem is not None and not pending.is_fallback:
            self._window.withdraw_problem(self._shown_problem)
            self._shown_problem = None
        if pending.request is not None and pending.request.draft and event.draft is None:
            reason = joined(event.notices) or tr("It could not be loaded.")
            advice = tr("Choose another draft, or continue without one.")
            self._show_problem(Problem("The draft is not in use", reason, advice))
        else:
            for notice in (*event.notices, *(others if pending.request is not None else ())):
                self._window.show_notice(notice)
            if pending.request is not None:
                self._show_target_notices(event.target)

    def _show_target_notices(self, target: ModelInfo) -> None:
        """Show notices about a model before its first answer."""
        if "pictures" in target.unused_abilities and not target.has_vision:
            words = tr(
                "{name} can also see pictures if its mmproj file is in the same folder. Add that file, "
                "and load the model again."
            )
            self._window.show_notice(words.format(name=target.name))
        is_reported = self._window.pages.currentWidget() is self._window.empty  # on the welcome page
        if not target.has_template and not is_reported:
            words = tr("{name} has no chat template. In a new chat you can let it continue your texts instead.")
            self._window.show_notice(words.format(name=target.name))

    def _on_ended(self, event: EngineEnded) -> None:
        """The engine ended: reload its models, unless they have ended it twice."""
        self._ended = event.reason
        if self._ready is not None and self._ready.target.engine_url:
            return  # a remote model is in use and stays
        lost, self._ready, self._loaded = self._loaded, None, None
        if self._pending and self._state.answers and self._progress is None and lost is not None:
            # The pending load had not begun: an answer ended the engine.
            self._ended_with = lost.target
            self._show_problem(_engine_ended_problem(event.reason, RELOADED))
            last = list(self._pending.values())[-1]
            self._to_reload = last.request or replace(
                lost, draft=str(last.settings_to_save.get("draft_path") or "") or None
            )
            self._wanted = last.settings_to_save
        elif self._pending:
            self._to_reload = lost  # the previous models did not end the engine: reload them
        elif lost is None:
            self._show_problem(_engine_ended_problem(event.reason, NOTHING_LOADED))
        elif lost.target == self._ended_with and not self._has_answered:
            self._show_problem(_engine_ended_problem(event.reason, ENGINE_ENDED_TWICE))
        else:
            self._ended_with = lost.target
            self._show_problem(_engine_ended_problem(event.reason, RELOADED))
            self._send(lost, {}, is_again=True)

    def _on_failed(self, event: EngineFailed, pending: _PendingLoad) -> None:
        if not event.was_cancelled and self._wanted is None:  # else the user cancelled, or another load follows
            self._show_problem(self._loading_problem(pending) if event.engine_ended else event.problem)
        if self._to_reload is not None and not self._pending:
            lost, wanted = self._to_reload, self._wanted or {}
            self._to_reload = self._wanted = None
            self._send(lost, wanted, is_again=True)
            return
        if self._ready is not None or self._pending or pending.request is None:
            return
        if pending.request.target != str(builtin_target()) and builtin_target().exists():
            self._window.show_notice(tr("The quick demo is used until you choose another model."))
            self._send(LoadRequest(str(builtin_target()), str(builtin_draft())), {}, is_fallback=True)

    def _loading_problem(self, pending: _PendingLoad) -> Problem:
        asked = pending.request.target if pending.request else str(pending.settings_to_save.get("draft_path") or "")
        path = self._progress.path if self._progress else asked
        message = i18n(
            "The engine ended unexpectedly ({reason}) while it loaded {name}.", reason=self._ended, name=Path(path).name
        )
        return Problem("The model could not be loaded", message, "Choose another file, or fewer layers on the GPU.")

    def _show_problem(self, problem: Problem) -> None:
        self._shown_problem = problem
        self._window.show_problem(problem)

    def load(self, changes: dict[str, SettingValue]) -> None:
        for before in reversed(self._pending.values()):  # include the changes of loads in progress
            changes = {**before.settings_to_save, **changes}
        wanted, _complaints = self._state.settings.changed(changes)
        request = load_request(wanted)
        if request.target == str(builtin_target()) and not builtin_target().exists():
            self._window.show_problem(NO_BUILTIN)
            return
        self._send(request, changes)

    def _send(
        self,
        request: LoadRequest,
        wanted: dict[str, SettingValue],
        *,
        is_fallback: bool = False,
        is_again: bool = False,
    ) -> None:
        self._window.notice_banner.withdraw_suggestion()
        number = next_request_id()
        self._pending[number] = _PendingLoad(wanted, request, is_fallback, is_again)
        self._worker.submit(replace(request, request_id=number))
        self._publish()

    def _set_draft(self, path: str | None, changes: dict[str, SettingValue]) -> None:
        if not self._state.models.usable:
            self._show_problem(Problem("No target is loaded", "A draft needs a target.", "Open a target first."))
            return
        self._window.notice_banner.withdraw_suggestion()
        request = SetDraft(path)
        self._pending[request.request_id] = _PendingLoad(changes)
        self._worker.submit(request)
        self._publish()


def _engine_ended_problem(reason: str, what_now: str) -> Problem:
    message = i18n("Its process ended ({reason}).", reason=reason)
    return Problem("The engine ended unexpectedly", message, what_now)
