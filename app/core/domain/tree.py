"""The messages of a conversation as a tree, and the shown path.

No path is endless, even if the file is damaged.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

Link = tuple[int, int | None, int | None]  # id, parent, shown child


@dataclass(frozen=True, slots=True)
class MessageTree:
    """``parents``: parents by message id, in order of arrival. ``shown``: the shown child by id (None: the root)."""

    parents: dict[int, int | None]
    shown: dict[int | None, int | None]

    @classmethod
    def of(cls, links: Iterable[Link], shown_root: int | None) -> MessageTree:
        links = tuple(links)
        known = {link[0] for link in links}
        parents = {message_id: parent if parent in known else None for message_id, parent, _ in links}
        shown: dict[int | None, int | None] = {message_id: child for message_id, _, child in links}
        return cls(parents, {**shown, None: shown_root})

    def children(self) -> dict[int | None, list[int]]:
        """The children of each message in order of arrival; under None the roots."""
        found: dict[int | None, list[int]] = {}
        for message_id, parent in self.parents.items():
            found.setdefault(parent, []).append(message_id)
        return found

    def path(self) -> tuple[int, ...]:
        """The shown path. If ``shown`` has no valid child of a message, its last child is used."""
        children = self.children()
        path: list[int] = []
        parent: int | None = None
        while below := children.get(parent):
            wanted = self.shown.get(parent)
            child = wanted if wanted is not None and wanted in below else below[-1]
            path.append(child)
            parent = child
        return tuple(path)

    def ancestors(self, message_id: int) -> tuple[int, ...]:
        """The message and its ancestors, up to a root."""
        line: dict[int, None] = {}
        at: int | None = message_id
        while at is not None and at not in line and at in self.parents:
            line[at] = None
            at = self.parents[at]
        return tuple(line)

    def below(self, message_id: int) -> tuple[int, ...]:
        """The message and its descendants, in all branches."""
        children = self.children()
        found: dict[int, None] = {message_id: None}
        waiting = [message_id]
        while waiting:
            for child in children.get(waiting.pop(), ()):
                if child not in found:
                    found[child] = None
                    waiting.append(child)
        return tuple(found)

    def without_message(self, message_id: int, instead: int | None) -> MessageTree:
        """A copy without a message; ``instead``, or the version before it, is shown in its place.

        Returns the tree unchanged if the message is unknown or has children.
        """
        if message_id not in self.parents or message_id in self.parents.values():
            return self
        parent, siblings = self.parents[message_id], self.siblings(message_id)
        left = {number: above for number, above in self.parents.items() if number != message_id}
        shown = dict(self.shown)
        if shown.get(parent) in (message_id, None):
            before = siblings[: siblings.index(message_id)][-1:]
            shown[parent] = instead if instead in left else next(iter(before), None)
        return MessageTree(left, shown)

    def versions_of(self, message_id: int) -> tuple[int, ...]:
        """The other versions of a message; first the version to show in its place."""
        siblings = self.siblings(message_id)
        at = siblings.index(message_id)
        return (*siblings[:at][-1:], *siblings[at + 1 :], *siblings[: max(at - 1, 0)])

    def siblings(self, message_id: int) -> tuple[int, ...]:
        """All versions of a message, including itself, in order of arrival."""
        parent = self.parents.get(message_id)
        return tuple(other for other, above in self.parents.items() if above == parent)
