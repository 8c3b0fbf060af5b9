"""Messages -> token ids, through the chat template that the GGUF carries or a named fallback.

This is what a template is given, and what is done when it refuses. `engine.sandbox.template` runs it;
`engine.prompt.typed_text` keeps a person's words from becoming control tokens.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from itertools import product
from typing import Any

from engine.errors import PromptError, TemplateError
from engine.interfaces import Tokenizer
from engine.prompt.typed_text import TypedText
from engine.reasoning_tags import opens_reasoning
from engine.records import FROM_MODEL, JOINT, Message
from engine.sandbox.template import TemplateRefusedError, TemplateRenderer, shared_renderer
from engine.sentences import said

# With these a template may begin the answer of a model that reasons first.
_OPENED = opens_reasoning()
CHATML_FALLBACK = "ChatML (fallback)"
PLAIN_FALLBACK = "User/Assistant (fallback)"
_PROBE = "Zyxwvut"  # no template contains it
_ROLES = ("system", "user", "assistant")
_NO_TOOLS: dict[str, Any] = {"tools": None, "documents": None}  # as transformers has it where there are none
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
    """Makes the prompts of one model.

    ``template_name`` says which template is used; ``stop_texts`` are stop strings that this template needs
    because no control token ends a turn in it.
    """

    def __init__(
        self, tokenizer: Tokenizer, template_source: str | None, renderer: TemplateRenderer = shared_renderer
    ) -> None:
        self._tokenizer = tokenizer
        self._renderer = renderer
        self._typed = TypedText(tokenizer)
        self._takes_system: bool | None = None
        self._wants_parts: bool | None = None
        self.stop_texts: tuple[str, ...] = ()
        if template_source and template_source.strip():
            self.template_name, self._source = FROM_MODEL, template_source
        elif self._is_token("<|im_start|>") and self._is_token("<|im_end|>"):
            self.template_name, self._source = CHATML_FALLBACK, _CHATML
        else:
            self.template_name, self._source = PLAIN_FALLBACK, _PLAIN
            self.stop_texts = ("\nUser:",)

    def build(self, messages: Sequence[Message]) -> list[int]:
        """Ids of the conversation up to where the assistant's answer begins.

        Where the last message is the assistant's, it is a beginning that goes on: its words follow the place where an
        answer begins, and nothing ends them.

        A template that refuses the messages as they are gets them once more in the plainest form: the system
        prompt in front of the first user message, neighbours of one role joined. One that leaves the system
        prompt out without a word gets it so from the start.

        Raises:
            PromptError: there are no messages, or one has an unknown role.
            TemplateError: the template is broken, refuses both forms, or took too long.
        """
        self._check(messages)
        self._find_form()
        begun = ""
        if messages[-1].role == "assistant":
            begun, messages = messages[-1].content, messages[:-1]
            self._check(messages)
        mark = self._typed.mark_for([self._source, begun, *(message.content for message in messages)])
        given = [Message(m.role, self._typed.protect(m.content, mark)) for m in messages]
        forms = [given, _plainest(given)]
        if messages[0].role == "system" and not self._system_is_used():
            forms = forms[1:]
        text = self._render_first(forms)
        opened = _OPENED.search(text)
        if opened is not None and begun.startswith(opened[0].strip()):
            text = text[: opened.start()]  # what was begun opens it itself
        text += self._typed.protect(begun, mark)
        return self._with_bos(self._typed.tokenize(text, mark))

    def complete(self, messages: Sequence[Message]) -> list[int]:
        """Ids of the messages' words as one text that goes on: without a template, and no control token among them.

        Raises:
            PromptError: there are no messages, or one has an unknown role.
        """
        self._check(messages)
        text = JOINT.join(message.content for message in messages)
        return self._with_bos(self._tokenizer.tokenize(text, special=False))

    def raw(self, text: str) -> list[int]:
        """Ids of ``text`` without a template: control tokens parsed, BOS first where the GGUF says so."""
        return self._with_bos(self._tokenizer.tokenize(text, special=True))

    def opened_tag(self) -> str:
        """The tag of reasoning that this template leaves open where an answer begins, spaces included; often empty."""
        if "think" not in (low := self._source.lower()) and "thought" not in low and "reasoning" not in low:
            return ""
        try:
            self._find_form()
            opened = _OPENED.search(self._render_first([[Message("user", "Hello")]]))
        except TemplateError:
            return ""
        return opened[0] if opened else ""

    @staticmethod
    def _check(messages: Sequence[Message]) -> None:
        if not messages:
            raise PromptError("There is no message to answer.")
        for message in messages:
            if message.role not in _ROLES:
                raise PromptError(
                    said(
                        "A message has the role {role!r}; known are {names}.",
                        role=message.role,
                        names=", ".join(_ROLES),
                    )
                )

    def _render_first(self, forms: Sequence[Sequence[Message]]) -> str:
        """Render the first form that the template takes; its first refusal is the one that is told."""
        refusals: list[TemplateRefusedError] = []
        for messages, tools in product(forms, (_NO_TOOLS, _empty_tools())):
            try:
                return self._render(messages, tools)
            except TemplateRefusedError as refusal:
                refusals.append(refusal)
        raise refusals[0]

    def _render(self, messages: Sequence[Message], tools: dict[str, Any]) -> str:
        variables = {
            "messages": [{"role": m.role, "content": self._content(m.content)} for m in messages],
            "add_generation_prompt": True,
            "bos_token": self._text_of(self._tokenizer.bos_id),
            "eos_token": self._text_of(self._tokenizer.eos_id),
        }
        return self._renderer.render(self._source, variables | tools)

    def _content(self, text: str) -> str | list[dict[str, str]]:
        """The words of a message in the form that the template wants."""
        return [{"type": "text", "text": text}] if self._wants_parts else text

    def _find_form(self) -> None:
        """Find out once whether the template wants the words of a message as a text or as a list of parts.

        One that wants the other form mostly leaves them out without a word, and the model answers something else.

        A template that refuses the question as well is asked again with the messages themselves.

        Raises:
            TemplateError: they reach the prompt in neither form, or the template is broken.
        """
        if self._wants_parts is not None:
            return
        is_refused = False
        for self._wants_parts in (False, True):
            try:
                if _PROBE in self._render_first([[Message("user", _PROBE)]]):
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

    def _system_is_used(self) -> bool:
        """Whether a system prompt reaches the text; asked once, with a word that no template contains."""
        if self._takes_system is None:
            probe = [Message("system", _PROBE), Message("user", "Hello")]
            try:
                self._takes_system = _PROBE in self._render_first([probe])
            except TemplateRefusedError:
                self._takes_system = False
        return self._takes_system

    def _with_bos(self, ids: list[int]) -> list[int]:
        """Put BOS first where the GGUF wants it and the template did not write it already."""
        bos_id = self._tokenizer.bos_id
        if self._tokenizer.add_bos and bos_id is not None and ids[:1] != [bos_id]:
            return [bos_id, *ids]
        return ids

    def _text_of(self, token_id: int | None) -> str:
        return "" if token_id is None else self._tokenizer.token_text(token_id)

    def _is_token(self, text: str) -> bool:
        return len(self._tokenizer.tokenize(text, special=True)) == 1


def _empty_tools() -> dict[str, Any]:
    """For templates that were written for tools only and cannot do without a list of them."""
    today = datetime.now().astimezone().strftime("%Y-%m-%d")
    return {"tools": [], "documents": [], "functions": "[]", "datetime": today}


def _plainest(messages: Sequence[Message]) -> list[Message]:
    """The same words in a form that every template takes: no system role, the roles alternating."""
    joined: list[Message] = []
    for message in messages:
        role = "user" if message.role == "system" else message.role
        if joined and joined[-1].role == role:
            joined[-1] = Message(role, f"{joined[-1].content}\n\n{message.content}")
        else:
            joined.append(Message(role, message.content))
    return joined
