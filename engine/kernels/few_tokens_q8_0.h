// Q8_0: what few_tokens_sgemm.h includes for it. Knows nothing of other types of weights.
//
// Layout (ggml-common.h): a row of weights is blocks of 32 columns, signed bytes with a scale of their own; so are the tokens.
// There is a product of unsigned bytes with signed ones only, so weights get 128 more each, and what that adds up to depends
// on the tokens alone.
#pragma once

namespace {
namespace few_tokens {

struct alignas(64) byte_activations {  // of one token, 32 columns
    int8_t values[32];
    int32_t surplus[8];  // -128 times the sums of four columns
};

// Weights as their product with a token wants them, and that product: whole numbers, the sums of four columns each.
#ifdef FEW_TOKENS_VNNI
inline __m256i byte_weights(const block_q8_0 & block) {
    return _mm256_xor_si256(_mm256_loadu_si256((const __m256i *) block.qs), _mm256_set1_epi8((char) 0x80));
}

inline __m256i byte_products(__m256i weights, const byte_activations & token) {
    return add_fours(_mm256_load_si256((const __m256i *) token.surplus), weights,
                     _mm256_load_si256((const __m256i *) token.values));
}
#else  // 128 more would be too much for AVX2's sums of two, so signs are carried over to the token
inline __m256i byte_weights(const block_q8_0 & block) { return _mm256_loadu_si256((const __m256i *) block.qs); }

inline __m256i byte_products(__m256i weights, const byte_activations & token) {
    const __m256i values = _mm256_sign_epi8(_mm256_load_si256((const __m256i *) token.values), weights);
    return add_fours(_mm256_setzero_si256(), _mm256_abs_epi8(weights), values);
}
#endif

struct bytes_prepared {  // `nb` blocks of each of some tokens
    const byte_activations * tokens;
    const float * scales;  // of eight tokens for each block, and then of the next eight
};

// ROWS rows, `row_step` blocks apart, with TOKENS tokens, `nb` apart; their results are `out_step` apart.
template <int ROWS, int TOKENS>
inline void byte_tile(int nb, float * out, int64_t out_step, const block_q8_0 * rows, int64_t row_step,
                      const upcoming<block_q8_0> & next, const bytes_prepared & all) {
    __m256 sums[ROWS][TOKENS];
    for (int r = 0; r < ROWS; r++) {
        for (int t = 0; t < TOKENS; t++) {
            sums[r][t] = _mm256_setzero_ps();
        }
    }
    for (int k = 0; k < nb; k++) {
        const __m256 token_scales = _mm256_loadu_ps(all.scales + 8 * (int64_t) k);
#pragma GCC unroll 4
        for (int r = 0; r < ROWS; r++) {
            next.fetch(rows + r * row_step, k);
            const block_q8_0 & block = rows[r * row_step + k];
            const __m256i weights = byte_weights(block);
            alignas(32) float scales[8];
            _mm256_store_ps(scales, _mm256_mul_ps(_mm256_set1_ps(_cvtsh_ss(block.d)), token_scales));
#pragma GCC unroll 8
            for (int t = 0; t < TOKENS; t++) {
                const __m256i whole = byte_products(weights, all.tokens[(int64_t) t * nb + k]);
                sums[r][t] = _mm256_fmadd_ps(_mm256_set1_ps(scales[t]), _mm256_cvtepi32_ps(whole), sums[r][t]);
            }
        }
    }
    for (int r = 0; r < ROWS; r++) {
        for (int t = 0; t < TOKENS; t++) {
            out[t * out_step + r] = added_up(sums[r][t]);
        }
    }
}

#ifdef FEW_TOKENS_512
// The same for pairs of rows, side by side.
template <int PAIRS, int TOKENS>
inline void byte_pairs(int nb, float * out, int64_t out_step, const block_q8_0 * rows, int64_t row_step,
                       const upcoming<block_q8_0> & next, const bytes_prepared & all) {
    const __m512i more = _mm512_set1_epi8((char) 0x80);
    const __m512i each = _mm512_set_epi32(1, 1, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0);
    __m512 sums[PAIRS][TOKENS];
    for (int p = 0; p < PAIRS; p++) {
        for (int t = 0; t < TOKENS; t++) {
            sums[p][t] = _mm512_setzero_ps();
        }
    }
    for (int k = 0; k < nb; k++) {
        __m512i weights[PAIRS];
        __m512 row_scales[PAIRS];
#pragma GCC unroll 2
        for (int p = 0; p < PAIRS; p++) {
            next.fetch(rows + 2 * p * row_step, k);
            next.fetch(rows + (2 * p + 1) * row_step, k);
            const block_q8_0 & one = rows[2 * p * row_step + k];
            const block_q8_0 & other = rows[(2 * p + 1) * row_step + k];
            const __m512i both =
                _mm512_inserti64x4(_mm512_castsi256_si512(_mm256_loadu_si256((const __m256i *) one.qs)),
                                   _mm256_loadu_si256((const __m256i *) other.qs), 1);
            weights[p] = _mm512_xor_si512(both, more);
            const __m128 two = _mm_cvtph_ps(_mm_cvtsi32_si128((int) ((uint32_t) one.d | (uint32_t) other.d << 16)));
            row_scales[p] = _mm512_permutexvar_ps(each, _mm512_castps128_ps512(two));
        }
        const float * token_scales = all.scales + 8 * (int64_t) k;
        const byte_activations * tokens = all.tokens + k;
#pragma GCC unroll 2
        for (int four = 0; four < TOKENS; four += 4) {
            const __m512 four_scales = _mm512_broadcast_f32x4(_mm_loadu_ps(token_scales + four));
            __m512 scales[PAIRS];
#pragma GCC unroll 2
            for (int p = 0; p < PAIRS; p++) {
                scales[p] = _mm512_mul_ps(row_scales[p], four_scales);
            }
#pragma GCC unroll 4
            for (int t = four; t < four + 4 && t < TOKENS; t++) {
                const byte_activations & token = tokens[(int64_t) t * nb];
                const __m512i surplus = _mm512_broadcast_i64x4(_mm256_load_si256((const __m256i *) token.surplus));
                const __m512i values = _mm512_broadcast_i64x4(_mm256_load_si256((const __m256i *) token.values));
#pragma GCC unroll 2
                for (int p = 0; p < PAIRS; p++) {
                    const __m512 scale = t % 4 == 0   ? _mm512_permute_ps(scales[p], 0x00)
                                         : t % 4 == 1 ? _mm512_permute_ps(scales[p], 0x55)
                                         : t % 4 == 2 ? _mm512_permute_ps(scales[p], 0xAA)
                                                      : _mm512_permute_ps(scales[p], 0xFF);
                    const __m512i whole = _mm512_dpbusd_epi32(surplus, weights[p], values);
                    sums[p][t] = _mm512_fmadd_ps(scale, _mm512_cvtepi32_ps(whole), sums[p][t]);
                }
            }
        }
    }
    for (int p = 0; p < PAIRS; p++) {
        for (int t = 0; t < TOKENS; t++) {
            out[t * out_step + 2 * p] = added_up(_mm512_castps512_ps256(sums[p][t]));
            out[t * out_step + 2 * p + 1] = added_up(_mm512_extractf32x8_ps(sums[p][t], 1));
        }
    }
}

#endif

template <int ROWS, int TOKENS>
inline void byte_rows(int nb, float * out, int64_t out_step, const block_q8_0 * rows, int64_t row_step,
                      const upcoming<block_q8_0> & next, const bytes_prepared & all) {
#ifdef FEW_TOKENS_512
    if constexpr (ROWS > 1 && TOKENS > 1) {
        byte_pairs<ROWS / 2, TOKENS>(nb, out, out_step, rows, row_step, next, all);
        return;
    }
#endif
    byte_tile<ROWS, TOKENS>(nb, out, out_step, rows, row_step, next, all);
}

template <int ROWS>
inline void some_byte_tokens(int nb, float * out, int64_t out_step, const block_q8_0 * rows, int64_t row_step,
                             const upcoming<block_q8_0> & next, bytes_prepared all, int64_t count) {
    for (; count >= 8; count -= 8, out += 8 * out_step) {
        byte_rows<ROWS, 8>(nb, out, out_step, rows, row_step, next, all);
        all.tokens += (int64_t) 8 * nb;
        all.scales += (int64_t) 8 * nb;
    }
    switch (count) {
        case 7: byte_rows<ROWS, 7>(nb, out, out_step, rows, row_step, next, all); break;
        case 6: byte_rows<ROWS, 6>(nb, out, out_step, rows, row_step, next, all); break;
        case 5: byte_rows<ROWS, 5>(nb, out, out_step, rows, row_step, next, all); break;
        case 4: byte_rows<ROWS, 4>(nb, out, out_step, rows, row_step, next, all); break;
        case 3: byte_rows<ROWS, 3>(nb, out, out_step, rows, row_step, next, all); break;
        case 2: byte_rows<ROWS, 2>(nb, out, out_step, rows, row_step, next, all); break;
        case 1: byte_rows<ROWS, 1>(nb, out, out_step, rows, row_step, next, all); break;
    }
}

// Where this thread finds `count` tokens, `step` blocks apart.
inline bytes_prepared prepare_bytes(const block_q8_0 * tokens, int64_t step, int64_t count, int nb) {
    static thread_local std::vector<byte_activations> room;
    static thread_local std::vector<float> scales;
    const size_t num_scales = (size_t) (count + 7) / 8 * 8 * nb;
    if (room.size() < (size_t) count * nb) {
        room.resize((size_t) count * nb);
    }
    if (scales.size() < num_scales) {
        scales.resize(num_scales);
    }
    const __m256i ones = _mm256_set1_epi8(1);
    for (int64_t t = 0; t < count; t++) {
        float * own = scales.data() + t / 8 * 8 * nb + t % 8;
        for (int k = 0; k < nb; k++) {
            const block_q8_0 & from = tokens[t * step + k];
            byte_activations & to = room[(size_t) t * nb + k];
            const __m256i values = _mm256_loadu_si256((const __m256i *) from.qs);
            const __m256i sums = add_fours(_mm256_setzero_si256(), ones, values);
            _mm256_store_si256((__m256i *) to.values, values);
            _mm256_store_si256((__m256i *) to.surplus,
                               _mm256_sub_epi32(_mm256_setzero_si256(), _mm256_slli_epi32(sums, 7)));
            own[8 * (size_t) k] = _cvtsh_ss(from.d);
        }
    }
    return {room.data(), scales.data()};
}

struct q8_0 {
    using block = block_q8_0;
    using tokens = block_q8_0;
#ifdef FEW_TOKENS_512
    static constexpr int ROWS = 4;         // at once
#else
    static constexpr int ROWS = 1;
#endif
    static constexpr int ALONE = 2;
    static constexpr int LARGE = 1 << 16;  // blocks of weights

    static inline bytes_prepared prepare(const block_q8_0 * from, int64_t step, int64_t count, int nb) {
        return prepare_bytes(from, step, count, nb);
    }

    template <int ROWS>
    static inline void some_tokens(int nb, float * out, int64_t out_step, const block_q8_0 * rows, int64_t row_step,
                                   const upcoming<block_q8_0> & next, const bytes_prepared & all, int64_t count) {
        some_byte_tokens<ROWS>(nb, out, out_step, rows, row_step, next, all, count);
    }
};

}  // namespace few_tokens
}  // namespace
