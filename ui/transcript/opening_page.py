"""The page of messages as a start opens it: its first picture has all that is in sight. Knows no store."""

from __future__ import annotations

import time

from ui.transcript.transcript import Transcript

LONGEST_S = 0.060  # a picture that is not whole is better than one that is late
STEP_S = 0.004


class OpeningPage(Transcript):
    """A `Transcript` that can be filled while the window waits for its place on the screen."""

    def fill_sight(self) -> None:
        """Build what is in sight now, in the room that the window has, instead of between its first pictures.

        What was built before the window was shown took as little time as it could; the rest would wait for all that
        begins with the first picture.
        """
        self.lay_out()
        until = time.thread_time() + LONGEST_S
        while self.is_building and self.verticalScrollBar().maximum() == 0 and time.thread_time() < until:
            self._work(STEP_S)
