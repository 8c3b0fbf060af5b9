#!/bin/sh
# Builds llama.cpp for machines that are not this one. Usage: native.sh SOURCE BUILD OUT
# SOURCE is llama.cpp's source (vendor/llama.cpp of llama-cpp-python), BUILD a folder to build in, OUT gets the libraries.
#
# ggml loads its backends at run time, and of the processor's the best variant for the machine at hand. On Linux every variant
# with AVX2 and more, or with ARM's dot products, has our products of few tokens (engine/kernels/few_tokens.sh). Beside those for
# x86 lie two more in OUT/few_tokens: the one for Zen 4 compiled with narrow.sh, and with ordered.sh for Zen 5; engine/llama/library.py chooses. On macOS the
# processor's backend and Metal are compiled in.
# Vulkan's backend is built where glslc is found; VULKAN_INCLUDE_DIR may name newer headers. WITHOUT_VULKAN=1 leaves it out.
# BACKEND_OPTIONS adds options of CMake, as -DGGML_CUDA=ON.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
kernels=$(cd "$here/../../engine/kernels" && pwd)
source=$1 build=$2 out=$3
common='-DCMAKE_BUILD_TYPE=Release -DBUILD_SHARED_LIBS=ON -DGGML_NATIVE=OFF -DCMAKE_BUILD_WITH_INSTALL_RPATH=ON
    -DLLAMA_CURL=OFF -DLLAMA_OPENSSL=OFF -DLLAMA_BUILD_COMMON=OFF -DLLAMA_BUILD_TESTS=OFF -DLLAMA_BUILD_EXAMPLES=OFF
    -DLLAMA_BUILD_SERVER=OFF -DLLAMA_BUILD_TOOLS=OFF'
origin="\$ORIGIN"
case $(uname) in
Darwin) system=macos origin='@loader_path' common="$common -DGGML_METAL=ON -DGGML_METAL_EMBED_LIBRARY=ON" ;;
MINGW* | MSYS*) system=windows common="$common -DGGML_BACKEND_DL=ON -DGGML_CPU_ALL_VARIANTS=ON" ;;
*) system=linux common="$common -DGGML_BACKEND_DL=ON -DGGML_CPU_ALL_VARIANTS=ON" ;;
esac

configure() { # FOLDER OPTION...
    folder=$1
    shift
    # shellcheck disable=SC2086
    cmake -S "$source" -B "$folder" $common "$@" >"$folder.log" 2>&1 || { tail -20 "$folder.log" >&2; exit 1; }
}

compile() { # FOLDER TARGET
    cmake --build "$1" --config Release --parallel "${JOBS:-$(getconf _NPROCESSORS_ONLN 2>/dev/null || echo 4)}" \
        --target "$2" >>"$1.log" 2>&1 || { tail -30 "$1.log" >&2; exit 1; }
}

built() { # FOLDER: where the libraries of a build lie; Visual Studio's has a folder for each kind of build
    if [ -d "$1/bin/Release" ]; then echo "$1/bin/Release"; else echo "$1/bin"; fi
}

mkdir -p "$build" "$out"
vulkan=OFF
if [ $system != macos ] && [ "${WITHOUT_VULKAN:-}" != 1 ] && command -v glslc >/dev/null; then vulkan=ON; fi
set -- "-DGGML_VULKAN=$vulkan" "-DCMAKE_INSTALL_RPATH=$origin"
case "$system-$(uname -m)" in
linux-x86_64 | linux-aarch64) set -- "$@" "-DCMAKE_CXX_COMPILER_LAUNCHER=$kernels/few_tokens.sh" ;;
esac
if [ -n "${VULKAN_INCLUDE_DIR:-}" ]; then set -- "$@" "-DVulkan_INCLUDE_DIR=$VULKAN_INCLUDE_DIR"; fi
echo "Compiling llama.cpp for $system, with Vulkan: $vulkan."
# shellcheck disable=SC2086
configure "$build/all" "$@" ${BACKEND_OPTIONS:-}
compile "$build/all" llama
case $system in
windows) cp "$(built "$build/all")"/*.dll "$out/" ;;
macos) cp -L "$(built "$build/all")"/lib*.dylib "$out/" ;;
linux)
    # The binding asks for the plain names, the libraries ask each other for those with the first number of the version.
    cp -L "$build"/all/bin/libllama.so "$build"/all/bin/libggml.so "$build"/all/bin/libggml-*.so "$out/"
    cp -L "$build"/all/bin/libllama.so.[0-9] "$build"/all/bin/libggml.so.[0-9] "$build"/all/bin/libggml-base.so.[0-9] "$out/"
    ;;
esac
if [ $system = linux ] && [ "$(uname -m)" = x86_64 ]; then
    mkdir -p "$out/few_tokens"
    for launcher in narrow:zen4 ordered:zen5; do
        name=${launcher%:*} processor=${launcher#*:}
        echo "Compiling the kernels for passes of few tokens, for $processor."
        configure "$build/$processor" "-DCMAKE_INSTALL_RPATH=$origin/.." "-DCMAKE_CXX_COMPILER_LAUNCHER=$kernels/$name.sh"
        compile "$build/$processor" ggml-cpu-zen4
        cp -L "$build/$processor/bin/libggml-cpu-zen4.so" "$out/few_tokens/libggml-cpu-$processor.so"
    done
fi
if [ $system = linux ]; then find "$out" -name '*.so*' -exec strip --strip-unneeded {} +; fi
ls -l "$out"
