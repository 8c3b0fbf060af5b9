// IQ4_XS: what few_tokens_sgemm.h includes for it. Knows nothing of other types of weights.
//
// Layout (ggml-common.h): a row of weights is superblocks of 256 columns, each eight sub-blocks of 32 with a scale in 6 bits.
// Of a sub-block, 16 bytes of `qs` hold the columns 0 to 15 in their low halves, 16 to 31 in their high ones; each is a place
// in a table of 16 values, -127 to 113.
#pragma once

namespace {
namespace few_tokens {

struct iq4_xs {
    using block = block_iq4_xs;
    static constexpr bool HAS_LEAST = false;

    struct superblock {     // of one row
        __m512i values[4];  // 64 columns each, without their signs
        __mmask64 below[4]; // those less than zero
        __m512i scales[4];  // of the sub-block of each pair of columns
        __m256 scale;
    };

    static inline superblock unpack(const block_iq4_xs * block) {
        const __m512i four_bits = _mm512_set1_epi8(0x0F);
        const __m512i table = _mm512_broadcast_i32x4(_mm_loadu_si128((const __m128i *) kvalues_iq4nl));
        const __m512i order = _mm512_set_epi64(3, 2, 3, 2, 1, 0, 1, 0), high = _mm512_set_epi64(4, 4, 0, 0, 4, 4, 0, 0);
        uint32_t low;
        memcpy(&low, block->scales_l, 4);
        // Four bits each, the first sub-block's lowest, and two bits each.
        const __m128i low_bits = _mm_and_si128(
            _mm_cvtepu8_epi16(_mm_cvtsi64_si128((int64_t) _pdep_u64(low, 0x0F0F0F0F0F0F0F0FULL))), _mm_set1_epi16(0x0F));
        const __m128i high_bits =
            _mm_cvtepu8_epi16(_mm_cvtsi64_si128((int64_t) _pdep_u64(block->scales_h, 0x3030303030303030ULL)));
        const __m512i scales =
            _mm512_castsi128_si512(_mm_sub_epi16(_mm_or_si128(low_bits, high_bits), _mm_set1_epi16(32)));
        superblock result;
#pragma GCC unroll 4
        for (int i = 0; i < 4; i++) {
            const __m512i two = _mm512_castsi256_si512(_mm256_loadu_si256((const __m256i *) (block->qs + 32 * i)));
            const __m512i places =
                _mm512_and_si512(_mm512_srlv_epi64(_mm512_permutexvar_epi64(order, two), high), four_bits);
            const __m512i values = _mm512_shuffle_epi8(table, places);
            result.below[i] = _mm512_movepi8_mask(values);
            result.values[i] = _mm512_abs_epi8(values);
            const __m512i own = _mm512_inserti64x4(_mm512_set1_epi16(2 * i), _mm256_set1_epi16(2 * i + 1), 1);
            result.scales[i] = _mm512_permutexvar_epi16(own, scales);
        }
        result.scale = _mm256_cvtph_ps(_mm_set1_epi16((short) block->d));
        return result;
    }

    // The products of 256 columns, columns c to c + 3 of each 32 together: what llama.cpp adds up in the lane c / 4.
    static inline __m256i weigh(const superblock & row, const activations & token) {
        __m512i all = _mm512_setzero_si512();
#pragma GCC unroll 4
        for (int i = 0; i < 4; i++) {
            const __m512i plain = _mm512_load_si512(token.values + 64 * i);
            const __m512i turned = _mm512_mask_sub_epi8(plain, row.below[i], _mm512_setzero_si512(), plain);
            // Sums of two columns, at most 2 * 127 * 127.
            all = _mm512_dpwssd_epi32(all, _mm512_maddubs_epi16(row.values[i], turned), row.scales[i]);
        }
        return _mm256_add_epi32(_mm512_castsi512_si256(all), _mm512_extracti64x4_epi64(all, 1));
    }
};

}  // namespace few_tokens
}  // namespace
