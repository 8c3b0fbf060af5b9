#!/bin/sh
# Stands before the C++ compiler while llama.cpp is built on a processor with AMX (build_options.py says where), and mends one
# instruction of one file, which several versions of GCC compile wrongly (tile_config.h beside this says how).
case " $* " in
*/ggml-cpu/amx/mmq.cpp\ *)
    exec "$@" -include "$(dirname "$0")/tile_config.h"
    ;;
esac
exec "$@"
