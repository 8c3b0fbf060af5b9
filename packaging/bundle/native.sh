#!/bin/sh
# Builds llama.cpp for machines that are not this one. Usage: native.sh SOURCE BUILD OUT
# SOURCE is llama.cpp's source (vendor/llama.cpp of llama-cpp-python), BUILD a folder to build in, OUT gets the libraries.
#
# ggml loads its backends at run time, and of the processor's the best variant for the machine at hand. Beside llama.cpp's
# variants lie ours in OUT/few_tokens: the one for Zen 4 compiled with narrow.sh, and with ordered.sh for Zen 5
# (engine/kernels/). engine/llama/backends.py chooses.
# Where Vulkan's headers and glslc are found, its backend is built too; VULKAN_INCLUDE_DIR may name newer headers.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
kernels=$(cd "$here/../../engine/kernels" && pwd)
source=$1 build=$2 out=$3
common="-DCMAKE_BUILD_TYPE=Release -DBUILD_SHARED_LIBS=ON -DGGML_NATIVE=OFF -DGGML_BACKEND_DL=ON -DGGML_CPU_ALL_VARIANTS=ON \
    -DGGML_RPC=ON -DLLAMA_CURL=OFF -DLLAMA_OPENSSL=OFF -DLLAMA_BUILD_TESTS=OFF -DLLAMA_BUILD_EXAMPLES=OFF -DLLAMA_BUILD_SERVER=OFF -DLLAMA_BUILD_TOOLS=OFF \
    -DLLAMA_BUILD_COMMON=OFF -DCMAKE_BUILD_WITH_INSTALL_RPATH=ON"

configure() { # FOLDER OPTION...
    folder=$1
    shift
    # shellcheck disable=SC2086
    cmake -S "$source" -B "$folder" $common -DCMAKE_INSTALL_RPATH="\$ORIGIN" "$@" >"$folder.log" 2>&1 ||
        { tail -20 "$folder.log" >&2; exit 1; }
}

compile() { # FOLDER TARGET...
    folder=$1
    shift
    cmake --build "$folder" --parallel "${JOBS:-$(getconf _NPROCESSORS_ONLN)}" --target "$@" >>"$folder.log" 2>&1 ||
        { tail -30 "$folder.log" >&2; exit 1; }
}

mkdir -p "$build" "$out/few_tokens"
vulkan=OFF
if command -v glslc >/dev/null && [ "${WITHOUT_VULKAN:-}" != 1 ]; then vulkan=ON; fi
set --
if [ -n "${VULKAN_INCLUDE_DIR:-}" ]; then set -- -DVulkan_INCLUDE_DIR="$VULKAN_INCLUDE_DIR"; fi
echo "Compiling llama.cpp with a variant for each kind of processor (Vulkan: $vulkan)."
configure "$build/all" -DGGML_VULKAN=$vulkan "$@"
compile "$build/all" llama
for name in libllama libggml libggml-base; do
    cp -L "$build/all/bin/$name.so" "$out/"
    # The loader asks for the name with the first number of the version.
    for link in "$build/all/bin/$name".so.?; do cp -L "$link" "$out/"; done
done
cp -L "$build"/all/bin/libggml-*.so "$out/"
for launcher in narrow:zen4 ordered:zen5; do
    name=${launcher%:*} processor=${launcher#*:}
    echo "Compiling the kernels for passes of few tokens, for $processor."
    configure "$build/$processor" -DGGML_VULKAN=OFF -DCMAKE_INSTALL_RPATH="\$ORIGIN/.." -DCMAKE_CXX_COMPILER_LAUNCHER="$kernels/$name.sh"
    compile "$build/$processor" ggml-cpu-zen4
    cp -L "$build/$processor/bin/libggml-cpu-zen4.so" "$out/few_tokens/libggml-cpu-$processor.so"
done
find "$out" -name '*.so*' -exec strip --strip-unneeded {} +
ls -l "$out" "$out/few_tokens"
