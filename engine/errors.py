"""Errors of the engine that a user can see. Each is converted to a `Problem`."""

from engine.records import Problem
from engine.sentences import Sentence, i18n


class PacelineError(Exception):
    """Base of all errors: ``message`` says what happened and why, ``advice`` says what the user can do."""

    title = "Paceline could not continue"
    default_advice = "Try again; if it happens again, restart Paceline."

    def __init__(self, message: str, advice: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.advice = self.default_advice if advice is None else advice

    @property
    def problem(self) -> Problem:
        return Problem(self.title, self.message, self.advice)

    @property
    def one_line(self) -> Sentence:
        title, message, advice = (
            text if isinstance(text, Sentence) else i18n(text) for text in (self.title, self.message, self.advice)
        )
        return i18n("{title}: {message} {advice}", title=title, message=message, advice=advice)


class EngineError(PacelineError):
    """Base of the engine's errors."""

    title = "The engine could not continue"


class NativeLibraryError(EngineError):
    """llama.cpp cannot be loaded: it is missing, built for another machine, or lacks a system library."""

    title = "llama.cpp cannot be loaded"
    default_advice = "Type “paceline doctor” in a terminal: it says what is missing and how to get it."


class ModelFileError(EngineError):
    """The file cannot be used as a model."""

    title = "This file cannot be used as a model"
    default_advice = "Download it again, or choose another GGUF file."


class ModelNotFoundError(ModelFileError):
    """The file does not exist or cannot be read."""

    title = "Model file not found"
    default_advice = "Check the path, or choose another GGUF file."


class ModelHeaderError(ModelFileError):
    """The GGUF header is damaged, has impossible values, or is of an unknown kind."""


class NewerModelError(ModelHeaderError):
    """The file needs a newer llama.cpp: its architecture, tokenizer or type of weights is unknown."""

    title = "This file needs a newer version"
    default_advice = "Update Paceline, or choose another model; to download the file again would not help."


class SideFileError(ModelFileError):
    """The file is not a side file (mmproj), or belongs to another model."""

    title = "This vision file cannot be used"
    default_advice = "Choose the side file (mmproj) that was published with this model."


class ModelLoadError(ModelFileError):
    """llama.cpp refused the file."""

    title = "The model could not be loaded"


class LoadCancelledError(ModelLoadError):
    """The load was cancelled: another model was chosen, the user stopped it, or the app closes."""

    default_advice = "Load it again if you need it."


class TooSlowError(ModelLoadError):
    """A helper process did not answer in time; the machine may have been busy."""


class DeviceError(EngineError):
    """A requested device is missing or lacks a feature; the message names the device."""

    title = "This device cannot be used"
    default_advice = "Choose one that “paceline doctor” lists, or none."


class NotEnoughMemoryError(EngineError):
    """Weights, caches and buffers do not fit the free memory."""

    title = "Not enough memory"
    default_advice = "Choose a smaller context or a smaller model, or close other programs."


class ContextError(EngineError):
    """A context of the requested size cannot be created."""

    title = "The context could not be made"
    default_advice = "Choose a smaller context in the settings."


class PromptError(EngineError):
    """The messages cannot be converted to a prompt."""

    title = "The prompt could not be made"
    default_advice = "Change the message, or start a new chat."


class PromptTooLongError(PromptError):
    """The prompt of ``num_tokens`` leaves no space in the context."""

    num_tokens = 0
    title = "The conversation is too long"
    default_advice = "Start a new chat, shorten the message, or choose a larger context in the settings."


class PictureError(PromptError):
    """A picture cannot be read, or the model cannot see it."""

    title = "The picture cannot be used"
    default_advice = "Give another picture."


class TemplateError(PromptError):
    """The model's chat template failed or used a forbidden operation."""

    title = "The chat template failed"
    default_advice = "Choose another model file; this one's chat template is broken or unsafe."


class GrammarError(EngineError):
    """A grammar or a schema cannot be used: it is invalid, too large, or leads to a dead end."""

    title = "This grammar cannot be used"
    default_advice = "Change the grammar or the schema."


class DecodeError(EngineError):
    """A forward pass failed."""

    title = "The model's computation failed"


class DraftRefusedError(EngineError):
    """The draft cannot be used with this target; the message names the token or setting that differs."""

    title = "This draft does not fit the target"
    default_advice = "Choose a draft of the same model family, or use the n-gram mode, which needs no draft."


class ModeUnavailableError(EngineError):
    """The requested mode is not available."""

    title = "This mode is not available"
    default_advice = "Set the mode to Off."


class SettingError(EngineError, ValueError):
    """A value is outside its range; the message names the setting."""

    title = "This setting cannot be used"
    default_advice = "Change it."
