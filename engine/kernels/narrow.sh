#!/bin/sh
# Stands before the C++ compiler while llama.cpp is built on AMD's Zen 4 (build_options.py says where), and changes three files.
# Products of most kinds of weights are few_tokens*.h's: of Q4_0, on two cores, a few tokens take half the time, a single one seven
# tenths where its weights come from the caches. For other weights, the kernels for a few tokens use 256-bit vectors, their
# instructions ordered with registers in mind: that processor takes a 512-bit instruction in two halves, so the wide kernels'
# extra steps are all loss. (Measured with Q4_0 before few_tokens.h, packaging/measure/passes.py --threads 1, quickest of six:
# a pass of 4 tokens took 30 ms instead of 48, one of 16 took 105 instead of 114.)
others="-U__AVX512DQ__ -fschedule-insns -fsched-pressure --param=sched-pressure-algorithm=2"
. "$(dirname "$0")/few_tokens.sh"
