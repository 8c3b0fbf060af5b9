// llama.cpp's products of Q4_0 and Q4_K weights with one and with a few tokens, anew for processors with AVX2 and more.
//
// Included before ggml/src/ggml-cpu/arch/x86/repack.cpp by few_tokens.sh. Owns what both types share and the names:
// its functions take the place of llama.cpp's own, which stay in the library with _stock behind their names. Knows nothing
// of threads, of graphs and of other types of weights: llama.cpp calls these functions as it calls its own.
//
// What drafting gains is decided by what a pass of 4 to 16 tokens costs beside one of a single token. llama.cpp's kernels
// for Q4_0 take the sign of each activation over to each weight, two instructions for each one that multiplies, those for
// Q4_K multiply into 16 bits, and both shuffle the weights besides. Here weights stay unsigned, 0 to 15, as the multiplying
// instruction wants them, in the order in which llama.cpp keeps them, and eight bytes of a token are spread over a register
// while they are loaded. What has to be taken off in return depends on the activations alone: it is known before.
//
// Sums are whole numbers, and the few operations on floats are those of llama.cpp's products with a single token in the same
// order, so each token of a pass of several gets every bit that a pass of its own would give it
// (tests/engine/kernels/test_few_tokens.py). llama.cpp's own for several tokens do that for Q4_0 and round otherwise for Q4_K.
#pragma once

#include "vectors.h"

#if defined(FEW_TOKENS_512) || defined(FEW_TOKENS_256)

#define GGML_COMMON_IMPL_CPP
#define GGML_COMMON_DECL_CPP
#include "ggml-common.h"
#include "ggml-impl.h"
#include "ggml-cpu-impl.h"
#include "repack.h"

#include <immintrin.h>

#include <cassert>
#include <cstdint>
#include <cstring>
#include <vector>

// What orders the instructions of llama.cpp's own kernels better (narrow.sh) costs these 5 to 8 %.
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC push_options
#pragma GCC optimize("no-schedule-insns")
#endif

namespace {  // of this file alone
namespace few_tokens {

constexpr int AHEAD_BYTES = 4608;  // of the weights, fetched before they are wanted; beyond their end that harms nothing
constexpr int AT_ONCE = 64;        // tokens whose activations stay in the caches while the weights go by

// Always inline: GCC leaves a call out whose function does nothing but fetch.
__attribute__((always_inline)) inline void fetch(const void * place, int lines) {
    for (int line = 0; line < lines; line++) {
        _mm_prefetch((const char *) place + AHEAD_BYTES + 64 * line, _MM_HINT_T0);
    }
}

#ifdef FEW_TOKENS_512
inline __m512i spread(const int8_t * eight_bytes) {
    int64_t piece;
    memcpy(&piece, eight_bytes, sizeof(piece));
    return _mm512_set1_epi64(piece);
}

inline __m256 upper(__m512 values) {
    return _mm256_castpd_ps(_mm512_extractf64x4_pd(_mm512_castps_pd(values), 1));
}
#else
// Products of weights of four bits with eight columns of a token, spread: of each row two sums, or with AVX2 four, in 16 bits,
// where four such products have room.
inline __m256i small_products(__m256i weights, __m256i eight) {
#ifdef FEW_TOKENS_VNNI
    return add_fours(_mm256_setzero_si256(), weights, eight);
#else
    return _mm256_maddubs_epi16(weights, eight);
#endif
}

inline __m256i add_small(__m256i sums, __m256i weights, __m256i eight) {
#ifdef FEW_TOKENS_VNNI
    return add_fours(sums, weights, eight);
#else
    return _mm256_add_epi16(sums, _mm256_maddubs_epi16(weights, eight));
#endif
}

// The scales of four rows, for add_twos with such sums: 32 bits that are small can be taken for 16 and nothing.
inline __m256i small_scales(__m128i bytes) {
#ifdef FEW_TOKENS_VNNI
    const __m128i order = _mm_set_epi8(-1, 3, -1, 3, -1, 2, -1, 2, -1, 1, -1, 1, -1, 0, -1, 0);
#else
    const __m128i order = _mm_set_epi8(3, 3, 3, 3, 2, 2, 2, 2, 1, 1, 1, 1, 0, 0, 0, 0);
#endif
    return _mm256_cvtepu8_epi16(_mm_shuffle_epi8(bytes, order));
}

// Of rows 0 to 3 and 4 to 7, two sums each: one sum of each row, in order.
inline __m256i by_rows(__m256i first, __m256i last) {
    return _mm256_permute4x64_epi64(_mm256_hadd_epi32(first, last), 0xD8);
}
#endif

// A buffer of this thread that is used again.
inline int32_t * room(size_t count) {
    static thread_local std::vector<int32_t> buffer;
    if (buffer.size() < count) {
        buffer.resize(count);
    }
    return buffer.data();
}

}  // namespace few_tokens
}  // namespace

#include "few_tokens_q4_0.h"
#include "few_tokens_q4_k.h"

#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC pop_options
#endif

extern "C" {
#define STOCK(name) \
    void name##_stock(int n, float * GGML_RESTRICT s, size_t bs, const void * GGML_RESTRICT vx, \
                      const void * GGML_RESTRICT vy, int nr, int nc);
STOCK(ggml_gemm_q4_0_8x8_q8_0)
STOCK(ggml_gemv_q4_0_8x8_q8_0)
STOCK(ggml_gemm_q4_K_8x8_q8_K)
STOCK(ggml_gemv_q4_K_8x8_q8_K)
#undef STOCK
}

// llama.cpp's own definitions, which follow, get these names.
#define ggml_gemm_q4_0_8x8_q8_0 ggml_gemm_q4_0_8x8_q8_0_stock
#define ggml_gemv_q4_0_8x8_q8_0 ggml_gemv_q4_0_8x8_q8_0_stock
#define ggml_gemm_q4_K_8x8_q8_K ggml_gemm_q4_K_8x8_q8_K_stock
#define ggml_gemv_q4_K_8x8_q8_K ggml_gemv_q4_K_8x8_q8_K_stock

#endif
