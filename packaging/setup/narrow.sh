#!/bin/sh
# Stands before the C++ compiler while llama.cpp is built on AMD's Zen 4 (kernels.py says where), and changes one file.
# Products of Q4_0 and Q4_K weights are few_tokens.h's: on two cores, a few tokens take half the time, a single one seven
# tenths where its weights come from the caches. For other weights, the kernels for a few tokens use 256-bit vectors, their
# instructions ordered with registers in mind: that processor takes a 512-bit instruction in two halves, so the wide kernels'
# extra steps are all loss. (Measured with Q4_0 before few_tokens.h, packaging/measure/passes.py --threads 1, quickest of six:
# a pass of 4 tokens took 30 ms instead of 48, one of 16 took 105 instead of 114.)
narrow="-U__AVX512DQ__ -fschedule-insns -fsched-pressure --param=sched-pressure-algorithm=2"
case " $* " in
*/arch/x86/repack.cpp\ *)
    # A compiler that does not know these options, or llama.cpp's file in another shape, gets the file as it is.
    # shellcheck disable=SC2086
    "$@" $narrow -include "$(dirname "$0")/few_tokens.h" 2>/dev/null && exit 0
    echo "few_tokens.h does not compile here: llama.cpp keeps its own products of a few tokens." >&2
    # shellcheck disable=SC2086
    "$@" $narrow 2>/dev/null && exit 0
    ;;
esac
exec "$@"
