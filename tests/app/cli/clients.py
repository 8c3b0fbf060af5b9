"""Unmodified clients against a running server: OpenAI's package and the llm command.

    paceline serve --model T.gguf --draft D.gguf --key K
    CLIENTS/bin/python tests/app/cli/clients.py --url http://127.0.0.1:8080/v1 --key K [--only openai]

This Python needs `openai`, `llm`, and `jsonschema` to check answers. Prints a line for each test;
the exit code is the number of failures. Clients that are not installed and features that the served model lacks (tools
in its template, infill tokens) are reported as skipped.
"""

# ruff: noqa: T201  (a command, which prints)

import argparse
import importlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

PERSON = {
    "type": "object",
    "properties": {
        "name": {"type": "string", "maxLength": 40},
        "age": {"type": "integer", "minimum": 0, "maximum": 120},
        "hobbies": {"type": "array", "items": {"type": "string", "maxLength": 30}, "maxItems": 3},
    },
    "required": ["name", "age", "hobbies"],
    "additionalProperties": False,
}
GET_WEATHER: dict[str, Any] = {
    "name": "get_weather",
    "description": "The current weather in a city.",
    "parameters": {
        "type": "object",
        "properties": {"city": {"type": "string"}, "unit": {"enum": ["celsius", "fahrenheit"]}},
        "required": ["city"],
    },
}
WEATHER = {"type": "function", "function": GET_WEATHER}
QUESTION = "In one short sentence: what is a binary search?"
CODE = """def area(width, height):
    return width * height


def volume(width, height, depth):
    return area(width, height) * depth
"""


