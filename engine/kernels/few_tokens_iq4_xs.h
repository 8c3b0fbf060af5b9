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
#ifdef FEW_TOKENS_512
        __m512i values[4];  // 64 columns each, without their signs
        __mmask64 below[4]; // those less than zero
        __m512i scales[4];  // of the sub-block of each pair of columns
#else
        __m256i values[8];  // 32 columns each, with their signs
        __m256i scales[8];
#endif
        __m256 scale;
    };

    static inline superblock unpack(const block_iq4_xs * block) {
        uint32_t low;
        memcpy(&low, block->scales_l, 4);
        // Four bits each, the first sub-block's lowest, and two bits each.
        const __m128i low_bytes = _mm_cvtsi32_si128((int) low);
        const __m128i low_bits = _mm_and_si128(
            _mm_cvtepu8_epi16(_mm_unpacklo_epi8(low_bytes, _mm_srli_epi16(low_bytes, 4))), _mm_set1_epi16(0x0F));
        // Each of eight numbers keeps two bits of its own, moved to the fifth and sixth.
        const __m128i places = _mm_set_epi16(1, 4, 16, 64, 256, 1024, 4096, 16384);
        const __m128i high_bits = _mm_and_si128(
            _mm_srli_epi16(_mm_mullo_epi16(_mm_set1_epi16((short) block->scales_h), places), 10), _mm_set1_epi16(0x30));
        const __m128i eight_scales = _mm_sub_epi16(_mm_or_si128(low_bits, high_bits), _mm_set1_epi16(32));
        superblock result;
#ifdef FEW_TOKENS_512
        const __m512i four_bits = _mm512_set1_epi8(0x0F);
        const __m512i table = _mm512_broadcast_i32x4(_mm_loadu_si128((const __m128i *) kvalues_iq4nl));
        const __m512i order = _mm512_set_epi64(3, 2, 3, 2, 1, 0, 1, 0), high = _mm512_set_epi64(4, 4, 0, 0, 4, 4, 0, 0);
        const __m512i scales = _mm512_castsi128_si512(eight_scales);
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
#else
        const __m256i all = _mm256_broadcastsi128_si256(eight_scales), four_bits = _mm256_set1_epi8(0x0F);
        const __m256i table = _mm256_broadcastsi128_si256(_mm_loadu_si128((const __m128i *) kvalues_iq4nl));
#pragma GCC unroll 8
        for (int i = 0; i < 8; i++) {
            const __m128i both = _mm_loadu_si128((const __m128i *) (block->qs + 16 * i));
            const __m256i places = _mm256_and_si256(_mm256_set_m128i(_mm_srli_epi16(both, 4), both), four_bits);
            result.values[i] = _mm256_shuffle_epi8(table, places);
            result.scales[i] = two_of(all, i, i);
        }
#endif
        result.scale = _mm256_cvtph_ps(_mm_set1_epi16((short) block->d));
        return result;
    }

    // The products of 256 columns, in eight sums.
    static inline __m256i weigh(const superblock & row, const activations & token) {
#ifdef FEW_TOKENS_512
        __m512i all = _mm512_setzero_si512();
#pragma GCC unroll 4
        for (int i = 0; i < 4; i++) {
            const __m512i plain = _mm512_load_si512(token.values + 64 * i);
            const __m512i turned = _mm512_mask_sub_epi8(plain, row.below[i], _mm512_setzero_si512(), plain);
            // Sums of two columns, at most 2 * 127 * 127.
            all = _mm512_dpwssd_epi32(all, _mm512_maddubs_epi16(row.values[i], turned), row.scales[i]);
        }
        return _mm256_add_epi32(_mm512_castsi512_si256(all), _mm512_extracti64x4_epi64(all, 1));
#else
        __m256i all = _mm256_setzero_si256();
#pragma GCC unroll 8
        for (int i = 0; i < 8; i++) {
            const __m256i plain = _mm256_load_si256((const __m256i *) (token.values + 32 * i));
            const __m256i turned = _mm256_sign_epi8(plain, row.values[i]);
            all = add_twos(all, _mm256_maddubs_epi16(_mm256_abs_epi8(row.values[i]), turned), row.scales[i]);
        }
        return all;
#endif
    }
};

}  // namespace few_tokens
}  // namespace
