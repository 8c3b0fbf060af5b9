#!/bin/sh
# Stands before the C++ compiler while llama.cpp is built on AMD's Zen 5 (build_options.py says where), and changes three files.
# Products of most kinds of weights are few_tokens*.h's. For other weights, instructions of the kernels for a few tokens are
# ordered with registers in mind; GCC does not do that on this processor unless it is told to. Vectors stay 512 bits wide:
# Zen 5 takes them whole. (Measured before few_tokens.h, packaging/measure/passes.py on two cores, quickest of eight, three
# times alternated, in milliseconds: Q4_0, 4 tokens 10.7 -> 9.7, 8 tokens 18.6 -> 17.1; Q4_K_M, 16 tokens 45.9 -> 39.2.)
others="-fschedule-insns -fsched-pressure --param=sched-pressure-algorithm=2"
. "$(dirname "$0")/few_tokens.sh"
