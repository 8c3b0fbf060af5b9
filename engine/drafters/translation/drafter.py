"""Drafts with a model of another vocabulary: it writes text, which is proposed as the target's tokens."""

from collections.abc import Callable

import numpy as np

from engine.drafters.base import Draft
from engine.drafters.draft_model import DraftGate, DraftModelDrafter
from engine.drafters.translation.sequence import TranslatedSequence
from engine.drafters.translation.spelling import is_certain_split, whole_characters
from engine.interfaces import Candidates
from engine.sampling.sampler import History, Sampler, argmax, top_probability
from engine.sampling.top_k import Row

_CERTAIN = 1.0  # score of a target token that ends within a draft token


class TranslatedDrafter(DraftModelDrafter):
    """A `DraftModelDrafter` whose model has another vocabulary than the target.

    At any temperature the draft writes its most likely text, which is proposed as the target's tokens up to the last
    common boundary of both tokenizers. Such a proposal is deterministic (q = 1), so any text keeps the output exact.
    """

    def __init__(
        self,
        model: TranslatedSequence,
        eog_ids: frozenset[int],
        should_stop: Callable[[], bool] = lambda: False,
    ) -> None:
        """``eog_ids`` are the target's. Drafting stops if the draft's end-of-generation token is the most likely."""
        super().__init__(model, model.n_vocab, eog_ids, should_stop)
        self._translated, draft = model, model.translation.draft
        self._ends = np.array(sorted(draft.eog_ids), dtype=np.int64)
        no_text = (i for i, piece in enumerate(draft.pieces) if not piece)
        self._control_ids = np.array([i for i in no_text if i not in draft.eog_ids], dtype=np.int64)
        self._ignores_ends = False

    def begin(self, history: History, sampler: Sampler) -> None:
        self._ignores_ends = sampler.bans(self._eog_ids)
        super().begin(history, sampler)

    def _sample_tokens(
        self,
        draft: Draft,
        row: Row | Candidates,
        history: History,  # noqa: ARG002  (as in the base class)
        limit: int,
        gate: DraftGate | None,
    ) -> None:
        """Let the draft write its most likely text; append the part that the target can spell to ``draft``."""
        model, text = self._translated, _DraftedText(self._translated, limit)
        try:
            while (found := self._most_likely(row)) is not None:
                own_id, confidence = found
                if gate is not None and not gate.should_sample(confidence):
                    return
                if not text.add(own_id, confidence):
                    return
                if gate is not None and not gate.should_run_model():
                    return
                if model.num_free_draft_tokens <= 0:
                    return
                row = self._pass(())
        finally:
            ids, scores = text.end()
            model.assign_text(ids)
            draft.ids.extend(ids)
            if draft.scores is not None:
                draft.scores.extend(scores)

    def _most_likely(self, row: Row | Candidates) -> tuple[int, float] | None:
        """The draft's most likely text token and its confidence; None if an end-of-generation token is more likely."""
        if isinstance(row, Candidates):
            ids, logits = row.ids, row.logits
            kept = ~np.isin(ids, self._control_ids)
            if self._ignores_ends:
                kept &= ~np.isin(ids, self._ends)
            ids, logits = ids[kept], logits[kept]
            if not len(ids):
                return None
            index = argmax(logits)
            best, confidence = int(ids[index]), top_probability(logits, index)
        else:
            row[self._control_ids] = -np.inf
            if self._ignores_ends:
                row[self._ends] = -np.inf
            best = argmax(row)
            confidence = top_probability(row, best)
        return None if not self._translated.translation.draft.pieces[best] else (best, confidence)


class _DraftedText:
    """The text that the draft writes for one pass, as the target's tokens."""

    def __init__(self, model: TranslatedSequence, limit: int) -> None:
        self._model, self._limit = model, limit
        self._data = bytearray()
        self._ends: list[int] = []  # end of each of the draft's tokens in the text
        self._confidences: list[float] = []
        self._ids: list[int] = []
        self._settled, self._settled_end = 0, 0  # target tokens, and bytes, before the last beginning of a word

    def add(self, own_id: int, confidence: float) -> bool:
        """Append a draft token; False if the limit is reached or the target cannot spell it."""
        model, translation = self._model, self._model.translation
        piece, begin = translation.draft.pieces[own_id], len(self._data)
        model.append_draft_token(own_id)
        self._data += piece
        self._ends.append(len(self._data))
        self._confidences.append(confidence)
        if is_certain_split(self._data, begin):
            self._settled, self._settled_end = len(self._ids), begin
        word = whole_characters(bytes(self._data[self._settled_end :]))
        spelled = translation.target.spell(word)
        self._ids[self._settled :] = spelled
        pieces = translation.target.pieces
        return len(self._ids) < self._limit and sum(len(pieces[i]) for i in spelled) == len(word)

    def end(self) -> tuple[list[int], list[float]]:
        """The target's tokens, and the draft's confidence in each."""
        pieces = self._model.translation.target.pieces
        ids = self._ids[: self._limit]
        scores, index, end = list[float](), 0, 0
        for token_id in ids:
            end += len(pieces[token_id])
            score = _CERTAIN
            while index < len(self._ends) and (index == 0 or self._ends[index - 1] < end):
                score *= self._confidences[index]
                index += 1
            scores.append(score)
        return ids, scores
