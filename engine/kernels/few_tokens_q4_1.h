// Q4_1: what few_tokens_sgemm.h includes for it. Knows nothing of other types of weights.
//
// Layout (ggml-common.h): a row of weights is blocks of 32 columns, each 16 bytes with the columns 0 to 15 in their low halves,
// 16 to 31 in their high ones, unsigned, with a scale, and with what the least of them stands for. Tokens are signed bytes, with
// a scale and with their sum times that.
//
// llama.cpp adds up eight sums of four columns each, four of the low halves and four of the high ones. Here four rows lie side by
// side, the four sums of each, low halves in one register and high ones in another, so nothing is shuffled to unpack them. What
// they are multiplied with is in memory four times: to spread it while it is loaded takes Zen 4 as long as to multiply.
#pragma once

namespace {
namespace few_tokens {

struct alignas(64) nibble_activations {  // of eight tokens, or of fewer and what was there before; 32 columns
#ifdef FEW_TOKENS_512
    int8_t values[8][2][64];             // of a token: the columns of low halves four times, and those of high ones
#else
    int8_t values[8][32];
#endif
    float scales[8];
    float sums[8];
};

struct alignas(64) nibble_activations_alone {  // of a single token, 32 columns
    int8_t values[32];
    float scale, sum;
};

struct nibbles_prepared {
    const nibble_activations * eights;       // `nb` blocks of eight tokens, and then of the next eight
    const nibble_activations_alone * alone;  // `nb` blocks, null where there are several tokens
};

// The 32 columns of a block, 0 to 15.
inline __m256i nibbles(const block_q4_1 & block) {
    const __m128i both = _mm_loadu_si128((const __m128i *) block.qs);
    return _mm256_and_si256(_mm256_inserti128_si256(_mm256_castsi128_si256(both), _mm_srli_epi16(both, 4), 1),
                            _mm256_set1_epi8(0x0F));
}

#ifdef FEW_TOKENS_512
// Four rows, `row_step` blocks apart, or one, with TOKENS tokens; their results are `out_step` apart.
template <int ROWS, int TOKENS>
inline void nibble_tile(int nb, float * out, int64_t out_step, const block_q4_1 * rows, int64_t row_step,
                        const upcoming<block_q4_1> & next, const nibble_activations * tokens) {
    const __m512i four_bits = _mm512_set1_epi8(0x0F);
    const __m512i scale_of_row = _mm512_set_epi32(6, 6, 6, 6, 4, 4, 4, 4, 2, 2, 2, 2, 0, 0, 0, 0);
    const __m512i least_of_row = _mm512_set_epi32(7, 7, 7, 7, 5, 5, 5, 5, 3, 3, 3, 3, 1, 1, 1, 1);
    __m512 lower_sums[TOKENS], upper_sums[TOKENS];  // of each row, four
    __m512 least_sums[(TOKENS + 3) / 4];            // of each row, four tokens'
#pragma GCC unroll 8
    for (int t = 0; t < TOKENS; t++) {
        lower_sums[t] = upper_sums[t] = least_sums[t / 4] = _mm512_setzero_ps();
    }
    for (int k = 0; k < nb; k++) {
        const block_q4_1 * blocks[4];
        __m128i own[4];
#pragma GCC unroll 4
        for (int r = 0; r < 4; r++) {
            blocks[r] = rows + r % ROWS * row_step + k;
            own[r] = _mm_loadu_si128((const __m128i *) blocks[r]->qs);
            if (r < ROWS) {
                next.fetch(rows + r * row_step, k);
            }
        }
        const __m256i first = _mm256_inserti128_si256(_mm256_castsi128_si256(own[0]), own[1], 1);
        const __m256i last = _mm256_inserti128_si256(_mm256_castsi128_si256(own[2]), own[3], 1);
        const __m512i all = _mm512_inserti64x4(_mm512_castsi256_si512(first), last, 1);
        const __m512i lower = _mm512_and_si512(all, four_bits);
        const __m512i upper = _mm512_and_si512(_mm512_srli_epi16(all, 4), four_bits);
        const __m256 floats = _mm256_cvtph_ps(_mm_set_epi32((int) blocks[3]->data.dm, (int) blocks[2]->data.dm,
                                                            (int) blocks[1]->data.dm, (int) blocks[0]->data.dm));
        const __m512 row_scales = _mm512_permutexvar_ps(scale_of_row, _mm512_castps256_ps512(floats));
        const __m512 row_least = _mm512_permutexvar_ps(least_of_row, _mm512_castps256_ps512(floats));
        const nibble_activations & token = tokens[k];
#pragma GCC unroll 2
        for (int four = 0; four < TOKENS; four += 4) {
            const __m512 token_sums = _mm512_broadcast_f32x4(_mm_load_ps(token.sums + four));
            least_sums[four / 4] = _mm512_fmadd_ps(row_least, token_sums, least_sums[four / 4]);
            const __m512 token_scales = _mm512_broadcast_f32x4(_mm_load_ps(token.scales + four));
            const __m512 scales = _mm512_mul_ps(row_scales, token_scales);
#pragma GCC unroll 4
            for (int t = four; t < four + 4 && t < TOKENS; t++) {
                const __m512 scale = t % 4 == 0   ? _mm512_permute_ps(scales, 0x00)
                                     : t % 4 == 1 ? _mm512_permute_ps(scales, 0x55)
                                     : t % 4 == 2 ? _mm512_permute_ps(scales, 0xAA)
                                                  : _mm512_permute_ps(scales, 0xFF);
                const __m512i zero = _mm512_setzero_si512();
                const __m512i one = _mm512_dpbusd_epi32(zero, lower, _mm512_load_si512(token.values[t][0]));
                const __m512i other = _mm512_dpbusd_epi32(zero, upper, _mm512_load_si512(token.values[t][1]));
                lower_sums[t] = _mm512_fmadd_ps(scale, _mm512_cvtepi32_ps(one), lower_sums[t]);
                upper_sums[t] = _mm512_fmadd_ps(scale, _mm512_cvtepi32_ps(other), upper_sums[t]);
            }
        }
    }
    const __m512i by_tokens = _mm512_set_epi32(15, 11, 7, 3, 14, 10, 6, 2, 13, 9, 5, 1, 12, 8, 4, 0);
#pragma GCC unroll 2
    for (int four = 0; four < TOKENS; four += 4) {
        __m512 sums[4];
#pragma GCC unroll 4
        for (int t = 0; t < 4; t++) {
            sums[t] = four + t < TOKENS ? _mm512_add_ps(upper_sums[four + t], lower_sums[four + t]) : _mm512_setzero_ps();
        }
        // As added_up does it, of four tokens at once.
        const __m512 two = _mm512_add_ps(_mm512_unpacklo_ps(sums[0], sums[1]), _mm512_unpackhi_ps(sums[0], sums[1]));
        const __m512 more = _mm512_add_ps(_mm512_unpacklo_ps(sums[2], sums[3]), _mm512_unpackhi_ps(sums[2], sums[3]));
        const __m512 whole = _mm512_add_ps(_mm512_shuffle_ps(two, more, 0x44), _mm512_shuffle_ps(two, more, 0xEE));
        alignas(64) float results[4][4];  // of a token, one of each row
        _mm512_store_ps(results[0], _mm512_permutexvar_ps(by_tokens, _mm512_add_ps(whole, least_sums[four / 4])));
#pragma GCC unroll 4
        for (int t = four; t < four + 4 && t < TOKENS; t++) {
            memcpy(out + t * out_step, results[t - four], ROWS * sizeof(float));
        }
    }
}
#else
// A row with TOKENS tokens; their results are `out_step` apart.
template <int ROWS, int TOKENS>
inline void nibble_tile(int nb, float * out, int64_t out_step, const block_q4_1 * rows, int64_t row_step,
                        const upcoming<block_q4_1> & next, const nibble_activations * tokens) {
    static_assert(ROWS == 1, "rows are taken one by one");
    GGML_UNUSED(row_step);
    __m256 sums[TOKENS], least = _mm256_setzero_ps();
    for (__m256 & sum : sums) {
        sum = _mm256_setzero_ps();
    }
    for (int k = 0; k < nb; k++) {
        next.fetch(rows, k);
        const nibble_activations & token = tokens[k];
        const __m256i weights = nibbles(rows[k]);
        const __m128 floats = _mm_cvtph_ps(_mm_cvtsi32_si128((int) rows[k].data.dm));
        alignas(32) float scales[8];
        _mm256_store_ps(scales, _mm256_mul_ps(_mm256_broadcastss_ps(floats), _mm256_load_ps(token.scales)));
        least = _mm256_fmadd_ps(_mm256_broadcastss_ps(_mm_movehdup_ps(floats)), _mm256_load_ps(token.sums), least);
#pragma GCC unroll 8
        for (int t = 0; t < TOKENS; t++) {
            const __m256i whole = add_fours(_mm256_setzero_si256(), weights,
                                            _mm256_load_si256((const __m256i *) token.values[t]));
            sums[t] = _mm256_fmadd_ps(_mm256_set1_ps(scales[t]), _mm256_cvtepi32_ps(whole), sums[t]);
        }
    }
    alignas(32) float off[8];
    _mm256_store_ps(off, least);
    for (int t = 0; t < TOKENS; t++) {
        out[t * out_step] = added_up(sums[t]) + off[t];
    }
}
#endif

// A row with a single token.
inline void nibble_row(int nb, float * out, const block_q4_1 * row, const upcoming<block_q4_1> & next,
                       const nibble_activations_alone * token) {
    __m256 sums = _mm256_setzero_ps();
    __m128 least_sum = _mm_setzero_ps();  // the lowest of four
    for (int k = 0; k < nb; k++) {
        next.fetch(row, k);
        const __m256i weights = nibbles(row[k]);
        const __m128 floats = _mm_cvtph_ps(_mm_cvtsi32_si128((int) row[k].data.dm));
        const __m256 scale = _mm256_broadcastss_ps(_mm_mul_ss(floats, _mm_load_ss(&token[k].scale)));
        const __m256i whole = add_fours(_mm256_setzero_si256(), weights,
                                                  _mm256_load_si256((const __m256i *) token[k].values));
        sums = _mm256_fmadd_ps(scale, _mm256_cvtepi32_ps(whole), sums);
        least_sum = _mm_fmadd_ss(_mm_movehdup_ps(floats), _mm_load_ss(&token[k].sum), least_sum);
    }
    *out = added_up(sums) + _mm_cvtss_f32(least_sum);
}

// Where this thread finds a single token.
inline const nibble_activations_alone * prepare_alone_for_nibbles(const block_q8_1 * token, int nb) {
    static thread_local std::vector<nibble_activations_alone> room;
    if (room.size() < (size_t) nb) {
        room.resize(nb);
    }
    for (int k = 0; k < nb; k++) {
        memcpy(room[k].values, token[k].qs, sizeof(token[k].qs));
        room[k].scale = _cvtsh_ss(token[k].data.data.d);
        room[k].sum = _cvtsh_ss(token[k].data.data.s);
    }
    return room.data();
}

// Where this thread finds `count` tokens, `step` blocks apart.
inline nibbles_prepared prepare_for_nibbles(const block_q8_1 * tokens, int64_t step, int64_t count, int nb) {
    static thread_local std::vector<nibble_activations> room;
    const size_t wanted = (size_t) (count + 7) / 8 * nb;
    if (room.size() < wanted) {
        room.resize(wanted);
    }
    for (int64_t t = 0; t < count; t++) {
        for (int k = 0; k < nb; k++) {
            const block_q8_1 & from = tokens[t * step + k];
            nibble_activations & to = room[(size_t) t / 8 * nb + k];
#ifdef FEW_TOKENS_512
            for (int half = 0; half < 2; half++) {
                const __m128i columns = _mm_loadu_si128((const __m128i *) (from.qs + 16 * half));
                _mm512_store_si512(to.values[t % 8][half], _mm512_broadcast_i32x4(columns));
            }
#else
            memcpy(to.values[t % 8], from.qs, sizeof(from.qs));
#endif
            to.scales[t % 8] = _cvtsh_ss(from.data.data.d);
            to.sums[t % 8] = _cvtsh_ss(from.data.data.s);
        }
    }
    return {room.data(), count == 1 ? prepare_alone_for_nibbles(tokens, nb) : nullptr};
}

struct q4_1 {
    using block = block_q4_1;
    using tokens = block_q8_1;
#ifdef FEW_TOKENS_512
    static constexpr int ROWS = 4;         // at once
#else
    static constexpr int ROWS = 1;
#endif
    static constexpr int ALONE = 1;        // two tokens take a row longer than memory does
    static constexpr int LARGE = 1 << 16;  // blocks of weights

