"""Errors of requests: HTTP status and JSON in the format of OpenAI's, Anthropic's or Ollama's API."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from engine.errors import EngineError, GrammarError, PromptError, PromptTooLongError, SettingError

INVALID_REQUEST = "invalid_request_error"
SERVER_ERROR = "server_error"
MODEL_CHANGED = "model_changed"
THREAD_UNSUPPORTED = "thread_unsupported_request"  # Anthropic's error code for a `thread` field
UNEXPECTED = "An error that should not happen ended this answer; the server's standard error names it."

_ANTHROPIC_TYPES = {
    400: "invalid_request_error",
    401: "authentication_error",
    403: "permission_error",
    404: "not_found_error",
    413: "request_too_large",
    429: "rate_limit_error",
    503: "overloaded_error",
}


class ApiError(Exception):
    """A request failed, before or during its answer.

    Attributes:
        status: the HTTP status.
        param: the wrong field of the request, for example ``messages[2].content``.
        code: an error code for programs, for example ``context_length_exceeded``.
        headers: additional headers of the response.
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
        super().__init__(status, message)  # arguments for unpickling in another process
        self.status = status
        self.message = message
        self.param = param
        self.code = code
        self.headers = dict(headers or {})

    def __str__(self) -> str:
        return self.message

    def renamed(self, names: Iterable[tuple[str, str]]) -> ApiError:
        """The same error with the field names of another API."""
        message, param = self.message, self.param or ""
        for name, other in names:
            message, param = message.replace(name, other), param.replace(name, other)
        return ApiError(self.status, message, param=param or None, code=self.code, headers=self.headers)

    @property
    def body(self) -> dict[str, object]:
        kind = INVALID_REQUEST if self.status < 500 else SERVER_ERROR
        return {"error": {"message": self.message, "type": kind, "param": self.param, "code": self.code}}


def anthropic_error_body(error: ApiError) -> dict[str, object]:
    kind = _ANTHROPIC_TYPES.get(error.status, "invalid_request_error" if error.status < 500 else "api_error")
    details: dict[str, object] = {}
    if error.code == THREAD_UNSUPPORTED:
        details = {"details": {"error_code": error.code, "unsupported": [error.param]}}
    return {"type": "error", "error": {"type": kind, "message": error.message, **details}}


def error_body(error: ApiError, path: str) -> dict[str, object]:
    """The JSON object of an error, in the format of the path's API."""
    if path.removeprefix("/v1").startswith("/messages"):
        return anthropic_error_body(error)
    return {"error": error.message} if path.startswith("/api/") else error.body


def api_error(error: EngineError, prompt_field: str) -> ApiError:
    """Convert an engine error: status 400 if the request caused it, else 500.

    ``prompt_field``: the request's field that contains the prompt.
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
    return ApiError(503, "The server is closing.", code="server_closing")


def stopped_error() -> ApiError:
    """The error if the user at the computer stopped the answer. A header prevents OpenAI's clients from retrying."""
    headers = {"x-should-retry": "false"}
    return ApiError(503, "The answer was stopped by the user of the server.", code="stopped", headers=headers)


def model_changed_error() -> ApiError:
    return ApiError(503, "Another model was loaded while this request waited. Try again.", code=MODEL_CHANGED)


def no_model_error() -> ApiError:
    headers = {"Retry-After": "2"}
    return ApiError(503, "No model is loaded just now. Try again.", code="no_model", headers=headers)
