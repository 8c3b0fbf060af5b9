#!/bin/sh
# Tries a bundle's llama.cpp on processors that are not here, under qemu's emulation. Usage: emulated.sh NATIVE PYTHON CPU...
# NATIVE is what native.sh made (build/bundle/native), PYTHON that of an environment with the app's dependencies, CPU a name of
# `qemu-x86_64 -cpu help`. Tells which variant ggml takes, and whether the first start's check of its kernels passes; then
# try.sh has the built-in pair answer in every mode.
#
# The program itself cannot be emulated: its child processes would run on the real processor. So the app runs from the checkout, in
# an environment whose interpreter is emulated, whoever starts it. qemu's emulation has neither AVX-512 nor AVX-VNNI nor AMX: the
# variants for those are passed over, as on a processor without them, and are not tried.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
native=$(cd "$1" && pwd) python=$2
shift 2
command -v qemu-x86_64 >/dev/null || { echo "qemu-x86_64 is not here (qemu-user)." >&2; exit 1; }
place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT
packages=$("$python" -c 'import sysconfig; print(sysconfig.get_path("purelib"))')
mkdir -p "$place/bin" "$place/packages/llama_cpp"
for file in "$packages"/llama_cpp/*; do
    [ "${file##*/}" = lib ] || cp -r "$file" "$place/packages/llama_cpp/"
done
cp -r "$native" "$place/packages/llama_cpp/lib"
real=$("$python" -c 'import os, sys; print(os.path.realpath(sys.executable))')
echo "home = ${real%/*}" >"$place/pyvenv.cfg"
export PYTHONPATH="$root:$place/packages:$packages" QT_QPA_PLATFORM=offscreen
for cpu in "$@"; do
    echo "-- $cpu"
    printf '#!/bin/sh\nexec qemu-x86_64 -cpu %s -0 %s %s "$@"\n' "$cpu" "$place/bin/python" "$real" >"$place/bin/python"
    printf '#!/bin/sh\nexec %s -m app "$@"\n' "$place/bin/python" >"$place/bin/program"
    chmod +x "$place/bin/python" "$place/bin/program"
    {
        "$place/bin/python" -c "
from app.core.paths import builtin_target
from engine.llama import library
from engine.sandbox.kernel_check import check_kernels
library.start()
print(*(each.description for each in library.loaded_libraries() if 'ggml-cpu' in each.path.name))
assert check_kernels(builtin_target()), 'the check of its kernels fails'
print('The check of its kernels passes.')
" && "$here/try.sh" "$place/bin/program"
    } 2>"$place/errors" || { grep -v "TCG doesn't support" "$place/errors" >&2; exit 1; }
done
