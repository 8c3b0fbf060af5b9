"""The index finds passages by words in every script, combines them with vectors, and can be rebuilt."""

from pathlib import Path

import numpy as np
import pytest

from app.core.domain.projects import FileState
from app.core.projects.index import (
    DocumentIndex,
    QuestionEmbedding,
    SourceFile,
    fuse_ranks,
    match_any,
    rank_by_sentences,
    terms_of,
)
from engine.sandbox.document_child import Section

TEXTS = {
    "garden.md": "Beans are sown in May. Water them in the evening.",
    "vertrag.txt": "Die Kündigungsfrist beträgt drei Monate zum Quartalsende.",
    "shanghai.txt": "上海的地铁每天早上五点半开始运行。",
    "kyoto.txt": "京都の図書館は月曜日に休館します。",
}


@pytest.fixture
def index(tmp_path: Path) -> DocumentIndex:
    made = DocumentIndex(tmp_path / "documents.db")
    put(made, tmp_path, TEXTS)
    return made


def put(index: DocumentIndex, folder: Path, texts: dict[str, str]) -> None:
    for name, text in texts.items():
        index.put_file(SourceFile(str(folder), str(folder / name), len(text), 1), [Section(text, 2, "Head")], 3)


@pytest.mark.parametrize(
    ("question", "name"),
    [
        ("When do I sow beans?", "garden.md"),
        ("watering", "garden.md"),
        ("Welche Kundigungsfristen gelten?", "vertrag.txt"),
        ("地铁几点开始运行？", "shanghai.txt"),
        ("図書館の休みはいつですか", "kyoto.txt"),
    ],
)
def test_the_passage_that_fits_a_question_comes_first(
    index: DocumentIndex, tmp_path: Path, question: str, name: str
) -> None:
    found = index.find([str(tmp_path)], question)
    assert found
    assert found[0].name == name
    assert found[0].place == f"{name}, page 2, Head"


@pytest.mark.parametrize("question", ["", "?!", '" OR *', "\x00", "NEAR(a b)", "zzz", "-beans:x" * 40])
def test_any_question_is_words_and_never_a_query(index: DocumentIndex, tmp_path: Path, question: str) -> None:
    assert len(index.find([str(tmp_path)], question)) <= len(TEXTS)


def test_the_beginning_of_few_files_is_given_and_of_many_none(index: DocumentIndex, tmp_path: Path) -> None:
    few, long = tmp_path / "few", "Peas.\n\n" * 3
    index.put_file(SourceFile(str(few), str(few / "a.md"), 1, 1), [Section(long, 1), Section("Lentils.", 2)])
    assert [one.page for one in index.beginning([str(few)])] == [1, 2]
    assert index.beginning([str(tmp_path)]) == []


def test_only_the_sources_that_are_asked_for_are_searched(index: DocumentIndex, tmp_path: Path) -> None:
    assert index.find([str(tmp_path / "other")], "beans") == []


def test_a_file_that_is_read_again_replaces_what_was_there(index: DocumentIndex, tmp_path: Path) -> None:
    put(index, tmp_path, {"garden.md": "Peas."})
    assert index.find([str(tmp_path)], "beans") == []
    assert [one.text for one in index.find([str(tmp_path)], "peas")] == ["Peas."]


def test_a_forgotten_file_is_not_found_any_more(index: DocumentIndex, tmp_path: Path) -> None:
    index.forget_file(str(tmp_path), str(tmp_path / "garden.md"))
    assert index.find([str(tmp_path)], "beans") == []
    index.keep_only([])
    assert index.files([str(tmp_path)]) == ()
    assert index.find([str(tmp_path)], "Kündigungsfrist") == []


def test_files_are_listed_with_what_became_of_them(index: DocumentIndex, tmp_path: Path) -> None:
    index.put_file(SourceFile(str(tmp_path), str(tmp_path / "z.pdf"), 9, 1), problem="It is locked.")
    listed = {one.name: one for one in index.files([str(tmp_path)])}
    assert (listed["garden.md"].state, listed["garden.md"].num_passages, listed["garden.md"].num_pages) == (
        FileState.READ,
        1,
        3,
    )
    assert (listed["z.pdf"].state, listed["z.pdf"].problem) == (FileState.FAILED, "It is locked.")


