"""Converts messages to token ids, with the chat template of the GGUF or a named fallback.

`engine.sandbox.template` runs the template; `engine.prompt.typed_text` prevents a user's text from producing control
tokens.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from functools import cached_property
from types import MappingProxyType
from typing import Any

from engine.errors import PromptError, TemplateError
from engine.interfaces import Tokenizer
from engine.prompt.message_forms import PROBE_PREFIX, ArgumentForm, MessageForms, TemplateInput, arguments_of
from engine.prompt.pictures import IdsOfPicture, PictureMarks, after_results
from engine.prompt.thinking import ThinkingChoice, Variables, find_thinking
from engine.prompt.typed_text import UserTextTokenizer
from engine.reasoning_tags import REASONING_TAGS, opens_reasoning
from engine.records import FROM_MODEL, QUESTION_DIVIDER, ChatRequest, Message, ThinkingOption, ToolCall
from engine.sandbox.template import TemplateRefusedError, TemplateRenderer, shared_renderer
from engine.sentences import i18n
from engine.tools.formats import SYNTAXES, ToolFormat
from engine.tools.reading import format_of

# Reasoning tags with which a template may begin the answer.
_REASONING_TAG = opens_reasoning()
CHATML_FALLBACK = "ChatML (fallback)"
PLAIN_FALLBACK = "User/Assistant (fallback)"
# Probes with words that no template contains: a question, a tool and its call.
_QUESTION = Message("user", f"{PROBE_PREFIX}question")
_TOOL: dict[str, Any] = {
    "type": "function",
    "function": {
        "name": "find_probe",
        "description": f"{PROBE_PREFIX}tool",
        "parameters": {
            "type": "object",
            "properties": {
                "place": {"type": "string", "description": "Where."},
                "count": {"type": "integer", "description": "How many."},
            },
            "required": ["place"],
        },
    },
}
_CALL = ToolCall("abcdefghi", "find_probe", '{"place": "Zyxplace", "count": 25}')  # Mistral requires nine letters
_TAG_TOKENS = 32  # last tokens of a prompt that are searched for a reasoning tag
# Text around the files of an infill prompt, as in llama.cpp's server.
_INFILL_PROJECT, _OPEN_FILE, _SNIPPET = "myproject\n", "filename", "\n\n--- snippet ---\n\n"
_GREETING = (Message("user", "Hello"),)
_ROLES = ("system", "user", "assistant", "tool")
_NO_TOOLS: dict[str, Any] = {"tools": None, "documents": None}  # as in transformers
_CHATML = (
    "{% for m in messages %}<|im_start|>{{ m.role }}\n{{ m.content }}<|im_end|>\n{% endfor %}"
    "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)
_PLAIN = (
    "{% for m in messages %}{% if m.role == 'system' %}{{ m.content }}\n\n"
    "{% else %}{{ m.role | capitalize }}: {{ m.content }}\n{% endif %}{% endfor %}"
    "{% if add_generation_prompt %}Assistant:{% endif %}"
)


class PromptBuilder:
    """Builds the prompts of one model.

    ``stop_texts`` are stop strings for a fallback template whose messages do not end with a control token.
    """

    def __init__(
        self, tokenizer: Tokenizer, template_source: str | None, renderer: TemplateRenderer = shared_renderer
    ) -> None:
        self._tokenizer = tokenizer
        self._renderer = renderer
        self._typed = UserTextTokenizer(tokenizer)
        self._forms = MessageForms()
        self._wants_parts: bool | None = None
        self.ids_of_picture: IdsOfPicture | None = None  # None: the model accepts no pictures
        self.stop_texts: tuple[str, ...] = ()
        if template_source and template_source.strip():
            self.template_name, self._source = FROM_MODEL, template_source
        elif self._is_token("<|im_start|>") and self._is_token("<|im_end|>"):
            self.template_name, self._source = CHATML_FALLBACK, _CHATML
        else:
            self.template_name, self._source = PLAIN_FALLBACK, _PLAIN
            self.stop_texts = ("\nUser:",)

    @property
    def tool_format(self) -> ToolFormat:
        """The form of tool calls in this template, found by rendering a call and parsing it."""
        return self._tools[0]

    @property
    def tool_refusal(self) -> str:
        """Why this model gets no tools; empty if it gets them."""
        return self._tools[1]

    @cached_property
    def _tools(self) -> tuple[ToolFormat, str]:
        if "tools" not in self._source and "functions" not in self._source:
            return ToolFormat.NONE, i18n("its chat template does not support tools")
        try:
            self._detect_content_form()
            asked = self._render(TemplateInput((_QUESTION,), (_TOOL,)), {})
            if _TOOL["function"]["description"] not in asked:
                return ToolFormat.NONE, i18n("its chat template does not support tools")
            found = next(filter(None, map(self._format_with, ArgumentForm)), ToolFormat.NONE)
        except TemplateError as error:
            return ToolFormat.NONE, i18n("its chat template fails with tools: {reason}", reason=error.message)
        for tool_format, syntax in SYNTAXES.items():
            if found is ToolFormat.NONE and syntax.described and (syntax.mark in asked or self._is_token(syntax.mark)):
                found = tool_format
        if found is ToolFormat.NONE:
            return found, i18n("its chat template writes calls in a form that is not known here")
        return found, ""

    def _format_with(self, form: ArgumentForm) -> ToolFormat:
        """The form of a call in the prompt; NONE if the template omits or refuses calls."""
        messages = (
            _QUESTION,
            Message("assistant", "", tool_calls=(_CALL,)),
            Message("tool", f"{PROBE_PREFIX}result", tool_call_id=_CALL.call_id, name=_CALL.name),
        )
        try:
            text = self._render(TemplateInput(messages, (_TOOL,), arguments=form), {})
        except TemplateRefusedError:
            return ToolFormat.NONE
        begin = text.rfind(_QUESTION.content) + len(_QUESTION.content)
        end = text.find(messages[-1].content, begin)
        schemas = {_CALL.name: _TOOL["function"]["parameters"]}
        return format_of(text[begin : end if end >= 0 else None], (_CALL.name, json.loads(_CALL.arguments)), schemas)

    def check_template(self) -> tuple[str, ...]:
        """Render once, which also starts the helper process; return a problem of the template as a sentence, if any."""
        try:
            self.build((Message("user", "Hello"),))
        except TemplateError as error:
            return (error.one_line,)
        return ()

    def build(
        self,
        messages: Sequence[Message],
        tools: Sequence[Mapping[str, object]] = (),
        variables: Variables = MappingProxyType({}),
        *,
        ends_reasoning: bool = False,
    ) -> list[int]:
        """Token ids of the conversation up to the beginning of the assistant's answer.

        If the last message is the assistant's, the answer continues it. Reasoning that the template opened is closed
        before that message, unless the message continues the reasoning. ``ends_reasoning`` closes it in any case.

        If a template refuses the messages, or omits words of a message, they are rewritten as little as possible
        (`engine.prompt.message_forms`). If it omits the pictures of a tool's result, a user message after the result
        shows them. ``variables`` are template variables.

        Raises:
            PromptError: there are no messages, or one has an unknown role.
            TemplateError: the template is broken, accepts a message in no form, or took too long.
        """

        def ids_of(given: Sequence[Message]) -> list[int]:
            text, mark, pictures = self._rendered(given, tools, variables, ends_reasoning=ends_reasoning)
            return pictures.tokenize(text, lambda part, behind: self._typed.tokenize(part, mark, continues=behind))

        try:
            return self._with_bos(ids_of(messages))
        except TemplateError:
            if not any(message.pictures for message in messages if message.role == "tool"):
                raise
        return self._with_bos(ids_of(after_results(messages)))

    def text_of(self, request: ChatRequest) -> str:
        """The prompt of a chat as text, in which control tokens and equal words of a user look the same.

        Raises:
            PromptError: there are no messages, or one has an unknown role.
            TemplateError: the template is broken, refuses the messages, or took too long.
        """
        variables, ends_reasoning = self._variables_of(request), bool(request.grammar)
        messages = tuple(replace(message, pictures=()) for message in request.messages)
        text, mark, _ = self._rendered(messages, request.tools, variables, ends_reasoning=ends_reasoning)
        return text.replace(mark, "")

    def tokens_of(self, text: str, special: bool, add_bos: bool) -> list[int]:
        """Ids of a text; ``special`` parses control tokens, ``add_bos`` adds BOS if the GGUF requires it.

        Raises:
            PromptError: the tokenizer failed.
        """
        ids = self._tokenizer.tokenize(text, special=special)
        bos_id = self._tokenizer.bos_id
        return [bos_id, *ids] if add_bos and self._tokenizer.add_bos and bos_id is not None else ids

    def bytes_of(self, ids: Sequence[int]) -> list[bytes]:
        """The bytes of each token, or the name of a control token."""
        return [self._tokenizer.piece(one) or self._tokenizer.token_text(one).encode() for one in ids]

    def _rendered(
        self,
        messages: Sequence[Message],
        tools: Sequence[Mapping[str, object]],
        variables: Variables,
        *,
        ends_reasoning: bool,
    ) -> tuple[str, str, PictureMarks]:
        """The rendered text, the mark that protects a user's words, and the pictures in the text."""
        self._check(messages)
        self._detect_content_form()
        pictures = PictureMarks(messages, self.ids_of_picture, (self._source,))
        messages = pictures.messages
        begun = ""
        if messages[-1].role == "assistant" and not messages[-1].tool_calls:
            begun, messages = messages[-1].content, messages[:-1]
            self._check(messages)
        words = [value for value in variables.values() if isinstance(value, str)]
        mark = self._typed.mark_for([self._source, begun, *words, *_texts_of(messages, tools), pictures.mark])
        variables = {name: self._protected(value, mark) for name, value in variables.items()}

        def render(form: TemplateInput) -> str:
            return self._render(form, variables, mark)

        conversation = TemplateInput(tuple(messages), tuple(tools))
        text = self._forms.rendered(conversation, render, tuple(sorted(variables.items())))
        text = _with_reasoning_ended(text, begun, ends_reasoning=ends_reasoning)
        return text + self._typed.protect(begun, mark), mark, pictures

    def ids_of_request(self, request: ChatRequest) -> list[int]:
        """Ids of the prompt of a request.

        Raises:
            PromptError: there are no messages, one has an unknown role, or no gap can be filled.
            TemplateError: the template is broken, refuses the messages, or took too long.
        """
        if request.raw_prompt is None:
            return self.ids_of_messages(request, request.messages)
        if request.raw_ids:
            return list(request.raw_ids)
        if request.suffix is not None:
            return self.infill(request.raw_prompt, request.suffix, request.files)
        return self.ids_of_raw_text(request.raw_prompt)

    def ids_of_messages(self, request: ChatRequest, messages: Sequence[Message]) -> list[int]:
        """Ids of ``messages`` for ``request``, with the template or as text to continue.

        Raises:
            PromptError: there are no messages, or one has an unknown role.
            TemplateError: the template is broken, refuses the messages, or took too long.
        """
        if request.continues_text:
            return self.without_template(messages)
        variables = self._variables_of(request)
        return self.build(messages, request.tools, variables, ends_reasoning=bool(request.grammar))

    def count(self, message: Message) -> int:
        """Number of tokens of a message's words and pictures, without those of the template."""
        words = len(self._tokenizer.tokenize(message.content, special=False))
        of = self.ids_of_picture
        return words + (sum(len(of(picture)) for _, picture in message.pictures) if of is not None else 0)

    def _variables_of(self, request: ChatRequest) -> Variables:
        choices = (choice.variables for choice in self._thinking_choices if choice.name == request.thinking)
        return {**next(choices, {}), **dict(request.template_variables)}

    def reasoning_start_tag_of(self, request: ChatRequest, ids: Sequence[int]) -> str:
        """The reasoning tag at the end of the prompt ``ids``, with spaces; often empty."""
        if request.raw_prompt is not None or request.continues_text:
            return ""
        begun = request.messages[-1].content if request.messages[-1].role == "assistant" else ""
        for opening, closing in REASONING_TAGS:
            if begun.lstrip().startswith(opening) and closing not in begun:
                return opening
        # Negative ids are a picture's.
        return _tag_at_end(
            b"".join(self.bytes_of([one for one in ids[-_TAG_TOKENS:] if one >= 0])).decode("utf-8", "replace")
        )

    def without_template(self, messages: Sequence[Message]) -> list[int]:
        """Ids of the messages' words as one text to continue, without a template and control tokens.

        Raises:
            PromptError: there are no messages, or one has an unknown role.
        """
        self._check(messages)
        pictures = PictureMarks(messages, self.ids_of_picture)
        text = QUESTION_DIVIDER.join(message.content for message in pictures.messages)
        ids = pictures.tokenize(text, lambda part, _behind: self._tokenizer.tokenize(part, special=False))
        return self._with_bos(ids)

    def ids_of_raw_text(self, text: str) -> list[int]:
        """Ids of ``text`` without a template, with parsed control tokens, and BOS if the GGUF requires it."""
        return self._with_bos(self._tokenizer.tokenize(text, special=True))

    def infill(self, before: str, after: str, files: Sequence[tuple[str, str]] = ()) -> list[int]:
        """Ids of an infill prompt between two texts; ``files`` (name and text) of the same project come first.

        The format is that of llama.cpp's server, which follows Qwen2.5-Coder (arXiv 2409.12186, section 3.2.2).

        Raises:
            PromptError: the model's file has no tokens for infill.
        """
        infill_ids = self._tokenizer.infill_ids
        if infill_ids is None:
            raise PromptError(
                "This model's file names no tokens for filling in the middle.",
                "Leave out the suffix, or choose a code model.",
            )
        first, second, gap = infill_ids
        texts = [self._tokenizer.tokenize(text, special=False) for text in (before, after)]
        return [*self._ids_of_files(files), *self._with_bos([first, *texts[0], second, *texts[1], gap])]

    def _ids_of_files(self, files: Sequence[tuple[str, str]]) -> list[int]:
        if not files:
            return []
        found = self._tokenizer.repo_and_file_ids
        if found is None:
            return self._tokenizer.tokenize("".join(f"{_SNIPPET}{text}" for _, text in files), special=False)
        project, file = found
        ids = [project, *self._tokenizer.tokenize(_INFILL_PROJECT, special=False)]
        for name, text in (*files, (_OPEN_FILE, "")):
            ids += [file, *self._tokenizer.tokenize(f"{name}\n{text}", special=False)]
        return ids

    def reasoning_start_tag(self) -> str:
        """The reasoning tag that this template opens at the beginning of an answer, with spaces; often empty."""
        if "think" not in (low := self._source.lower()) and "thought" not in low and "reasoning" not in low:
            return ""
        try:
            self._detect_content_form()
            return _tag_at_end(self._render_plain(_GREETING))
        except TemplateError:
            return ""

    def thinking_options(self) -> tuple[ThinkingOption, ...]:
        """The reasoning modes of this model, the default first; empty if the template offers no choice."""
        return tuple(ThinkingOption(choice.name, _tag_at_end(choice.prompt)) for choice in self._thinking_choices)

    @cached_property
    def _thinking_choices(self) -> tuple[ThinkingChoice, ...]:
        """Computed on first use, by rendering a few dozen short prompts."""

        def render(variables: Variables) -> str | None:
            try:
                return self._render_plain(_GREETING, variables)
            except TemplateRefusedError:
                return None

        try:
            self._detect_content_form()
            return find_thinking(self._source, render)
        except TemplateError:
            return ()

    @staticmethod
    def _check(messages: Sequence[Message]) -> None:
        if not messages:
            raise PromptError("There is no message to answer.")
        for message in messages:
            if message.role not in _ROLES:
                raise PromptError(
                    i18n(
                        "A message has the role {role!r}; known roles are {names}.",
                        role=message.role,
                        names=", ".join(_ROLES),
                    )
                )

    def _render_plain(self, messages: Sequence[Message], variables: Variables = MappingProxyType({})) -> str:
        form = TemplateInput(tuple(messages))
        try:
            return self._render(form, variables)
        except TemplateRefusedError as refusal:
            try:
                return self._render(replace(form, has_list=True), variables)
            except TemplateRefusedError:
                raise refusal from None

    def _fields_for_template(self, message: Message, arguments: ArgumentForm, mark: str) -> dict[str, Any]:
        fields: dict[str, Any] = {
            "role": message.role,
            "content": self._content(self._typed.protect(message.content, mark)),
        }
        if message.tool_calls:
            fields["tool_calls"] = [
                {
                    "id": self._protected(call.call_id, mark),
                    "type": "function",
                    "function": {
                        "name": self._protected(call.name, mark),
                        "arguments": self._protected(arguments_of(call, arguments), mark),
                    },
                }
                for call in message.tool_calls
            ]
        if message.role == "tool":
            fields["tool_call_id"] = self._protected(message.tool_call_id, mark)
            fields["name"] = self._protected(message.name, mark)
        return fields

    def _protected(self, value: Any, mark: str) -> Any:  # noqa: ANN401  (JSON)
        """Protect all texts in a JSON value, so that they produce no control tokens."""
        if isinstance(value, str):
            return self._typed.protect(value, mark)
        if isinstance(value, Mapping):
            return {self._typed.protect(str(key), mark): self._protected(inner, mark) for key, inner in value.items()}
        return [self._protected(inner, mark) for inner in value] if isinstance(value, list | tuple) else value

    def _render(self, form: TemplateInput, variables: Variables, mark: str = "") -> str:
        if form.tools:
            given_tools = self._protected(form.tools, mark)
            functions = json.dumps([tool.get("function") for tool in given_tools], ensure_ascii=False, indent=4)
            tools: dict[str, Any] = {**_empty_tools(), "documents": None, "tools": given_tools, "functions": functions}
        else:
            tools = _empty_tools() if form.has_list else _NO_TOOLS
        given = {
            "messages": [self._fields_for_template(message, form.arguments, mark) for message in form.messages],
            "add_generation_prompt": True,
            "bos_token": self._text_of(self._tokenizer.bos_id),
            "eos_token": self._text_of(self._tokenizer.eos_id),
        }
        return self._renderer.render(self._source, {**variables, **tools, **given})

    def _content(self, text: str) -> str | list[dict[str, str]]:
        """The words of a message in the form that the template requires."""
        return [{"type": "text", "text": text}] if self._wants_parts else text

    def _detect_content_form(self) -> None:
        """Detect once whether the template expects a message's content as a text or as a list of parts.

        With the wrong form most templates silently omit the words. If both forms of the test message are refused, texts
        are used, and the real messages give the error.
        """
        if self._wants_parts is not None:
            return
        is_refused = False
        for self._wants_parts in (False, True):
            try:
                if PROBE_PREFIX in self._render_plain([Message("user", PROBE_PREFIX)]):
                    return
            except TemplateRefusedError:
                is_refused = True
        if is_refused:
            self._wants_parts = False
            return
        self._wants_parts = None
        raise TemplateError(
            "The chat template of this model leaves out the text of messages.",
            "Use another file of this model, or one with another template.",
        )

    def _with_bos(self, ids: list[int]) -> list[int]:
        """Add BOS if the GGUF requires it and the template has not written it."""
        bos_id = self._tokenizer.bos_id
        if self._tokenizer.add_bos and bos_id is not None and ids[:1] != [bos_id]:
            return [bos_id, *ids]
        return ids

    def _text_of(self, token_id: int | None) -> str:
        return "" if token_id is None else self._tokenizer.token_text(token_id)

    def _is_token(self, text: str) -> bool:
        return len(self._tokenizer.tokenize(text, special=True)) == 1


