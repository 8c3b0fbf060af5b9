"""A real target and draft for measurements of exactness."""

from __future__ import annotations

import argparse
from dataclasses import dataclass

import numpy as np

from engine.drafters.base import Drafter
from engine.drafters.draft_model import DraftModelDrafter
from engine.loading.loading import LoadedModel, LoadOptions, open_model
from engine.pacing.pacer import Pacer
from engine.prompt.chat_prompt import PromptBuilder
from engine.records import Message, Mode
from engine.sampling.sampler import History
from engine.sampling.sharpness import Sharpness
from engine.session.drafter_choice import DraftersByMode


@dataclass(frozen=True)
class Pair:
    """Target, draft and the prompts' maker."""

    target: LoadedModel
    draft: LoadedModel
    prompts: PromptBuilder

    def drafter(self, mode: Mode, sharpness: Sharpness | None, pacer: Pacer | None = None) -> Drafter:
        """Make the drafter of a mode; ``sharpness`` is learnt from answer to answer, as in the app."""
        vocab = self.target.model.vocab
        model = DraftModelDrafter(self.draft.sequence, vocab.n_vocab, vocab.eog_ids)
        model.sharpness = sharpness
        return DraftersByMode().drafter(mode, model, pacer)

    def ids(self, text: str, begun: str = "") -> History:
        """Ids of a chat prompt whose answer has ``begun``; raw where the model has no chat template."""
        if self.target.model.chat_template:
            ids = self.prompts.build((Message("user", text),))
            ids += self.target.model.vocab.tokenize(begun, special=False)
        else:
            ids = self.prompts.raw(f"{text} {begun}")
        return np.asarray(ids, dtype=np.int32)


def open_pair(options: argparse.Namespace) -> Pair:
    """Load both models of the command line."""
    target = open_model(options.target, LoadOptions(n_ctx=2048))
    draft = open_model(options.draft, LoadOptions(n_ctx=2048))
    return Pair(target, draft, PromptBuilder(target.model.vocab, target.model.chat_template))
