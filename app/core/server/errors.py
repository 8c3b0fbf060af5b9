"""Refusals and failures as OpenAI's API words them, and Anthropic's and Ollama's on their paths: a status, and JSON."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from engine.errors import EngineError, GrammarError, PromptError, PromptTooLongError, SettingError

INVALID_REQUEST = "invalid_request_error"
SERVER_ERROR = "server_error"
NO_THREADS = "thread_unsupported_request"  # as Anthropic's clients know it
UNEXPECTED = "An error that should not happen ended this answer; the server's standard error names it."

_ANTHROPICS = {
    400: "invalid_request_error",
    401: "authentication_error",
    403: "permission_error",
    404: "not_found_error",
    413: "request_too_large",
    429: "rate_limit_error",
    503: "overloaded_error",
}


class ApiError(Exception):
    """A request that gets no answer, or an answer that could not be finished.

    Attributes:
        status: of the HTTP response.
        param: the field of the request that is to blame, as ``messages[2].content``.
        code: for programs: a word such as ``context_length_exceeded``.
        headers: further ones of the response.
    """

    def __init__(
        self,
        status: int,
        message: str,
        *,
        param: str | None = None,
        code: str | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(status, message)  # which is what makes it again in another process
        self.status = status
        self.message = message
        self.param = param
        self.code = code
        self.headers = dict(headers or {})

    def __str__(self) -> str:
        return self.message

    def renamed(self, names: Iterable[tuple[str, str]]) -> ApiError:
        """The same by other names of fields: those of the API that the request was made for."""
        message, param = self.message, self.param or ""
        for name, other in names:
            message, param = message.replace(name, other), param.replace(name, other)
        return ApiError(self.status, message, param=param or None, code=self.code, headers=self.headers)

    @property
    def body(self) -> dict[str, object]:
        """The JSON object of the response."""
        kind = INVALID_REQUEST if self.status < 500 else SERVER_ERROR
        return {"error": {"message": self.message, "type": kind, "param": self.param, "code": self.code}}


def in_anthropics_words(error: ApiError) -> dict[str, object]:
    """A refusal or failure in Anthropic's words."""
    kind = _ANTHROPICS.get(error.status, "invalid_request_error" if error.status < 500 else "api_error")
    details: dict[str, object] = {}
    if error.code == NO_THREADS:
        details = {"details": {"error_code": error.code, "unsupported": [error.param]}}
    return {"type": "error", "error": {"type": kind, "message": error.message, **details}}


def body_of(error: ApiError, path: str) -> dict[str, object]:
    """The JSON object of a refusal, in the words of the API that a path is of."""
    if path.removeprefix("/v1").startswith("/messages"):
        return in_anthropics_words(error)
    return {"error": error.message} if path.startswith("/api/") else error.body


def api_error(error: EngineError, prompt_field: str) -> ApiError:
    """Say whether the request is to blame for a failure of the engine, or the server.

    ``prompt_field`` is the field that the prompt was made of.
    """
    text = f"{error.message} {error.advice}".strip()
    if isinstance(error, PromptTooLongError):
        return ApiError(400, text, param=prompt_field, code="context_length_exceeded")
    if isinstance(error, PromptError):
        return ApiError(400, text, param=prompt_field)
    if isinstance(error, SettingError | GrammarError):
        return ApiError(400, text)
    return ApiError(500, text)


def closing_error() -> ApiError:
    """For requests that wait, and answers in the making, where the server ends."""
    return ApiError(503, "The server is closing.", code="server_closing")


def stopped_error() -> ApiError:
    """For an answer that the person at the computer ended; OpenAI's clients ask again but for the header."""
    headers = {"x-should-retry": "false"}
    return ApiError(503, "The answer was stopped where the server runs.", code="stopped", headers=headers)


def model_changed_error() -> ApiError:
    """For a request that waited while its model gave way to another one."""
    return ApiError(503, "Another model was loaded while this request waited. Try again.", code="model_changed")


def no_model_error() -> ApiError:
    """For requests that come while there is nothing to answer them."""
    headers = {"Retry-After": "2"}
    return ApiError(503, "No model is loaded just now. Try again.", code="no_model", headers=headers)
