"""Which peers there are, how they are named on the command line, and how they are opened."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace

from app.benchmark.own_engine import OwnEngine
from app.benchmark.peers import llama_server, lookup_peer
from app.benchmark.peers.llama_server import LlamaServerPeer
from app.benchmark.peers.lookup_peer import LookupPeer
from app.benchmark.runs import NO_DRAFT_AUTO, Contestant, MeasuredAnswer, Question, Variant
from app.domain.errors import PeerError
from app.paths import find_paths
from engine.records import EngineReady, LoadRequest
from engine.session.session import Session

NO_DRAFT = "no-draft"  # our own `auto` on the same target, in a session that has no draft
PEERS = (llama_server.ENGINE, lookup_peer.ENGINE, NO_DRAFT)


@dataclass(frozen=True, slots=True)
class PeerRequest:
    """A peer that is to take part; ``path`` is its program where it needs one; ``configs`` empty means all."""

    name: str
    path: str = ""
    configs: tuple[str, ...] = ()


class LazyPeer:
    """A peer whose ``variants`` are known before it is opened, which is done when the first of them is asked."""

    def __init__(self, variants: Sequence[Variant], open_peer: Callable[[], Contestant]) -> None:
        self.variants = tuple(variants)
        self._open = open_peer
        self._opened: list[Contestant] = []

    def begin_round(self) -> None:
        """Open it, the first time; else let it forget.

        Raises:
            EngineError, PeerError: it cannot be opened.
        """
        if self._opened:
            self._opened[0].begin_round()
        else:
            self._opened.append(self._open())

    def prepare(self, question: Question) -> None:
        """Hand on the question."""
        self._opened[0].prepare(question)

    def answer(self, variant: Variant, question: Question) -> MeasuredAnswer:
        """Hand on the question.

        Raises:
            EngineError, PeerError: it failed.
        """
        return self._opened[0].answer(variant, question)


def read_peer_requests(words: Sequence[str], configs: Sequence[str]) -> tuple[PeerRequest, ...]:
    """From ``NAME=PATH`` or ``NAME`` and the names of configurations: each peer gets those that it can have.

    Raises:
        ValueError: an unknown peer, a missing path, or configurations that no peer here has.
    """
    requests = []
    for word in words:
        name, _, path = word.partition("=")
        if name not in PEERS:
            raise ValueError(f"There is no peer called {name}; known are {', '.join(PEERS)}.")
        if name == llama_server.ENGINE and not path:
            raise ValueError(f"--peer {name} needs the path of the program: {name}=PATH.")
        if name == NO_DRAFT:
            requests.append(PeerRequest(name))
            continue
        own = tuple(config for config in configs if lookup_peer.understands(config) is (name == lookup_peer.ENGINE))
        if "plain" in configs and "plain" not in own:
            own = ("plain", *own)
        if configs and not own:
            raise ValueError(f"None of {', '.join(configs)} is a configuration of {name}.")
        requests.append(PeerRequest(name, path, own))
    if configs and all(request.name == NO_DRAFT for request in requests):
        raise ValueError("--peer-configs needs a --peer.")
    return tuple(requests)


def open_peers(
    requests: Sequence[PeerRequest], load: LoadRequest, ready: EngineReady, stack: ExitStack
) -> list[Contestant]:
    """Start them all; ``stack`` ends them.

    Raises:
        PeerError: one cannot be started.
        EngineError: the target cannot be loaded once more.
    """
    opened: list[Contestant] = []
    for request in requests:
        if request.name == NO_DRAFT:
            opened.append(_without_draft(load, ready, stack))
            continue
        peer: LlamaServerPeer | LookupPeer
        if request.name == llama_server.ENGINE:
            peer = LlamaServerPeer(request.path, load, ready, request.configs)
        else:
            peer = LookupPeer(load, ready, request.configs)
        stack.callback(peer.close)
        opened.append(peer)
    return opened


def _without_draft(load: LoadRequest, ready: EngineReady, stack: ExitStack) -> OwnEngine:
    """Load the target once more; both have costs and experience of their own, in the same files."""
    if ready.draft is None:
        raise PeerError(f"{NO_DRAFT} says nothing: there is no draft to leave out.", "Leave it out, or add a draft.")
    session = Session(cost_folder=find_paths().cache)
    stack.callback(session.close)
    session.load(replace(load, draft=None))
    session.measure()
    return OwnEngine(session, [NO_DRAFT_AUTO])
