"""The tags around the reasoning of models, and around the text that follows it.

The tags come from the models' chat templates; all code about reasoning uses these tables.
"""

import re

# Opening and closing tags: text, control tokens, or both.
REASONING_TAGS: tuple[tuple[str, str], ...] = (
    ("<think>", "</think>"),
    ("<thinking>", "</thinking>"),
    ("<thought>", "</thought>"),
    ("<reasoning>", "</reasoning>"),
    ("<seed:think>", "</seed:think>"),  # Seed-OSS
    ("<mm:think>", "</mm:think>"),  # MiniMax-M3
    ("<think:opensource>", "</think:opensource>"),  # Hunyuan 3
    ("<|begin_of_thought|>", "<|end_of_thought|>"),
    ("<|START_THINKING|>", "<|END_THINKING|>"),  # Command A, Cohere2 MoE
    ("[THINK]", "[/THINK]"),  # Magistral, Ministral 3
    ("◁think▷", "◁/think▷"),  # Kimi-VL
    ("<|inner_prefix|>", "<|inner_suffix|>"),  # Apertus
    ("<|channel>thought", "<channel|>"),  # Gemma 4
    ("<|think|>", "<|end|><|begin|>assistant<|content|>"),  # Solar Open
    ("<|open|>think<|sep|>", "<|close|>think<|sep|>"),  # Kimi-K3
    ("Here are my reasoning steps:", "[BEGIN FINAL RESPONSE]"),  # Apriel
    ("<|channel|>analysis<|message|>", "<|channel|>final<|message|>"),  # gpt-oss
)
# Tags around the text that follows the reasoning; also used without reasoning.
ANSWER_FRAMES: tuple[tuple[str, str], ...] = (
    ("<|begin_of_solution|>", "<|end_of_solution|>"),
    ("<|START_RESPONSE|>", "<|END_RESPONSE|>"),
    ("<|START_TEXT|>", "<|END_TEXT|>"),
    ("<response>", "</response>"),  # Granite 3.3
    ("<|open|>response<|sep|>", "<|close|>response<|sep|>"),
)
# Text of gpt-oss between reasoning and answer, in its long and short form.
CHANNEL_SEPARATOR = ("<|end|><|start|>assistant", "<|start|>assistant")
_MARKER = re.compile(r"<\|?/?[\w:]+\|?>|\[/?THINK\]|◁/?think▷")


def closes_reasoning() -> re.Pattern[str]:
    """Return a pattern that matches a text up to its last closing tag."""
    return re.compile(r"\A.*(?:" + "|".join(re.escape(closing) for _, closing in REASONING_TAGS) + ")", re.DOTALL)


def opens_reasoning() -> re.Pattern[str]:
    """Return a pattern that matches an opening tag at the end of a prompt, with trailing spaces."""
    return re.compile("(?:" + "|".join(re.escape(opening) for opening, _ in REASONING_TAGS) + r")\s*\Z")


def reasoning_markers(control_texts: tuple[str, ...]) -> frozenset[str]:
    """The control tokens of a vocabulary that occur in reasoning tags.

    Tokens like ``<|end|>`` end a message in other models, so they count only if a complete tag can be written.
    """
    present, kept = set(control_texts), set[str]()
    for tags in (*REASONING_TAGS, *ANSWER_FRAMES):
        markers = {marker for tag in tags for marker in _MARKER.findall(tag)}
        if all(marker in present for marker in markers if "|" in marker):
            kept |= markers & present
    if "<|channel|>" in kept:
        kept |= {marker for glue in CHANNEL_SEPARATOR for marker in _MARKER.findall(glue)} & present
    return frozenset(kept)
