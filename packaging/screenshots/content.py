"""What the pictures of the window's parts are filled with. The figures are examples."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta

from app.domain.attachments import Attachment, AttachmentKind
from app.domain.context import ContextParts, SummaryView
from app.domain.conversations import ConversationRow, FolderRow, SearchHit
from app.domain.local_server import Activity, ServerState, ServerView
from app.domain.messages import MessageView
from app.domain.models import LibraryRow, PickerView
from app.domain.settings.layers import Prompt
from app.domain.sums import PairSums, Sums
from engine.records import RunStats, Source, TokenSpan
from tests.run_stats import PACED

QUESTION = "Which of these words come from water? Put them into a table, and say how many there are."
ANSWER = (
    "Four of the six words have to do with water.\n\n| Word | Water? |\n|---|---|\n| river | yes |\n| boat | yes |\n"
    "| lamp | no |\n| bell | no |\n\nCounted in Python:\n\n```python\nwet = {'river', 'boat', 'rain', 'sea'}\n"
    "print(len(wet))\n```\n\nThe chance that a random pair is wet is $\\frac{4}{6} \\cdot \\frac{3}{5} = 0.4$."
)
THOUGHT = "<think>\nThe user lists six words. I count those that have to do with water.\n</think>\n\n"
SOURCES = (Source.DRAFT, Source.DRAFT, Source.DRAFT, Source.RECOVERED, Source.NGRAM, Source.NGRAM, Source.BONUS)
TARGET, DRAFT = "Qwen3-4B-Q4_K_M", "Qwen3-0.6B-Q8_0"
WORDS = Attachment(1, "words.txt", AttachmentKind.TEXT, 42, "river, boat, lamp, bell, rain, sea", 14)
FILES = (
    WORDS,
    Attachment(2, "rivers of Europe.csv", AttachmentKind.CSV, 1830, "name,length\nRhine,1233\nDanube,2850", 512),
    Attachment(3, "boat.py", AttachmentKind.CODE, 310, "class Boat:\n    pass", 96),
)
SERVER = ServerView(ServerState.ON, "http://127.0.0.1:8080", Activity(28, 2, 1), yours_waits=True)
SERVER_KEY = "example-key-that-opens-nothing-0123456789ab"
PROMPTS = (
    Prompt("explain-code", "Explain step by step what this code does, and name what could go wrong: {code}"),
    Prompt("proofread", "Correct spelling and grammar, change nothing else, and list what you changed: {text}"),
    Prompt("shorter", "Rewrite this in half as many words without losing a fact: {text}"),
    Prompt("summarise", "Summarise the following text in {number} sentences: {text}"),
)
STATS = PACED
STEPS = (9, 10, 12, 11, 13, 9, 8, 11, 12, 14, 12, 10)  # tokens of four passes
CONTEXT = ContextParts(96, 720, 388, 4096)
SUMMARY = SummaryView("The user packs for a weekend at the river, and asked for a list of six things.", num_messages=6)
HITS = (
    SearchHit(2, "River trip", None, "", (("River", True), (" trip", False))),
    SearchHit(2, "River trip", 31, "user", (("Where does the ", False), ("river", True), (" meet the sea?", False))),
    SearchHit(1, "Weekend plans", 12, "assistant", (("a boat on the ", False), ("river", True))),
)


def sums() -> tuple[tuple[PairSums, ...], Sums]:
    """Figures of several answers: by pair and mode, and together."""
    auto = replace(STATS, tokens=8140, passes=2980, decode_s=198.0)
    draft = replace(STATS, tokens=2210, passes=840, decode_s=58.0)
    rows = (
        PairSums(TARGET, DRAFT, "auto", Sums(21, auto, 320.0, 198.0)),
        PairSums(TARGET, DRAFT, "draft", Sums(6, draft, 86.0, 58.0)),
        PairSums(TARGET, "", "off", Sums(3, RunStats(tokens=640, passes=640, decode_s=25.2))),
    )
    together = replace(STATS, tokens=10990, passes=4460, proposed=9120, accepted=6384, decode_s=281.2)
    return rows, Sums(30, replace(together, draft_s=49.0, verify_s=216.0, sample_s=6.0), 406.0, 256.0)


def live() -> Iterator[RunStats]:
    """The counters of the answer as they were told while it was made."""
    for number in range(1, 40):
        tokens = sum(STEPS[step % len(STEPS)] for step in range(number))
        yield replace(STATS, tokens=tokens, passes=number * 4)


def conversations() -> tuple[tuple[ConversationRow, ...], tuple[FolderRow, ...]]:
    """Chats of some days, pinned and in folders."""
    now = datetime.now(UTC)
    rows = (
        ConversationRow(1, "Weekend plans", now),
        ConversationRow(2, "River trip", now - timedelta(days=1)),
        ConversationRow(3, "Regex help", now - timedelta(days=1)),
        ConversationRow(4, "Reading list", now, pinned=True, place=1),
        ConversationRow(5, "Quarterly report", now, folder_id=7, place=0),
        ConversationRow(6, "Interview questions", now, folder_id=7, place=1),
        ConversationRow(7, "Old notes", now, archived=True),
    )
    return rows, (FolderRow(7, "Work"), FolderRow(8, "Recipes", folded=True))


def spans(text: str) -> tuple[TokenSpan, ...]:
    """Word by word, sources in turn."""
    pieces = re.findall(r"\s*\S+|\s+$", text)
    made = []
    for number, piece in enumerate(pieces):
        source = SOURCES[number % len(SOURCES)]
        made.append(TokenSpan(len(piece), source, " lake" if source is Source.RECOVERED else ""))
    return tuple(made)


def messages() -> list[MessageView]:
    """A conversation with an attachment, reasoning, a table, code and a formula."""
    text = THOUGHT + ANSWER
    answer = MessageView(2, "assistant", text, stats=STATS, spans=spans(text), thinking_ms=2400, target=TARGET)
    return [MessageView(1, "user", QUESTION, attachments=(WORDS,)), replace(answer, versions=(2, 3))]


def _library(name: str, size_bytes: int, quantization: str, paired_with: str = "") -> LibraryRow:
    """A model of the library in the pictures."""
    path = f"/models/{name}.gguf"
    return LibraryRow(path, path, name, size_bytes, "qwen3", quantization, paired_with=paired_with)


PICKER = PickerView(
    (
        _library(TARGET, 2_500_000_000, "Q4_K_M", DRAFT),
        _library("Qwen2.5 Coder 7B Instruct", 4_680_000_000, "Q4_K_M", "Qwen2.5 Coder 0.5B"),
        _library("SmolLM2 135M Instruct", 92_000_000, "Q4_1"),
    ),
    (_library(DRAFT, 639_000_000, "Q8_0"),),
)
