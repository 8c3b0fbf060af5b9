#!/bin/sh
# Stands before the C++ compiler while llama.cpp is built on AMD's Zen 5 (kernels.py says where), and changes one file:
# in the kernels for a few tokens at a time, instructions are ordered with registers in mind; GCC does not do that on this
# processor unless it is told to. Vectors stay 512 bits wide: Zen 5 takes them whole. Measured with
# packaging/measure/passes.py on two cores, quickest of eight, three times alternated, in milliseconds: Q4_0 model of
# 400 M parameters, pass of 4 tokens 10.7 -> 9.7, 8 tokens 18.6 -> 17.1, 12 tokens 27.1 -> 24.9, 16 and more as before;
# Q4_K_M, 16 tokens 45.9 -> 39.2, 32 tokens 80.3 -> 67.8, up to 12 as before; Q8_0 as before.
case " $* " in
*/arch/x86/repack.cpp\ *)
    # A compiler that does not know these options gets the file as it is.
    if "$@" -fschedule-insns -fsched-pressure --param=sched-pressure-algorithm=2 2>/dev/null; then
        exit 0
    fi
    ;;
esac
exec "$@"
