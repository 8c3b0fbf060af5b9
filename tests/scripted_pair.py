"""The scripted pair of `packaging/measure/scripted_pair.py`, for tests."""

from __future__ import annotations

from tests.scripts import load_script

_pair = load_script("measure/scripted_pair.py")
N_VOCAB = _pair.N_VOCAB
P_LOGITS = _pair.P_LOGITS
Q_LOGITS = _pair.Q_LOGITS
Clock = _pair.Clock
MarkovModel = _pair.MarkovModel
chi_square_p = _pair.chi_square_p
likely_path = _pair.likely_path
plain_distribution = _pair.plain_distribution
unseeded = _pair.unseeded
