"""Tool definitions are in the cache in every turn: the prompt begins identically, whatever was called before."""

import json
from dataclasses import replace
from pathlib import Path

from app.core.tools.built_in import BuiltInTools
from app.core.tools.interface import ToolResult
from app.core.tools.policy import ToolPolicy
from app.core.tools.turn import AskUser, GenerateAnswer, RunCall, ToolLoop
from engine.records import ChatRequest, Finished, LoadRequest, Message, Mode, SamplingParams, ToolFormat
from engine.session.session import Session
from tests.engine.gguf_factory import Kind, tiny_llama

TEMPLATE = (
    "{{ tools | tojson }}\n{% for m in messages %}{{ m.role }}: {{ m.content }}"
    "{% for call in m.tool_calls or [] %}<tool_call>\n{{ call.function | tojson }}\n</tool_call>{% endfor %}\n"
    "{% endfor %}{% if add_generation_prompt %}assistant:{% endif %}"
)
CALL = '<tool_call>\n{"name": "calculate", "arguments": {"expression": "2+3"}}\n</tool_call>'


def test_definitions_are_not_read_again(tmp_path: Path) -> None:
    model = tiny_llama().with_metadata(
        tokenizer__chat_template=(Kind.STRING, TEMPLATE), llama__context_length=(Kind.UINT32, 4096)
    )
    session = Session()
    session.load(LoadRequest(str(model.write(tmp_path / "tools.gguf")), n_ctx=4096))
    definitions = BuiltInTools().definitions()
    num_definitions = len(json.dumps([one.description for one in definitions]))
    turn = ToolLoop((Message("user", "What is 2+3?"),), definitions, ToolPolicy(), ToolFormat.HERMES)
    request = ChatRequest(mode=Mode.OFF, sampling=SamplingParams(temperature=0.0), max_tokens=3)
    prompts: list[tuple[int, int]] = []
    for step in range(4):
        todo = turn.next_step
        assert isinstance(todo, GenerateAnswer)
        # The window creates them anew in every turn.
        tools = tuple(json.loads(json.dumps(one)) for one in todo.tools)
        *_, end = session.generate(replace(request, messages=todo.messages, tools=tools, request_id=step))
        assert isinstance(end, Finished)
        prompts.append((end.stats.prompt_tokens, end.stats.prompt_cached_tokens))
        turn.add_answer(CALL)
        while isinstance(turn.next_step, AskUser | RunCall):
            assert isinstance(turn.next_step, RunCall)  # harmless: needs no permission
            turn.add_result(ToolResult(turn.next_step.call.call_id, f"{step}"))
    session.close()
    (first, cached_at_first), *later = prompts
    assert cached_at_first == 0
    assert first > num_definitions  # one token per character in this vocabulary
    for before, (now, cached) in zip(prompts, later, strict=False):
        assert cached >= before[0]  # the whole earlier prompt, with definitions
        assert now - cached < first