def test_a_name_that_is_no_utf_8_is_kept_as_it_is(index: DocumentIndex, tmp_path: Path) -> None:
    path = f"{tmp_path}/caf\udce9.txt"
    index.put_file(SourceFile(str(tmp_path), path, 1, 1), [Section("Espresso")])
    found = index.find([str(tmp_path)], "espresso")
    assert [one.path for one in found] == [path]
    assert [one.text for one in index.passages_of_file(path)] == ["Espresso"]


def test_a_quoted_passage_is_found_again_by_its_place(index: DocumentIndex, tmp_path: Path) -> None:
    put(index, tmp_path, {"copy.md": TEXTS["garden.md"]})
    sought = index.locate([str(tmp_path)], "copy.md, page 2, Head", TEXTS["garden.md"])
    assert sought is not None
    assert sought.name == "copy.md"
    assert index.locate([str(tmp_path)], "copy.md", "other") is None


def test_vectors_bring_what_has_none_of_the_words(index: DocumentIndex, tmp_path: Path) -> None:
    waiting = index.passages_to_embed([str(tmp_path)], "m")
    assert len(waiting) == len(TEXTS)
    numbers = {text.split("\n")[1]: number for number, text in waiting}
    axes = np.eye(4, dtype=np.float32)
    index.put_vectors("m", {numbers[text]: axes[place] for place, text in enumerate(TEXTS.values())})
    assert index.passages_to_embed([str(tmp_path)], "m") == []
    assert index.find([str(tmp_path)], "notice", QuestionEmbedding("m", axes[1]))[0].name == "vertrag.txt"
    assert index.find([str(tmp_path)], "beans", QuestionEmbedding("other", axes[1]))[0].name == "garden.md"


def test_a_passage_is_as_near_as_the_nearest_of_its_pieces(index: DocumentIndex, tmp_path: Path) -> None:
    axes = np.eye(4, dtype=np.float32)
    (first, _), (second, text), *_ = index.passages_to_embed([str(tmp_path)], "m")
    index.put_vectors("m", {first: (axes[0] + axes[1] + axes[2]) / 3**0.5, second: np.stack([axes[3], axes[0]])})
    assert index.find([str(tmp_path)], "", QuestionEmbedding("m", axes[0]))[0].text in text


def test_a_damaged_index_is_made_anew(tmp_path: Path) -> None:
    path = tmp_path / "documents.db"
    path.write_bytes(b"no database" * 500)
    assert DocumentIndex(path).files(["x"]) == ()


def test_two_processes_read_and_write_one_index(index: DocumentIndex, tmp_path: Path) -> None:
    other = DocumentIndex(tmp_path / "documents.db")
    put(other, tmp_path, {"late.md": "Quinces ripen in October."})
    assert [one.name for one in index.find([str(tmp_path)], "quinces")] == ["late.md"]


def test_ranks_are_joined_by_their_reciprocals() -> None:
    assert fuse_ranks([[1, 2, 3], [3, 1]]) == [1, 3, 2]


def test_a_question_becomes_beginnings_of_words_and_pairs_of_letters() -> None:
    terms = terms_of("Is Wässerung 図書館?")
    assert terms == ["is", "wasser", "図書", "書館"]
    assert match_any(terms) == '"is" OR "wasser"* OR "図 書" OR "書 館"'
    assert terms_of("the beans", {"the"}) == ["bean"]
    assert terms_of("the", {"the"}) == ["the"]


def test_words_in_one_sentence_count_more_than_one_word_many_times() -> None:
    passages = [(1, "Beans. Beans. Beans in May."), (2, "Some are sown. Beans are sown in Leeds."), (3, "Leeds.")]
    assert rank_by_sentences(["bean", "sown", "leed"], passages)[0] == 2
