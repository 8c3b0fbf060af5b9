// Q5_K: what few_tokens_sgemm.h includes for it. Knows nothing of other types of weights.
//
// Layout (ggml-common.h): a row of weights is superblocks of 256 columns, each eight sub-blocks of 32 with a scale and with
// what is to be taken off, in 6 bits each. Of two sub-blocks, 64 columns, 32 bytes of `qs` hold the lower four bits; the
// fifth bits of the first sub-block are the lowest of the 32 bytes of `qh`, those of the second the next, and so on.
#pragma once

namespace {
namespace few_tokens {

struct q5_K {
    using block = block_q5_K;
    static constexpr bool HAS_LEAST = true;

    struct superblock {     // of one row
#ifdef FEW_TOKENS_512
        __m512i values[4];  // 64 columns each, 0 to 31
        __m512i scales[2];  // of two of these: in each 32 bits one's and the other's
#else
        __m256i values[8];  // 32 columns each, 0 to 31
        __m256i scales[8];
#endif
        __m128i least;      // of each sub-block, what is to be taken off for the sum of its columns
        __m256 scale;
        float least_scale;
    };

    static inline superblock unpack(const block_q5_K * block) {
#ifdef FEW_TOKENS_512
        const __m512i four_bits = _mm512_set1_epi8(0x0F), fifth = _mm512_set1_epi8(0x10);
        const __m512i bits = _mm512_broadcast_i64x4(_mm256_loadu_si256((const __m256i *) block->qh));
        const __m512i moved[4] = {
            _mm512_sllv_epi64(bits, _mm512_set_epi64(3, 3, 3, 3, 4, 4, 4, 4)),
            _mm512_sllv_epi64(bits, _mm512_set_epi64(1, 1, 1, 1, 2, 2, 2, 2)),
            _mm512_srlv_epi64(bits, _mm512_set_epi64(1, 1, 1, 1, 0, 0, 0, 0)),
            _mm512_srlv_epi64(bits, _mm512_set_epi64(3, 3, 3, 3, 2, 2, 2, 2)),
        };
        superblock result;
#pragma GCC unroll 4
        for (int i = 0; i < 4; i++) {
            const __m256i both = _mm256_loadu_si256((const __m256i *) (block->qs + 32 * i));
            const __m512i lower = _mm512_and_si512(
                _mm512_inserti64x4(_mm512_castsi256_si512(both), _mm256_srli_epi16(both, 4), 1), four_bits);
            result.values[i] = _mm512_ternarylogic_epi64(lower, moved[i], fifth, 0xF8);  // lower | (moved & fifth)
        }
#else
        const __m256i four_bits = _mm256_set1_epi8(0x0F), fifth = _mm256_set1_epi8(0x10);
        const __m256i bits = _mm256_loadu_si256((const __m256i *) block->qh);
        const __m256i moved[8] = {
            _mm256_slli_epi16(bits, 4), _mm256_slli_epi16(bits, 3), _mm256_slli_epi16(bits, 2), _mm256_slli_epi16(bits, 1),
            bits, _mm256_srli_epi16(bits, 1), _mm256_srli_epi16(bits, 2), _mm256_srli_epi16(bits, 3),
        };
        superblock result;
#pragma GCC unroll 4
        for (int i = 0; i < 4; i++) {
            const __m256i both = _mm256_loadu_si256((const __m256i *) (block->qs + 32 * i));
            const __m256i lower = _mm256_and_si256(both, four_bits);
            const __m256i upper = _mm256_and_si256(_mm256_srli_epi16(both, 4), four_bits);
            result.values[2 * i] = _mm256_or_si256(lower, _mm256_and_si256(moved[2 * i], fifth));
            result.values[2 * i + 1] = _mm256_or_si256(upper, _mm256_and_si256(moved[2 * i + 1], fifth));
        }
#endif
        uint64_t first;
        uint32_t rest;
        memcpy(&first, block->scales, 8);
        memcpy(&rest, block->scales + 8, 4);
        const uint64_t low = first & 0x3F3F3F3F3F3F3F3FULL;
        const uint64_t high = ((first >> 2) & 0x3030303030303030ULL) | (rest & 0x0F0F0F0FU) |
                              ((uint64_t) ((rest >> 4) & 0x0F0F0F0FU) << 32);
        const uint64_t scales = (low & 0xFFFFFFFFU) | (high << 32), least = (low >> 32) | (high & 0xFFFFFFFF00000000ULL);
#ifdef FEW_TOKENS_512
        const __m512i all = _mm512_castsi128_si512(_mm_cvtepu8_epi16(_mm_cvtsi64_si128((int64_t) scales)));
        const __m512i order = _mm512_set_epi16(3, 1, 3, 1, 3, 1, 3, 1, 3, 1, 3, 1, 3, 1, 3, 1,
                                               2, 0, 2, 0, 2, 0, 2, 0, 2, 0, 2, 0, 2, 0, 2, 0);
        result.scales[0] = _mm512_permutexvar_epi16(order, all);
        result.scales[1] = _mm512_permutexvar_epi16(_mm512_add_epi16(order, _mm512_set1_epi16(4)), all);
#else
        const __m256i all = _mm256_broadcastsi128_si256(_mm_cvtepu8_epi16(_mm_cvtsi64_si128((int64_t) scales)));
#pragma GCC unroll 8
        for (int i = 0; i < 8; i++) {
            result.scales[i] = two_of(all, i, i);
        }
#endif
        result.least = _mm_cvtepu8_epi16(_mm_cvtsi64_si128((int64_t) least));
        uint16_t halves[2];
        memcpy(halves, block, sizeof(halves));  // in a union whose name depends on the compiler's language
        result.scale = _mm256_cvtph_ps(_mm_set1_epi16((short) halves[0]));
        result.least_scale = _cvtsh_ss(halves[1]);
        return result;
    }

    // The products of 256 columns, in eight sums.
    static inline __m256i weigh(const superblock & row, const activations & token) {
        return weigh_superblock(no_sums(), row.values, row.scales, token);
    }

    // What is to be taken off, of eight tokens at once.
    static inline __m256i least_of(const superblock & row, const eight & tokens) {
        const __m256i pairs = _mm256_broadcastsi128_si256(row.least);
        __m256i whole = _mm256_setzero_si256();
        whole = add_twos(whole, _mm256_shuffle_epi32(pairs, 0x00), _mm256_load_si256(tokens.sums + 0));
        whole = add_twos(whole, _mm256_shuffle_epi32(pairs, 0x55), _mm256_load_si256(tokens.sums + 1));
        whole = add_twos(whole, _mm256_shuffle_epi32(pairs, 0xAA), _mm256_load_si256(tokens.sums + 2));
        return add_twos(whole, _mm256_shuffle_epi32(pairs, 0xFF), _mm256_load_si256(tokens.sums + 3));
    }
};

}  // namespace few_tokens
}  // namespace
