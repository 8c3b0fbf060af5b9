"""Every number that pacing does not measure by itself, with where it came from.

"Real pair" is Qwen2.5-Coder 1.5B with its 0.5B draft, Q4_K_M, on two cores; docs/pacing.md has the ablations.
"""

from __future__ import annotations

# ---- sizes of passes ----

MAX_PASS = 33  # tokens of the largest pass that is paced: 32 proposed and the last one
MAX_DEPTH = MAX_PASS - 1
# Kernels work on so many rows at a time (llama.cpp's repacked ones on 4, AMX on 16 and 32): what another size seems to
# save is the luck of a measurement, so the largest pass has one of these.
FULL_SIZES = (8, 12, 16, 24, 32, MAX_PASS)
# Measured in this order, so that a short budget still gives the shape.
POINTS = (1, 4, 8, 2, 3, 16, 5, 6, 7, 12, 9, 10, 11, 13, 14, 15, 17, 24, 32, 33)
# Passes of unmeasured sizes, in plain ones, on a machine of which nothing is known: between two processors (0.12 to 0.3
# of a pass for each token more) and a GPU (0.02), on the hopeful side, since a try is cheap and corrects it.
UNKNOWN_SHAPE = {1: 1.0, 2: 1.25, 4: 1.75, 8: 2.75, 16: 4.75, 33: 9.0}
AS_CHEAP = 1.05  # times the least cost of a token: a smaller pass is as good
PAD_GAIN = 0.97  # a padded pass must be this much cheaper: the difference is measured, so it has noise
LARGEST_PAD = 3  # kernels work on four rows at a time

# ---- how fast costs follow what passes take ----

CLIP = 1.5  # times what is believed, that one pass may say: the machine was busy, or a page was missing
GUESS_CLIP = 6.0  # the same of a curve that is only guessed
SIZE_RATE = 0.1  # weight of a pass in the cost of its own size
LEVEL_RATE = 0.02  # and in the level of all sizes
ENOUGH_TRIES = 3  # passes of an unmeasured size, until the least of them is believed: one may have met another program
GUESSED_PASSES = 50  # passes until a guessed curve is as good as a measured one
REFRESH_EVERY = 32  # passes between two looks at which sizes are the best
INFORMATIVE_PASSES = 4  # of these, that say what a size costs now
FAR = 1.5  # times its measured share of the others' costs, that a size which nobody sees may be believed to take

# ---- measuring ----

BUDGET_S = 2.0  # of idle time, for passes of all sizes
HURRIED_BUDGET_S = 0.3  # somebody waits for the answer
THREADS_SHARE = 0.25  # of a budget, for the number of threads of each model
CHECK_SIZES = (1, 4, 8, 16)  # tokens of the passes that a curve is checked by
STALE = 0.2  # a kept curve that is off by more is measured again
DOUBTFUL = 0.1  # a curve that was just measured and is off by more met another program
QUIET_CORES = 0.2  # cores that other programs may take beside a measurement that is kept: something always runs
STEADY = 1.25  # times the least of a few tries, that most of them may take on an undisturbed machine

# ---- what is expected of proposals ----

# Chance that a token of text is right where only one thing ever followed, by how many tokens before the proposal match
# (up to 1, 2, 8 and more) and by its place in the proposal (1st, 2nd, 3rd, later); counted on 3,300 greedy tokens of
# answers of Qwen2.5-Coder 1.5B and SmolLM2 135M to prompts of all kinds (packaging/measure/recorded/text_chances.py).
MATCH_LENGTHS = (1, 2, 8)
MATCH_CHANCES = ((0.28, 0.64, 0.74, 0.87), (0.53, 0.77, 0.83, 0.89), (0.51, 0.7, 0.85, 0.9), (0.97, 0.98, 0.98, 0.985))
# The same where several things followed, of one matching token and of more.
AMBIGUOUS_CHANCES = (0.12, 0.2)
# Chance that a drafted token is right, by how sure the draft is of it; counted on 8,400 tokens of the real pair: its
# likeliest one at temperature 0 (a little less than counted: a weaker draft errs more often where it is unsure) ...
CONFIDENCES = (0.2, 0.35, 0.5, 0.65, 0.8, 0.9, 0.95, 0.98, 0.993, 0.998)
GREEDY_CHANCES = (0.25, 0.4, 0.52, 0.61, 0.75, 0.82, 0.9, 0.95, 0.98, 0.99, 0.995)
# ... and a token that is drawn from it above, which may be any that both find likely.
DRAWN_CHANCES = (0.42, 0.49, 0.6, 0.66, 0.73, 0.8, 0.89, 0.95, 0.98, 0.99, 0.995)
DRAFTED_CHANCE = 0.7  # before the draft has said how sure it is: as on chat; on code it was 0.9
PRIOR_WEIGHT = 8.0  # observations that each of these is worth
DECAY = 0.985  # an observation weighs half after about 46 more of its class
ANSWER_WEIGHT = 4.0  # observations that it takes to believe that the text of an answer is unlike that of others

# ---- choosing ----

LOOK_AHEAD = 16  # tokens further that a decision to draft on considers
# A token is worth the time that one takes lately, half way from a plain pass: bursts of text made the average quicker
# than the next token will be. (On replayed answers with a draft of 0.25 passes a step 0.5 gains 2 to 4 % over 1.)
RATE_SHARE = 0.5
RATE_FORGETS = 0.97  # weight of the past after the time of a plain pass
DRAFT_RATE, FIRST_DRAFTS = 0.05, 4.0  # least weight of a drafting pass in what drafting gives; passes known before
PROBE_SHARE = 0.005  # of the time may be lost by trying a draft that does not seem to pay
PROBE_DEPTH = 3  # tokens of such a try
PROBE_REFUND = 0.8  # of what a try gained, for further ones: at break-even they must not go on and on
READ_SHARE = 0.25  # of a drafted token, that one which the draft only reads takes, before any was read
FEW_UNREAD = 16  # tokens: as many come from text now and then; reading more is paid once
ANSWER_TOKENS = 128  # over so many tokens, what reading a prompt takes the draft must come back
MAX_PAUSE = 64  # plain passes in a row
SEARCH_SHARE = 0.01  # of the time of plain passes may go to looking for text
MAX_UNSEARCHED = 8  # tokens between two searches
SLOW = 3.0  # times what is usual, that one try of Python's or the draft's own work may say
WORK_RATE = 0.05  # weight of a pass in what surrounds it
