#!/bin/sh
# Stands before the C++ compiler while llama.cpp is built, on processors with AVX2 or ARM's dot products (build_options.py says where another does):
# compiles llama.cpp's products of a few tokens and its attention with ours in their place, and every other file as it is. narrow.sh
# and ordered.sh source it.
#
# $others: options for the kernels of other weights, in the file of Q4_0's and Q4_K's.
here=$(dirname "$0")
case " $* " in
*/arch/x86/repack.cpp\ *)
    # A compiler that does not know these options, or llama.cpp's file in another shape, gets the file as it is.
    # shellcheck disable=SC2086
    "$@" ${others-} -include "$here/few_tokens.h" 2>/dev/null && exit 0
    echo "few_tokens.h does not compile here: llama.cpp keeps its own products of a few tokens." >&2
    # shellcheck disable=SC2086
    "$@" ${others-} 2>/dev/null && exit 0
    ;;
*/arch/arm/repack.cpp\ *)
    "$@" -include "$here/few_tokens_arm_q4_k.h" 2>/dev/null && exit 0
    echo "few_tokens_arm_q4_k.h does not compile here: llama.cpp keeps its own product of Q4_K weights." >&2
    ;;
*/llamafile/sgemm.cpp\ *)
    "$@" -include "$here/few_tokens_sgemm.h" 2>/dev/null && exit 0
    echo "few_tokens_sgemm.h does not compile here: llama.cpp keeps its own products of weights that are not repacked." >&2
    ;;
*/tiled/tiled.cpp\ *)
    "$@" -include "$here/few_tokens_tiled.h" 2>/dev/null && exit 0
    echo "few_tokens_tiled.h does not compile here: llama.cpp keeps its own products of IQ4_XS, Q5_K and Q6_K weights." >&2
    ;;
*/ggml-cpu/ops.cpp\ *)
    "$@" -include "$here/attention.h" 2>/dev/null && exit 0
    echo "attention.h does not compile here: llama.cpp keeps its own attention, and drafting may change words." >&2
    ;;
*/ggml-cpu/amx/mmq.cpp\ *)
    # One instruction of AMX, which several versions of GCC compile wrongly (tile_config.h says how).
    exec "$@" -include "$here/tile_config.h"
    ;;
esac
exec "$@"
