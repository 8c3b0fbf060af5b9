"""All constants of pacing that are not measured at run time, with their sources.

"Real pair" is Qwen2.5-Coder 1.5B with its 0.5B draft, Q4_K_M, on two cores; docs/pacing.md has the ablations.
"""

# ---- sizes of passes ----

MAX_PASS = 33  # tokens of the largest paced pass: 32 proposed tokens and the last token
MAX_DEPTH = MAX_PASS - 1
# Sizes that fill the kernels, which compute several rows at once (llama.cpp's repacked kernels 4, AMX 16 and 32). A
# lower cost at another size is noise, so the largest pass has one of these sizes.
CHEAP_PASS_SIZES = (8, 12, 16, 24, 32, MAX_PASS)
# Sizes in the order of measurement, which gives the shape of the curve even with a short budget.
MEASURED_SIZES = (1, 4, 8, 2, 3, 16, 5, 6, 7, 12, 9, 10, 11, 13, 14, 15, 17, 24, 32, 33)
# Cost of a pass by its tokens, relative to a plain pass, on an unknown machine: between two CPUs (0.12 to 0.3 plain
# passes per additional token) and a GPU (0.02). It is rather optimistic, since a trial is cheap and corrects it.
DEFAULT_COST_CURVE = {1: 1.0, 2: 1.25, 4: 1.75, 8: 2.75, 16: 4.75, 33: 9.0}
SMALLER_PASS_TOLERANCE = 1.05  # up to this multiple of the least cost per token, a smaller pass is preferred

# ---- how fast costs follow passes ----

OBSERVATION_CLIP = 1.5  # limit of a single observation relative to the current value, against stalls
GUESS_CLIP = 6.0  # the same limit for a guessed curve
SIZE_WEIGHT = 0.1  # weight of a pass in the cost of its size
LEVEL_WEIGHT = 0.02  # weight of a pass in a factor that scales the costs of all sizes
MIN_TRIES = 3  # passes of an unmeasured size before their minimum counts, since one may have been disturbed
MIN_GUESSED_PASSES = 50  # passes until a guessed curve counts as measured
REFRESH_EVERY = 32  # passes between two computations of the best sizes

# ---- measuring ----

BUDGET_S = 2.0  # idle seconds to measure passes of all sizes
FOREGROUND_BUDGET_S = 0.3  # seconds to measure while the user waits for an answer
THREADS_SHARE = 0.25  # share of a budget to find the number of threads of each model
CHECK_SIZES = (1, 4, 8, 16)  # tokens of the passes that check a stored curve
STALE_ERROR = 0.2  # a stored curve with a larger error is measured again
DOUBTFUL_ERROR = 0.1  # a new curve with a larger error was disturbed by another program
MAX_BUSY_CORES = 0.2  # cores that other programs may use during a measurement that is stored; a few programs always run
STEADY_RATIO = 1.25  # on an undisturbed machine, most tries take at most this multiple of their minimum

# ---- what is expected of proposals ----

# Acceptance of n-gram tokens with a single known continuation, by match length (up to 1, 2, 8 and more) and by index in
# the proposal (1st, 2nd, 3rd, later). Counted on 3,300 greedy tokens of answers of Qwen2.5-Coder 1.5B and SmolLM2 135M
# to prompts of all kinds.
MATCH_LENGTHS = (1, 2, 8)
MATCH_CHANCES = ((0.28, 0.64, 0.74, 0.87), (0.53, 0.77, 0.83, 0.89), (0.51, 0.7, 0.85, 0.9), (0.97, 0.98, 0.98, 0.985))
# Acceptance with several known continuations, for matches of one token and of more.
AMBIGUOUS_CHANCES = (0.12, 0.2)
# Acceptance of a drafted token by the draft's confidence, counted on 8,400 tokens of the real pair. At temperature 0,
# for the draft's argmax; slightly reduced, since weaker drafts err more often when unsure.
CONFIDENCES = (0.2, 0.35, 0.5, 0.65, 0.8, 0.9, 0.95, 0.98, 0.993, 0.998)
GREEDY_CHANCES = (0.25, 0.4, 0.52, 0.61, 0.75, 0.82, 0.9, 0.95, 0.98, 0.99, 0.995)
# The same above temperature 0, for a sampled token.
SAMPLED_CHANCES = (0.42, 0.49, 0.6, 0.66, 0.73, 0.8, 0.89, 0.95, 0.98, 0.99, 0.995)
DRAFTED_CHANCE = 0.7  # acceptance before the draft's confidence is known; measured on chat, on code it was 0.9
PRIOR_WEIGHT = 8.0  # weight of each of these priors, in observations
DECAY = 0.985  # an observation's weight halves after about 46 more of its class
ANSWER_WEIGHT = 4.0  # observations until an answer's own acceptance outweighs that of other answers

# ---- choosing ----

LOOK_AHEAD = 16  # most additional tokens considered by a decision to continue drafting
# A token is worth this share of the recent time per token, plus the rest of the time of a plain pass: bursts of n-gram
# matches make the recent time too short. (Replayed with a draft of 0.25 passes per step, 0.5 gains 2 to 4% over 1.)
RECENT_RATE_WEIGHT = 0.5
RATE_DECAY = 0.97  # decay of the average rate per plain pass
# Minimum weight of a drafting pass in the average of all, and the number of passes that the average begins with.
MIN_DRAFT_WEIGHT, INITIAL_DRAFT_COUNT = 0.05, 4.0
PROBE_SHARE = 0.005  # share of time that probes of a draft that seems too slow may cost
PROBE_DEPTH = 3  # tokens of a probe
PROBE_REFUND = 0.8  # share of a probe's gain that pays for more probes; below 1, so that probes end at break-even
READ_SHARE = 0.25  # assumed cost of a token that the draft only reads, relative to a drafted token
MAX_USUAL_UNREAD = 16  # up to this number, unread tokens are a usual cost of drafting; reading more is a one-time cost
ANSWER_TOKENS = 128  # tokens over which the cost of reading the prompt is spread
MAX_PAUSE = 64  # most plain passes in a row
SEARCH_SHARE = 0.01  # share of the time of plain passes that searches for matches may take
MAX_UNSEARCHED = 8  # most tokens between two searches
STALL_CLIP = 3.0  # limit of an observed overhead, relative to the usual value
OVERHEAD_WEIGHT = 0.05  # weight of a pass in the average overhead
