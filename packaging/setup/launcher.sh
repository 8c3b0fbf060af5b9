#!/bin/sh
# Stands before the C++ compiler while llama.cpp is built on AMD's Zen 4 (kernels.py says where), and changes one file:
# the kernels for a few tokens at a time use 256-bit vectors there. That processor takes a 512-bit instruction in two
# halves, so the wide kernel's extra steps are all loss: a pass of 4 tokens over a Q4_0 model of 400 M parameters takes
# 2.4 single passes instead of 3.5, one of 8 takes 4.7 instead of 5.8 (2 cores; packaging/measure/passes.py).
case " $* " in
*/arch/x86/repack.cpp\ *) set -- "$@" -U__AVX512DQ__ ;;
esac
exec "$@"
