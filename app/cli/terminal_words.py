"""Rewords the window's sentences for a terminal, which has options in place of settings.

A test fails if a new sentence names a part of the window.
"""

from dataclasses import replace

from engine.records import Problem
from engine.sentences import Sentence, i18n

TERMINAL_WORDS = {
    "The conversation is too long": "The prompt is too long",
    "The conversation has {num_ids:,} tokens, but the context holds {size:,} and the answer needs room.": (
        "The prompt has {num_ids:,} tokens, but the context holds {size:,} and the answer needs room."
    ),
    "The conversation has {num_ids:,} tokens, {num_places:,} of them for pictures, but the context holds {size:,} and "
    "the answer needs room.": (
        "The prompt has {num_ids:,} tokens, {num_places:,} of them for pictures, but the context holds {size:,} and "
        "the answer needs room."
    ),
    "Start a new chat, shorten the message, or choose a larger context in the settings.": (
        "Shorten the prompt or its attachments, or give a larger context with --ctx."
    ),
    "Start a new chat, or choose a larger context in the settings.": (
        "Shorten the prompt, ask for fewer tokens with --max-tokens, or give a larger context with --ctx."
    ),
    "Choose a smaller context in the settings.": "Give a smaller context with --ctx.",
    "Choose a smaller context or a smaller model, or close other programs.": (
        "Give a smaller context with --ctx or a smaller model, or close other programs."
    ),
    "Change the message, or start a new chat.": "Change the prompt.",
    "Start a new chat.": "Shorten the prompt or its attachments.",
    "Set the mode to Off.": "Give --mode off.",
    "Set the mode to Off for this model.": "Give --mode off for this model.",
    "Choose a draft of the same model family, or use the n-gram mode, which needs no draft.": (
        "Give a draft of the same model family, or --mode ngram, which needs no draft."
    ),
    "New messages are kept only until Paceline is closed.": "Nothing was read or written.",
    "The stored chats can be read, but new messages are kept only until Paceline is closed.": (
        "The stored chats can be read, but nothing can be added to them."
    ),
    "Close the other Paceline and start this one again.": "Close the other Paceline, or use its window instead.",
    "Choose it again in its new location.": "Check the path.",
    "“{name}” no longer exists.": "There is no file “{name}”.",
    "Attach another file, or paste the part that matters.": "Give another file with --attach.",
    "Attach the part that matters, or paste it into the message.": "Give the part that matters.",
    "Choose another file.": "Give another file.",
    "Check that it is still there and that you may read it.": "Check the path, and that you may read it.",
    "Free some space, and start Paceline again.": "Free some space, and give the command again.",
}


def for_terminal(text: str) -> str:
    if not isinstance(text, Sentence):
        return TERMINAL_WORDS.get(text, text)
    fields = {name: for_terminal(value) if isinstance(value, str) else value for name, value in text.fields.items()}
    return i18n(TERMINAL_WORDS.get(text.template, text.template), **fields)


def problem_for_terminal(problem: Problem) -> Problem:
    title, message, advice = (for_terminal(text) for text in (problem.title, problem.message, problem.advice))
    return replace(problem, title=title, message=message, advice=advice)
