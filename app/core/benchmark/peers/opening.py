"""Reads peers from the command line and opens them."""

import re
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path

from app.core.benchmark.peers import llama_server
from app.core.benchmark.peers.llama_server import LlamaServerPeer
from app.core.benchmark.runner import OwnEngine
from app.core.benchmark.runs import NO_DRAFT_AUTO, OWN_ENGINE, Contestant, Variant
from app.core.domain.errors import PeerError
from app.core.paths import find_paths
from engine.records import EngineReady, LoadRequest, Mode
from engine.session.session import Session

NO_DRAFT = "no-draft"  # peer: our `auto` with the same target and no draft
OTHER_DRAFT = "other-draft"  # peer: our `auto` with another draft model or head
PEERS = (llama_server.ENGINE, NO_DRAFT, OTHER_DRAFT)
_OWN_CONFIG = re.compile(r"auto|draft(?:-(\d+))?")
_OWN_CONFIGS = ("auto", "draft")  # configurations of `OTHER_DRAFT`; ``draft-3`` fixes the depth


@dataclass(frozen=True, slots=True)
class PeerRequest:
    """A peer to measure. ``path``: its program or draft, if it has one. Empty ``configs``: all configurations."""

    name: str
    path: str = ""
    configs: tuple[str, ...] = ()

    @property
    def title(self) -> str:
        """Identifies the peer within a measurement."""
        return f"{self.name} {Path(self.path).name}" if self.name == OTHER_DRAFT else self.name


def read_peer_requests(words: Sequence[str], configs: Sequence[str]) -> tuple[PeerRequest, ...]:
    """Read ``NAME=PATH`` or ``NAME``, and give each configuration to the peers that have it.

    Raises:
        ValueError: an unknown peer, a missing path, or configurations that no given peer has.
    """
    requests = []
    for word in words:
        name, _, path = word.partition("=")
        if name not in PEERS:
            raise ValueError(f"There is no peer called {name}; known are {', '.join(PEERS)}.")
        if name != NO_DRAFT and not path:
            raise ValueError(f"--peer {name} needs a path: {name}=PATH.")
        own: Sequence[str] = ()
        if name == OTHER_DRAFT:
            own = [config for config in configs if _OWN_CONFIG.fullmatch(config)]
        elif name != NO_DRAFT:
            own = [config for config in configs if config not in _OWN_CONFIGS]
            if configs and not own:
                raise ValueError(f"None of {', '.join(configs)} is a configuration of {name}.")
        requests.append(PeerRequest(name, path if name != NO_DRAFT else "", tuple(own)))
    if configs and all(request.name == NO_DRAFT for request in requests):
        raise ValueError("--peer-configs needs a --peer.")
    return tuple(requests)


def open_peers(
    requests: Sequence[PeerRequest], load: LoadRequest, ready: EngineReady, stack: ExitStack
) -> list[Contestant]:
    """Start all peers; ``stack`` ends them.

    Raises:
        PeerError: a peer cannot be started.
        EngineError: the target cannot be loaded again.
    """
    opened: list[Contestant] = []
    for request in requests:
        if request.name != llama_server.ENGINE:
            opened.append(_own_with_other_draft(request, load, ready, stack))
            continue
        peer = LlamaServerPeer(request.path, load, ready, request.configs)
        stack.callback(peer.close)
        opened.append(peer)
    return opened


def _own_with_other_draft(request: PeerRequest, load: LoadRequest, ready: EngineReady, stack: ExitStack) -> OwnEngine:
    """Load the target again, with another draft or none. Both sessions store their pass costs in the same files.

    Variants are `auto`, and the other draft's mode at the requested depths.
    """
    if request.name == NO_DRAFT and ready.draft is None:
        raise PeerError(
            f"{NO_DRAFT} compares nothing: there is no draft to leave out.", "Leave it out, or add a draft."
        )
    session = Session(cost_folder=find_paths().cache)
    stack.callback(session.close)
    again = session.load(replace(load, draft=request.path or None))
    session.measure()
    if request.name == NO_DRAFT:
        return OwnEngine(session, [NO_DRAFT_AUTO])
    name = Path(request.path).name
    if again.draft is None:
        raise PeerError(f"{name} cannot draft: {again.unavailable.get(Mode.DRAFT, 'it was left out.')}")
    mode, engine = Mode.HEAD if again.draft.head_method else Mode.DRAFT, f"{OWN_ENGINE} with {Path(name).stem}"
    variants = []
    for config in request.configs or _OWN_CONFIGS:
        depth = config.partition("-")[2]
        of_config = Mode.AUTO if config == Mode.AUTO else mode
        variants.append(Variant(of_config.value, int(depth) if depth else None, engine))
    return OwnEngine(session, variants)