def _texts_of(messages: Sequence[Message], tools: Sequence[Mapping[str, object]]) -> Iterator[str]:
    for message in messages:
        yield message.content
        for call in message.tool_calls:
            yield from (call.call_id, call.name, call.arguments)
            yield from _texts_in(arguments_of(call, ArgumentForm.OBJECT))  # with escapes decoded
        yield from (message.tool_call_id, message.name)
    yield from _texts_in(list(tools))


def _texts_in(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for key, inner in value.items():
            yield str(key)
            yield from _texts_in(inner)
    elif isinstance(value, list | tuple):
        for inner in value:
            yield from _texts_in(inner)


def _empty_tools() -> dict[str, Any]:
    today = datetime.now().astimezone().strftime("%Y-%m-%d")
    return {"tools": [], "documents": [], "functions": "[]", "datetime": today}


def _with_reasoning_ended(text: str, begun: str, *, ends_reasoning: bool) -> str:
    """Close open reasoning of a prompt before the beginning of an answer."""
    opened = _REASONING_TAG.search(text)
    if opened is None or not (begun or ends_reasoning):
        return text
    opening = opened[0].strip()
    closing = next(end for begin, end in REASONING_TAGS if begin == opening)
    if begun.lstrip().startswith(opening):
        return text[: opened.start()]  # the answer opens the reasoning itself
    if closing in begun:
        return text
    return f"{text}{'' if opened[0] == opening else chr(10)}{closing}\n\n"


def _tag_at_end(text: str) -> str:
    """The reasoning tag at the end of a prompt, including spaces."""
    opened = _REASONING_TAG.search(text)
    return opened[0] if opened else ""
