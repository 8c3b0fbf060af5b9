"""The edges of a suffix automaton behave like a dictionary per state, however many there are."""

from hypothesis import given
from hypothesis import strategies as st

from engine.drafters.suffix.index import NO_STATE, SuffixEdges

NUM_TOKENS = 20
States = st.integers(0, 3)
Tokens = st.integers(0, NUM_TOKENS - 1)
Targets = st.integers(1, 5)
Steps = st.sampled_from(["add", "add", "add", "turn", "copy"])


class Reference:
    """`SuffixEdges` with dictionaries; a state's first transition becomes an edge when there is a second."""

    def __init__(self, num_states: int) -> None:
        self.steps: list[dict[int, int]] = [{} for _ in range(num_states)]

    def find_or_add(self, state: int, token_id: int, new: int, only: tuple[int, int]) -> int:
        steps = self.steps[state]
        if token_id in steps:
            return steps[token_id]
        if not steps:
            steps[only[0]] = only[1]
        steps[token_id] = new
        return NO_STATE

    def turn(self, state: int, token_id: int, old: int, new: int) -> bool:
        found = self.steps[state].get(token_id) == old
        if found:
            self.steps[state][token_id] = new
        return found


def of(num_states: int) -> SuffixEdges:
    edges = SuffixEdges()
    for _ in range(num_states):
        edges.add_state()
    return edges


@given(st.lists(st.tuples(Steps, States, Tokens, Targets), max_size=80))
def test_whatever_is_done_equals_dictionaries(steps: list[tuple[str, int, int, int]]) -> None:
    edges, reference = of(4), Reference(4)
    for step, state, token_id, target in steps:
        if step == "add":
            only = (NUM_TOKENS, 9)
            new = 100 + sum(map(len, reference.steps))  # no other edge leads there
            assert edges.find_or_add(state, token_id, new, only) == reference.find_or_add(state, token_id, new, only)
        elif step == "turn":
            old = reference.steps[state].get(token_id, target)
            assert edges.redirect(state, token_id, old, target) == reference.turn(state, token_id, old, target)
            assert edges.redirect(state, token_id, 99, target) == reference.turn(state, token_id, 99, target)
        else:
            edges.add_state()
            edges.copy(state, len(reference.steps))
            reference.steps.append(dict(reference.steps[state]))
        for i, wanted in enumerate(reference.steps):
            assert [edges.find(i, one) for one in range(NUM_TOKENS + 1)] == [
                wanted.get(one, NO_STATE) for one in range(NUM_TOKENS + 1)
            ]


def test_a_copy_goes_its_own_way() -> None:
    edges = of(2)
    for token_id in range(1, 30):
        edges.find_or_add(0, token_id, 100 + token_id, (0, 100))
    edges.copy(0, 1)
    assert edges.redirect(1, 5, 105, 7)
    assert (edges.find(0, 5), edges.find(1, 5), edges.find(1, 6)) == (105, 7, 106)
