// The instruction sets that few_tokens*.h are written for, and what the products of each are made of. Nothing of how weights are
// laid out.
//
// FEW_TOKENS_512: AVX-512 with VNNI (Zen 4 and 5, Ice Lake and later servers). FEW_TOKENS_256: vectors of 256 bits, with AVX-VNNI
// (Alder Lake and later), or AVX2 alone (all others since Haswell and Zen). Unsigned bytes are multiplied with signed ones
// either way; they are at most 127 with AVX2, whose instruction keeps sums of two in 16 bits.
#pragma once

// Without __AVX512DQ__, which narrow.sh takes away from llama.cpp's own kernels; every processor with VNNI has it.
#if defined(__AVX512F__) && defined(__AVX512BW__) && defined(__AVX512VL__) && defined(__AVX512VNNI__) && \
    defined(__FMA__) && defined(__F16C__) && !defined(FEW_TOKENS_NARROW)
#define FEW_TOKENS_512
#elif defined(__AVX2__) && defined(__FMA__) && defined(__F16C__)
#define FEW_TOKENS_256
#endif

#if defined(FEW_TOKENS_512) || defined(FEW_TOKENS_256)

#include <immintrin.h>

#include <cstdint>
#include <cstring>

// FEW_TOKENS_NARROW stands in for AVX-VNNI on a processor with AVX-512: the same instructions, encoded otherwise.
#if defined(__AVXVNNI__) || (defined(__AVX512VNNI__) && defined(__AVX512VL__))
#define FEW_TOKENS_VNNI
#endif

namespace {  // of this file alone
namespace few_tokens {

// Adds to `sums`, 32 bits each, the products of two 16-bit numbers.
inline __m256i add_twos(__m256i sums, __m256i one, __m256i other) {
#if defined(__AVX512VNNI__) && defined(__AVX512VL__)
    return _mm256_dpwssd_epi32(sums, one, other);
#elif defined(__AVXVNNI__)
    return _mm256_dpwssd_avx_epi32(sums, one, other);
#else
    return _mm256_add_epi32(sums, _mm256_madd_epi16(one, other));
#endif
}

// Adds to `sums`, 32 bits each, the products of four bytes; those of `weights` are unsigned.
inline __m256i add_fours(__m256i sums, __m256i weights, __m256i values) {
#if defined(__AVX512VNNI__) && defined(__AVX512VL__)
    return _mm256_dpbusd_epi32(sums, weights, values);
#elif defined(__AVXVNNI__)
    return _mm256_dpbusd_avx_epi32(sums, weights, values);
#else
    return _mm256_add_epi32(sums, _mm256_madd_epi16(_mm256_maddubs_epi16(weights, values), _mm256_set1_epi16(1)));
#endif
}

// Eight bytes, four times.
inline __m256i spread_256(const int8_t * eight_bytes) {
    int64_t piece;
    memcpy(&piece, eight_bytes, sizeof(piece));
    return _mm256_set1_epi64x(piece);
}

}  // namespace few_tokens
}  // namespace

#endif