class OpenAiPackage:
    """The tests with OpenAI's own package."""

    def __init__(self, url: str, key: str) -> None:
        self._client = importlib.import_module("openai").OpenAI(base_url=url, api_key=key, max_retries=0, timeout=600.0)
        self._model = self._client.models.list().data[0].id

    def _ask(self, words: str | list[Any], **fields: Any) -> Any:  # noqa: ANN401  (the client's own types)
        messages = [{"role": "user", "content": words}] if isinstance(words, str) else words
        return self._client.chat.completions.create(
            model=self._model, messages=messages, temperature=0, max_tokens=200, **fields
        )

    def chat(self) -> str:
        """A complete answer."""
        answer = self._ask(QUESTION)
        _check(answer.choices[0].finish_reason == "stop")
        return str(answer.choices[0].message.content)

    def stream(self) -> str:
        """A streamed answer, with its usage."""
        chunks = list(self._ask(QUESTION, stream=True, stream_options={"include_usage": True}))
        _check(chunks[-1].usage.completion_tokens > 0)
        return "".join(chunk.choices[0].delta.content or "" for chunk in chunks if chunk.choices)

    def json_schema(self) -> str:
        """A JSON object with a schema."""
        form = {"type": "json_schema", "json_schema": {"name": "person", "strict": True, "schema": PERSON}}
        answer = self._ask("Invent a person.", response_format=form)
        _check(answer.choices[0].finish_reason == "stop")
        value = json.loads(answer.choices[0].message.content)
        importlib.import_module("jsonschema").validate(value, PERSON)
        return f"{value}; forced: {answer.model_extra['speculation']['forced']}, {_per_pass(answer)}"

    def json_object(self) -> str:
        """A JSON object without a schema."""
        answer = self._ask("Name two colours as a JSON object.", response_format={"type": "json_object"})
        return str(json.loads(answer.choices[0].message.content))

    def tools(self) -> str:
        """A required call, and the model's answer to the tool's result."""
        messages: list[Any] = [{"role": "user", "content": "What is the weather in Rome, in celsius?"}]
        answer = self._ask(messages, tools=[WEATHER], tool_choice="required").choices[0]
        call = answer.message.tool_calls[0]
        _check((answer.finish_reason, call.function.name) == ("tool_calls", "get_weather"))
        messages += [answer.message, {"role": "tool", "tool_call_id": call.id, "content": "19 degrees, sunny"}]
        said = self._ask(messages, tools=[WEATHER]).choices[0].message.content
        return f"{json.loads(call.function.arguments)} -> {said}"

    def tools_by_choice(self) -> str:
        """A call that the model may choose to make."""
        answer = self._ask("What is the weather in Paris? Use the tool.", tools=[WEATHER]).choices[0]
        calls = answer.message.tool_calls
        return f"{answer.finish_reason}: {calls[0].function if calls else answer.message.content}"

    def tools_streamed(self) -> str:
        """A streamed call."""
        chunks = list(self._ask("The weather in Oslo?", tools=[WEATHER], tool_choice="required", stream=True))
        parts = [part for chunk in chunks for part in chunk.choices[0].delta.tool_calls or []]
        _check(parts[0].function.name == "get_weather")
        return str(json.loads("".join(part.function.arguments or "" for part in parts)))

    def prediction(self) -> str:
        """An edit of a text that is also sent as the predicted output."""
        text = f"Rename the parameter `depth` to `length` in this code. Answer with the code only.\n\n{CODE}"
        answer = self._ask(text, prediction={"type": "content", "content": CODE})
        details = answer.usage.completion_tokens_details
        kept, refused = details.accepted_prediction_tokens, details.rejected_prediction_tokens
        return f"{kept} accepted, {refused} rejected; {_per_pass(answer)}"

    def logprobs(self) -> str:
        """Probabilities of each token and of its alternatives."""
        answer = self._ask(QUESTION, logprobs=True, top_logprobs=3).choices[0]
        reported = answer.logprobs.content
        _check("".join(one.token for one in reported) == answer.message.content)
        _check(all(len(one.top_logprobs) == 3 and one.logprob <= 0.0 for one in reported))
        return f"{len(reported)} tokens, the first {reported[0].token!r} at {reported[0].logprob:.3f}"

    def completions_with_suffix(self) -> str:
        """Infill: the text between two texts."""
        answer = self._client.completions.create(
            model=self._model,
            prompt="def add(a, b):\n    ",
            suffix="\n\nprint(add(1, 2))\n",
            max_tokens=40,
            temperature=0,
        )
        _check("return" in answer.choices[0].text)
        return repr(answer.choices[0].text)

    def completions_with_logprobs(self) -> str:
        """The continuation of a text, with probabilities."""
        answer = self._client.completions.create(model=self._model, prompt="1, 2, 3,", max_tokens=6, logprobs=2)
        return f"{answer.choices[0].text!r}, {len(answer.choices[0].logprobs.tokens)} tokens"

    def responses(self) -> str:
        """A complete answer of the Responses API with a schema, checked by the package's types."""
        form = {"type": "json_schema", "name": "person", "strict": True, "schema": PERSON}
        answer = self._respond("Invent a person.", text={"format": form})
        _check(answer.status == "completed")
        value = json.loads(answer.output_text)
        importlib.import_module("jsonschema").validate(value, PERSON)
        type(answer).model_validate(answer.model_dump(by_alias=True, warnings=False))
        return f"{value}; {answer.usage.output_tokens} tokens"

    def responses_streamed(self) -> str:
        """Streamed events, assembled by the package."""
        with self._client.responses.stream(model=self._model, input=QUESTION, temperature=0) as events:
            text = "".join(event.delta for event in events if event.type == "response.output_text.delta")
            final = events.get_final_response()
        _check(final.output_text == text != "")
        return text

    def responses_with_tools(self) -> str:
        """A required call, and the model's answer to the tool's result."""
        tool = {"type": "function", "strict": False, **GET_WEATHER}
        items: list[Any] = [{"role": "user", "content": "What is the weather in Rome, in celsius?"}]
        answer = self._respond(items, tools=[tool], tool_choice="required")
        call = next(item for item in answer.output if item.type == "function_call")
        items += answer.output
        items.append({"type": "function_call_output", "call_id": call.call_id, "output": "19 degrees, sunny"})
        return f"{json.loads(call.arguments)} -> {self._respond(items, tools=[tool]).output_text}"

    def _respond(self, given: str | list[Any], **fields: Any) -> Any:  # noqa: ANN401  (the client's own types)
        return self._client.responses.create(
            model=self._model, input=given, temperature=0, max_output_tokens=200, store=False, **fields
        )


