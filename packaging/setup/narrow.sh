#!/bin/sh
# Stands before the C++ compiler while llama.cpp is built on AMD's Zen 4 (kernels.py says where), and changes one file:
# the kernels for a few tokens at a time use 256-bit vectors there, their instructions ordered with registers in mind.
# That processor takes a 512-bit instruction in two halves, so the wide kernel's extra steps are all loss. Measured with
# packaging/measure/passes.py --threads 1, quickest of six, on a Q4_0 model of 400 M parameters: a pass of 4 tokens takes
# 30 ms instead of 48, one of 8 takes 60 instead of 96, one of 16 takes 105 instead of 114, a single one 12.6 as before.
case " $* " in
*/arch/x86/repack.cpp\ *)
    # A compiler that does not know these options gets the file as it is.
    if "$@" -U__AVX512DQ__ -fschedule-insns -fsched-pressure --param=sched-pressure-algorithm=2 2>/dev/null; then
        exit 0
    fi
    ;;
esac
exec "$@"
