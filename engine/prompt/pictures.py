"""Passes pictures through a chat template: marks in a message's words are replaced by ids after rendering.

Templates write pictures in many ways, or not at all, but libmtmd knows the tokens around a picture. So for the template
each picture is a number between two private-use characters that occur nowhere else.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace

from engine.errors import PictureError, PromptError, TemplateError
from engine.picture import Picture
from engine.prompt.typed_text import UserTextTokenizer
from engine.records import Message
from engine.sentences import i18n

IdsOfPicture = Callable[[Picture], list[int]]
MAX_PICTURES = 64  # pictures in a prompt
_RESULT_PICTURES = "The pictures of the result: "


class PictureMarks:
    """The pictures of one prompt. ``messages`` have marks instead of pictures; ``mark`` is empty without pictures.

    Raises:
        PictureError: the model accepts no pictures, or there are too many.
        PromptError: the messages use every private-use character.
    """

    def __init__(self, messages: Sequence[Message], ids_of: IdsOfPicture | None, others: Sequence[str] = ()) -> None:
        """``others`` are additional texts in which the mark must not occur."""
        self.messages, self.mark = messages, ""
        self._pictures = [picture for message in messages for _, picture in message.pictures]
        if not self._pictures:
            return
        if ids_of is None:
            raise no_vision_error()
        if len(self._pictures) > MAX_PICTURES:
            raise PictureError(
                i18n(
                    "The conversation has {count} pictures; at most {most} are read.",
                    count=len(self._pictures),
                    most=MAX_PICTURES,
                ),
                "Leave some out.",
            )
        self._ids_of = ids_of
        self.mark = UserTextTokenizer.mark_for([*others, *(message.content for message in messages)])
        marked, number = list[Message](), 0
        for message in messages:
            content, end, parts = message.content, 0, list[str]()
            for place, _ in message.pictures:
                parts += (content[end:place], f"{self.mark}{number}{self.mark}")
                end, number = place, number + 1
            marked.append(replace(message, content="".join((*parts, content[end:])), pictures=()))
        self.messages = marked

    def tokenize(self, text: str, tokenize: Callable[[str, bool], list[int]]) -> list[int]:
        """Ids of a rendered prompt with pictures. ``tokenize`` is called with a text and whether text precedes it.

        Raises:
            TemplateError: a picture is missing in the text, or occurs more than once.
            PictureError: the encoder cannot use a picture.
            PromptError: no text follows the last picture.
        """
        if not self.mark:
            return tokenize(text, False)
        pieces = text.split(self.mark)
        numbers = pieces[1::2]
        if sorted(numbers) != sorted(map(str, range(len(self._pictures)))):
            raise TemplateError(
                "The chat template of this model does not write every picture exactly once.",
                "Choose another model for pictures.",
            )
        ids: list[int] = []
        for number, piece in enumerate(pieces):
            if number % 2:
                ids += self._ids_of(self._pictures[int(numbers[number // 2])])
            elif piece:
                ids += tokenize(piece, bool(ids))
        if ids[-1] < 0:
            raise PromptError("Nothing follows the picture.", "Write something after it.")
        return ids


def after_results(messages: Sequence[Message]) -> tuple[Message, ...]:
    """Move the pictures of tools' results into the next user message."""
    made, waiting = list[Message](), list[Picture]()
    for message in messages:
        if message.role == "tool":
            waiting += [picture for _, picture in message.pictures]
            made.append(replace(message, pictures=()))
            continue
        if waiting and message.role == "user":
            message = replace(message, pictures=(*((0, one) for one in waiting), *message.pictures))  # noqa: PLW2901
        elif waiting:
            made.append(_shown(waiting))
        waiting = []
        made.append(message)
    return (*made, _shown(waiting)) if waiting else tuple(made)


def _shown(pictures: Sequence[Picture]) -> Message:
    return Message("user", _RESULT_PICTURES, pictures=tuple((len(_RESULT_PICTURES), one) for one in pictures))


def no_vision_error() -> PictureError:
    return PictureError(
        "The loaded model cannot see pictures: no side file (mmproj) is loaded with it.",
        "Give its side file with --mmproj, choose a model that sees pictures, or leave them out.",
    )