def with_openai(url: str, key: str) -> dict[str, Callable[[], str]]:
    """The tests with OpenAI's own package, by name."""
    package = OpenAiPackage(url, key)
    return {name: getattr(package, name) for name in vars(OpenAiPackage) if not name.startswith("_")}


def _check(holds: bool) -> None:
    if not holds:
        raise AssertionError("the answer is not as it should be")


def _per_pass(answer: Any) -> str:  # noqa: ANN401  (the client's own types)
    timings = answer.model_extra["timings"]
    return f"{timings['tokens_per_pass']:.2f} tokens per pass, {timings['predicted_per_second']:.1f} tok/s"


def _first_model(url: str, key: str) -> str:
    client = importlib.import_module("openai").OpenAI(base_url=url, api_key=key)
    return str(client.models.list().data[0].id)


def with_llm(url: str, key: str) -> dict[str, Callable[[], str]]:
    """The tests with the llm command, by name; its settings are in a temporary folder."""
    command = shutil.which("llm", path=f"{Path(sys.executable).parent}{os.pathsep}{os.environ.get('PATH', '')}")
    if command is None:
        raise ImportError("the llm command")
    folder = Path(tempfile.mkdtemp())
    entry = f"- model_id: local\n  model_name: {_first_model(url, key)}\n  api_base: {url}\n  api_key_name: local\n"
    entry += "  supports_tools: true\n  supports_schema: true\n"
    (folder / "extra-openai-models.yaml").write_text(entry, "utf-8")
    environment = {**os.environ, "LLM_USER_PATH": str(folder)}

    def run(*words: str) -> str:
        arguments = [command, "-m", "local", "--key", key, *words]
        done = subprocess.run(arguments, env=environment, capture_output=True, text=True, check=False)
        if done.returncode:
            raise RuntimeError(done.stderr.strip()[-300:])
        return done.stdout.strip()

    def prompt() -> str:
        return run("Name one planet.", "-o", "max_tokens", "30")

    def not_streamed() -> str:
        return run("Name one planet.", "--no-stream", "-o", "max_tokens", "30")

    def schema() -> str:
        return str(json.loads(run("Invent a person.", "--schema", json.dumps(PERSON), "-o", "max_tokens", "200")))

    return {one.__name__: one for one in (prompt, not_streamed, schema)}


CLIENTS = {"openai": with_openai, "llm": with_llm}


def main() -> int:
    """Run all checks; returns the number of failures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--url", default="http://127.0.0.1:8080/v1")
    parser.add_argument("--key", required=True)
    parser.add_argument("--only", choices=list(CLIENTS), action="append")
    options = parser.parse_args()
    failures = 0
    for name in options.only or CLIENTS:
        try:
            tries = CLIENTS[name](options.url, options.key)
        except ImportError as error:
            print(f"{name}: skipped, {error} is not installed")
            continue
        for what, attempt in tries.items():
            started = time.perf_counter()
            try:
                reported = " ".join(attempt().split())
            except Exception as error:  # noqa: BLE001  (each is printed and counted)
                if getattr(error, "code", None) == "unsupported_parameter":
                    print(f"{name} {what}: not with this model")
                    continue
                failures += 1
                reported = f"FAILED: {type(error).__name__}: {error}"
            print(f"{name} {what}: {reported[:300]} ({time.perf_counter() - started:.1f} s)", flush=True)
    return failures


if __name__ == "__main__":
    sys.exit(main())
