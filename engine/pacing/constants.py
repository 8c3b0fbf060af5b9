"""All constants of pacing that are not measured at run time, with their sources.

"Real pair" is Qwen2.5-Coder 1.5B with its 0.5B draft, Q4_K_M, on two cores; docs/pacing.md has the ablations.
"""

from __future__ import annotations

# ---- sizes of passes ----

MAX_PASS = 33  # tokens of the largest pass that is paced: 32 proposed and the last one
MAX_DEPTH = MAX_PASS - 1
# Kernels compute so many rows at once (llama.cpp's repacked ones 4, AMX 16 and 32): a saving of another size is noise
# of the measurement, so the largest pass has one of these.
FULL_SIZES = (8, 12, 16, 24, 32, MAX_PASS)
# Measured in this order, so that a short budget still gives the shape.
POINTS = (1, 4, 8, 2, 3, 16, 5, 6, 7, 12, 9, 10, 11, 13, 14, 15, 17, 24, 32, 33)
# Passes of unmeasured sizes, in plain passes, on an unknown machine: between two processors (0.12 to 0.3 plain passes
# per further token) and a GPU (0.02), rather optimistic, since a try is cheap and corrects it.
UNKNOWN_SHAPE = {1: 1.0, 2: 1.25, 4: 1.75, 8: 2.75, 16: 4.75, 33: 9.0}
AS_CHEAP = 1.05  # times the least cost of a token: a smaller pass is as good
PAD_GAIN = 0.97  # a padded pass must be this much cheaper, since measurements are noisy
LARGEST_PAD = 3  # kernels compute four rows at once

# ---- how fast costs follow passes ----

CLIP = 1.5  # times the current value, at most, for a single pass: the machine was busy, or a page was missing
GUESS_CLIP = 6.0  # the same for a guessed curve
SIZE_RATE = 0.1  # weight of a pass in the cost of its own size
LEVEL_RATE = 0.02  # and in the level of all sizes
ENOUGH_TRIES = 3  # passes of an unmeasured size, until the fastest of them counts: one may have been disturbed
GUESSED_PASSES = 50  # passes until a guessed curve is as good as a measured one
REFRESH_EVERY = 32  # passes between two searches for the best sizes
INFORMATIVE_PASSES = 4  # of these of one size, for its current cost
FAR = 1.5  # times its measured share of the others' costs: most for an unused size

# ---- measuring ----

BUDGET_S = 2.0  # of idle time, for passes of all sizes
HURRIED_BUDGET_S = 0.3  # while the user waits for an answer
THREADS_SHARE = 0.25  # of a budget, for the number of threads of each model
CHECK_SIZES = (1, 4, 8, 16)  # tokens of the passes that check a curve
STALE = 0.2  # a stored curve with a larger error is measured again
DOUBTFUL = 0.1  # a new curve with a larger error was disturbed by another program
QUIET_CORES = 0.2  # cores that other programs may use during a measurement that is stored: some always run
STEADY = 1.25  # times the least of a few tries: most of them are below on an undisturbed machine

# ---- what is expected of proposals ----

# Acceptance of a token of text with a single known continuation, by the number of matching tokens before the proposal
# (up to 1, 2, 8 and more) and by its index in the proposal (1st, 2nd, 3rd, later); counted on 3,300 greedy tokens of
# answers of Qwen2.5-Coder 1.5B and SmolLM2 135M to prompts of all kinds (packaging/measure/recorded/text_chances.py).
MATCH_LENGTHS = (1, 2, 8)
MATCH_CHANCES = ((0.28, 0.64, 0.74, 0.87), (0.53, 0.77, 0.83, 0.89), (0.51, 0.7, 0.85, 0.9), (0.97, 0.98, 0.98, 0.985))
# The same with several continuations, for one matching token and for more.
AMBIGUOUS_CHANCES = (0.12, 0.2)
# Acceptance of a drafted token, by the draft's confidence; counted on 8,400 tokens of the real pair: its likeliest
# token at temperature 0 (a little less than counted: a weaker draft errs more often when it is unsure) ...
CONFIDENCES = (0.2, 0.35, 0.5, 0.65, 0.8, 0.9, 0.95, 0.98, 0.993, 0.998)
GREEDY_CHANCES = (0.25, 0.4, 0.52, 0.61, 0.75, 0.82, 0.9, 0.95, 0.98, 0.99, 0.995)
# ... and a token sampled from it above, which may be any that both find likely.
SAMPLED_CHANCES = (0.42, 0.49, 0.6, 0.66, 0.73, 0.8, 0.89, 0.95, 0.98, 0.99, 0.995)
DRAFTED_CHANCE = 0.7  # before the draft's confidence is known: as on chat; on code it was 0.9
PRIOR_WEIGHT = 8.0  # observations that each of these is worth
DECAY = 0.985  # an observation weighs half after about 46 more of its class
ANSWER_WEIGHT = 4.0  # observations until an answer's text counts as different from that of others

# ---- choosing ----

LOOK_AHEAD = 16  # further tokens that a decision to continue drafting considers
# The value of a token is its recent time, averaged with a plain pass: bursts of text make the average faster than the
# next token will be. (On replayed answers with a draft of 0.25 passes per step 0.5 gains 2 to 4 % over 1.)
RATE_SHARE = 0.5
RATE_FORGETS = 0.97  # weight of the past after the time of a plain pass
DRAFT_RATE, FIRST_DRAFTS = 0.05, 4.0  # least weight of a drafting pass in the gain of drafting; initial observations
PROBE_SHARE = 0.005  # of the time may be lost by probing a draft that does not seem to pay off
PROBE_DEPTH = 3  # tokens of a probe
PROBE_REFUND = 0.8  # of a probe's gain, for further ones: at break-even they must not continue for ever
READ_SHARE = 0.25  # cost of a token that the draft only reads, in drafted tokens, before it is measured
FEW_UNREAD = 16  # tokens: text lookup often leaves so many; reading more is paid once
ANSWER_TOKENS = 128  # tokens within which drafting must regain the time of reading the prompt
MAX_PAUSE = 64  # plain passes in a row
SEARCH_SHARE = 0.01  # of the time of plain passes may be spent on text lookup
MAX_UNSEARCHED = 8  # tokens between two searches
SLOW = 3.0  # times the usual, at most, for an observation of the work beside the target's pass
WORK_RATE = 0.05  # weight of a pass in that work
