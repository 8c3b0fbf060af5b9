// Q6_K: what few_tokens_sgemm.h includes for it. Knows nothing of other types of weights.
//
// Layout (ggml-common.h): a row of weights is superblocks of 256 columns, each 16 sub-blocks of 16 with a scale of their
// own. Of each half, 128 columns, `ql` holds the lower four bits, two columns a byte, and `qh` the upper two, four a byte.
#pragma once

namespace {
namespace few_tokens {

struct q6_K {
    using block = block_q6_K;
    static constexpr bool HAS_LEAST = false;  // as float: what is to be taken off is a whole number here

    struct superblock {  // of one row
#ifdef FEW_TOKENS_512
        __m512i values[4];  // 64 columns each, 0 to 63
        __m512i scales[2];  // of two of these: in each 32 bits one's and the other's
#else
        __m256i values[8];  // 32 columns each, 0 to 63
        __m256i scales[8];
#endif
        __m256i least;      // what is to be taken off for each sum of 16 columns, as the values should be -32 to 31
        __m256 scale;
    };

    static inline superblock unpack(const block_q6_K * block) {
#ifdef FEW_TOKENS_512
        const __m512i four_bits = _mm512_set1_epi8(0x0F), two_bits = _mm512_set1_epi8(0x30);
        const __m512i up = _mm512_set_epi64(2, 2, 2, 2, 4, 4, 4, 4), down = _mm512_set_epi64(2, 2, 2, 2, 0, 0, 0, 0);
        superblock result;
#pragma GCC unroll 2
        for (int half = 0; half < 2; half++) {
            const __m512i lower = _mm512_loadu_si512(block->ql + 64 * half);
            const __m512i upper =
                _mm512_broadcast_i64x4(_mm256_loadu_si256((const __m256i *) (block->qh + 32 * half)));
            result.values[2 * half] = _mm512_or_si512(_mm512_and_si512(lower, four_bits),
                                                      _mm512_and_si512(_mm512_sllv_epi64(upper, up), two_bits));
            result.values[2 * half + 1] =
                _mm512_or_si512(_mm512_and_si512(_mm512_srli_epi16(lower, 4), four_bits),
                                _mm512_and_si512(_mm512_srlv_epi64(upper, down), two_bits));
        }
#else
        const __m256i four_bits = _mm256_set1_epi8(0x0F), two_bits = _mm256_set1_epi8(0x30);
        superblock result;
#pragma GCC unroll 2
        for (int half = 0; half < 2; half++) {
            const __m256i upper = _mm256_loadu_si256((const __m256i *) (block->qh + 32 * half));
            const __m256i moved[4] = {_mm256_slli_epi16(upper, 4), _mm256_slli_epi16(upper, 2), upper,
                                      _mm256_srli_epi16(upper, 2)};
#pragma GCC unroll 4
            for (int i = 0; i < 4; i++) {
                const __m256i both = _mm256_loadu_si256((const __m256i *) (block->ql + 64 * half + 32 * (i % 2)));
                const __m256i lower = _mm256_and_si256(i < 2 ? both : _mm256_srli_epi16(both, 4), four_bits);
                result.values[4 * half + i] = _mm256_or_si256(lower, _mm256_and_si256(moved[i], two_bits));
            }
        }
#endif
        const __m256i scales = _mm256_cvtepi8_epi16(_mm_loadu_si128((const __m128i *) block->scales));
#ifdef FEW_TOKENS_512
        const __m512i first = _mm512_set_epi16(7, 3, 7, 3, 7, 3, 7, 3, 6, 2, 6, 2, 6, 2, 6, 2,
                                               5, 1, 5, 1, 5, 1, 5, 1, 4, 0, 4, 0, 4, 0, 4, 0);
        const __m512i second = _mm512_add_epi16(first, _mm512_set1_epi16(8));
        result.scales[0] = _mm512_permutexvar_epi16(first, _mm512_castsi256_si512(scales));
        result.scales[1] = _mm512_permutexvar_epi16(second, _mm512_castsi256_si512(scales));
#else
        const __m256i first = _mm256_permute2x128_si256(scales, scales, 0x00);
        const __m256i last = _mm256_permute2x128_si256(scales, scales, 0x11);
#pragma GCC unroll 4
        for (int i = 0; i < 4; i++) {
            result.scales[i] = two_of(first, 2 * i, 2 * i + 1);
            result.scales[4 + i] = two_of(last, 2 * i, 2 * i + 1);
        }
#endif
        result.least = _mm256_mullo_epi16(scales, _mm256_set1_epi16(-32));
        result.scale = _mm256_cvtph_ps(_mm_set1_epi16((short) block->d));
        return result;
    }

    // The products of 256 columns, in eight sums.
    static inline __m256i weigh(const superblock & row, const activations & token) {
        const __m256i sums = _mm256_load_si256((const __m256i *) token.sums);
        const __m256i off = _mm256_madd_epi16(sums, row.least);
#ifdef FEW_TOKENS_512
        return weigh_superblock(_mm512_zextsi256_si512(off), row.values, row.scales, token);
#else
        return weigh_superblock(off, row.values, row.scales, token);
#endif
    }
};

}  // namespace few_tokens
}  // namespace
