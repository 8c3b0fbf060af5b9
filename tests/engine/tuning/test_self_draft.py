"""Tests a draft made from the target: its missing layers, its measurement, and that only a useful one is kept."""

from pathlib import Path
from types import SimpleNamespace

import pytest

from engine.errors import ToolError
from engine.llama.model import LlamaModel
from engine.records import ChatRequest, Finished, LoadRequest, Mode, SamplingParams
from engine.session.session import Session
from engine.tuning.self_draft import SelfDraft, make_self_draft, shapes
from tests.engine.gguf_factory import Kind, tiny_llama
from tests.shared_files import shared_model

N_LAYER = 8
IDLE = frozenset(range(4, 8))  # the second half does nothing, as in a model trained for early exit


@pytest.fixture(name="early", scope="module")
def fixture_early(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model whose layers are most of its work, and whose second half adds nothing."""
    file = tiny_llama(n_ff=3072, n_layer=N_LAYER, idle=IDLE, seed=3)
    return file.write(tmp_path_factory.mktemp("early") / "early.gguf")


@pytest.mark.parametrize("n_layer", [4, 5, 8, 28, 32, 80])
def test_shapes_leave_out_some_layers_of_the_middle_or_the_second_half(n_layer: int) -> None:
    found = shapes(n_layer)
    assert len(set(found)) == len(found) >= 2
    assert found[-1] == tuple(range(n_layer // 2, n_layer))
    for plan in found[:-1]:
        assert len(set(plan)) == len(plan) >= 1
        assert 0 < plan[0] <= plan[-1] < n_layer - 1


def test_a_copy_that_says_the_same_with_half_of_the_work_stays_and_drafts(early: Path, tmp_path: Path) -> None:
    steps: list[tuple[str, float]] = []
    found = make_self_draft(early, tmp_path, [sorted(IDLE)], lambda what, share: steps.append((what, share)))
    (best,) = found
    assert best.agreement == 1.0
    assert best.share < 0.9
    assert best.pays
    assert best.max_gain > 1.0
    assert "can pay" in best.words
    assert [path.name for path in tmp_path.iterdir()] == [best.path.name]
    with LlamaModel(best.path) as copy:
        assert copy.n_layer == N_LAYER - len(IDLE)
    assert {what for what, _ in steps} >= {"asking the model", "measuring the copy"}
    assert all(0.0 <= share <= 1.0 for _, share in steps)
    session = Session()
    session.load(LoadRequest(str(early), str(best.path), n_ctx=256, threads=1))
    request = ChatRequest(raw_prompt="abc", mode=Mode.DRAFT, depth=3, sampling=SamplingParams(0.0), max_tokens=32)
    *_, last = session.generate(request)
    session.close()
    assert isinstance(last, Finished)
    assert last.stats.acceptance_rate == 1.0


def test_copies_that_cannot_pay_go_with_the_figures_reported(tmp_path: Path) -> None:
    found = make_self_draft(Path(shared_model("stories260K-f16.gguf")), tmp_path)
    assert len(found) == 2
    assert not any(one.pays for one in found)
    assert all("gains nothing" in one.words for one in found)
    assert all(0.0 < one.agreement < 1.0 for one in found)
    assert list(tmp_path.iterdir()) == []


def test_a_folder_without_room_for_a_copy_is_told(early: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("shutil.disk_usage", lambda _folder: SimpleNamespace(free=1 << 20))
    with pytest.raises(ToolError, match=f"not enough space in {tmp_path} for a copy"):
        make_self_draft(early, tmp_path, [[4]])
    assert list(tmp_path.iterdir()) == []


def test_a_model_that_says_nothing_cannot_be_measured(tmp_path: Path) -> None:
    file = tiny_llama(n_ff=96, n_layer=4)
    all_end = dict.fromkeys(("eos", "eot"), 0)
    output = next(tensor for tensor in file.tensors if tensor.name == "output.weight")
    silent = file.with_tensor("output.weight", data=bytes(len(output.data))).with_metadata(
        **{f"tokenizer__ggml__{name}_token_id": (Kind.UINT32, number) for name, number in all_end.items()}
    )  # all tokens are equally likely, so the first is chosen, which ends an answer
    with pytest.raises(ToolError, match="ends its answers at once"):
        make_self_draft(silent.write(tmp_path / "silent.gguf"), tmp_path / "copies", [[1]])


@pytest.mark.parametrize("plan", [[8], [-1], list(range(8)), [0, 99]])
def test_layers_that_are_not_there_are_refused(early: Path, tmp_path: Path, plan: list[int]) -> None:
    with pytest.raises(ToolError, match="some of 0 to 7, not all"):
        make_self_draft(early, tmp_path, [plan])


def test_a_model_of_two_layers_has_none_to_leave_out(tmp_path: Path) -> None:
    with pytest.raises(ToolError, match="2 layers only"):
        make_self_draft(tiny_llama().write(tmp_path / "two.gguf"), tmp_path / "copies")


@pytest.mark.parametrize(
    ("agreement", "share", "pays"), [(0.91, 0.89, False), (0.78, 0.89, False), (0.06, 0.61, False), (0.8, 0.4, True)]
)
def test_it_pays_if_it_agrees_more_often_than_its_share_of_a_pass(agreement: float, share: float, pays: bool) -> None:
    one = SelfDraft(Path("x.gguf"), (1,), 28, agreement, share, 100)
    assert one.pays is pays
    assert (one.max_gain > 1.0) is (agreement > share)