    static inline nibbles_prepared prepare(const block_q8_1 * from, int64_t step, int64_t count, int nb) {
        return prepare_for_nibbles(from, step, count, nb);
    }

    template <int ROWS>
    static inline void some_tokens(int nb, float * out, int64_t out_step, const block_q4_1 * rows, int64_t row_step,
                                   const upcoming<block_q4_1> & next, const nibbles_prepared & all, int64_t count) {
        if (ROWS == 1 && all.alone != nullptr) {
            nibble_row(nb, out, rows, next, all.alone);
            return;
        }
        const nibble_activations * tokens = all.eights;
        for (; count >= 8; count -= 8, out += 8 * out_step, tokens += nb) {
            nibble_tile<ROWS, 8>(nb, out, out_step, rows, row_step, next, tokens);
        }
        switch (count) {
            case 7: nibble_tile<ROWS, 7>(nb, out, out_step, rows, row_step, next, tokens); break;
            case 6: nibble_tile<ROWS, 6>(nb, out, out_step, rows, row_step, next, tokens); break;
            case 5: nibble_tile<ROWS, 5>(nb, out, out_step, rows, row_step, next, tokens); break;
            case 4: nibble_tile<ROWS, 4>(nb, out, out_step, rows, row_step, next, tokens); break;
            case 3: nibble_tile<ROWS, 3>(nb, out, out_step, rows, row_step, next, tokens); break;
            case 2: nibble_tile<ROWS, 2>(nb, out, out_step, rows, row_step, next, tokens); break;
            case 1: nibble_tile<ROWS, 1>(nb, out, out_step, rows, row_step, next, tokens); break;
        }
    }
};

}  // namespace few_tokens
}  // namespace
