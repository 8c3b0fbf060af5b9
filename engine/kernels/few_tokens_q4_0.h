// Q4_0: what few_tokens.h includes for it. Knows nothing of other types of weights.
//
// Layout, as llama.cpp repacks it (ggml-cpu/repack.cpp): eight rows of weights together in blocks of 32 columns; bytes
// 8c to 8c + 7 of the first 64 hold columns 0 to 7 of row c in their low halves and 16 to 23 in the high ones, the next 64
// bytes columns 8 to 15 and 24 to 31; the highest bit of each half is flipped. Four tokens together likewise, 8 bytes each.
// Weights are meant 8 less than they are here, so sums begin with minus 8 times the sum of the activations.
#pragma once

namespace {
namespace few_tokens {

inline __m256 scales(const block_q4_0x8 * block) {
    return _mm256_cvtph_ps(_mm_loadu_si128((const __m128i *) block->d));
}

// Minus eight times the sum of a block of activations: of one token, and of four.
inline int32_t begin_of(const block_q8_0 * block) {
    const __m256i sums = add_fours(_mm256_setzero_si256(), _mm256_set1_epi8(8),
                                   _mm256_loadu_si256((const __m256i *) block->qs));
    __m128i sum = _mm_add_epi32(_mm256_castsi256_si128(sums), _mm256_extracti128_si256(sums, 1));
    sum = _mm_hadd_epi32(sum, sum);
    return -_mm_cvtsi128_si32(_mm_hadd_epi32(sum, sum));
}

inline void begin_of(const block_q8_0x4 * block, int32_t * begin) {
    __m256i sums = _mm256_setzero_si256();
    for (int i = 0; i < 4; i++) {
        sums = add_fours(sums, _mm256_set1_epi8(8), _mm256_loadu_si256((const __m256i *) (block->qs + 32 * i)));
    }
    sums = _mm256_hadd_epi32(sums, sums);
    const __m128i four = _mm_unpacklo_epi64(_mm256_castsi256_si128(sums), _mm256_extracti128_si256(sums, 1));
    _mm_storeu_si128((__m128i *) begin, _mm_sub_epi32(_mm_setzero_si128(), four));
}

#ifdef FEW_TOKENS_512

struct weights {              // of eight rows: columns 0-7, 8-15, 16-23, 24-31, eight bytes a row, each 0 to 15
    __m512i columns[4];
};

inline weights unpack(const block_q4_0x8 * block) {
    const __m512i half = _mm512_set1_epi8(0x0F), flip = _mm512_set1_epi8(0x08);
    const __m512i first = _mm512_loadu_si512(block->qs), second = _mm512_loadu_si512(block->qs + 64);
    constexpr int AND_XOR = 0x6A;  // (a & b) ^ c
    return {{_mm512_ternarylogic_epi32(first, half, flip, AND_XOR),
             _mm512_ternarylogic_epi32(second, half, flip, AND_XOR),
             _mm512_ternarylogic_epi32(_mm512_srli_epi16(first, 4), half, flip, AND_XOR),
             _mm512_ternarylogic_epi32(_mm512_srli_epi16(second, 4), half, flip, AND_XOR)}};
}

// Products of eight rows with one token, two sums a row; the token's pieces of eight bytes lie `step` bytes apart.
inline __m512i products(const weights & rows, const int8_t * token, int step, int32_t begin) {
    __m512i sums = _mm512_maskz_set1_epi32(0x5555, begin);
#pragma GCC unroll 4
    for (int i = 0; i < 4; i++) {
        sums = _mm512_dpbusd_epi32(sums, rows.columns[i], spread(token + i * step));
    }
    return sums;
}

// From two sums a row to one: the eight of `a`, then the eight of `b`.
inline __m512i pairwise(__m512i a, __m512i b) {
    const __m512i even = _mm512_set_epi32(30, 28, 26, 24, 22, 20, 18, 16, 14, 12, 10, 8, 6, 4, 2, 0);
    const __m512i odd = _mm512_set_epi32(31, 29, 27, 25, 23, 21, 19, 17, 15, 13, 11, 9, 7, 5, 3, 1);
    return _mm512_add_epi32(_mm512_permutex2var_epi32(a, even, b), _mm512_permutex2var_epi32(a, odd, b));
}

// Eight rows with FOURS * 4 tokens. `tokens` and `begin` hold `nb` blocks of four tokens, then those of the next four.
template <int FOURS>
inline void eight_rows(int nb, float * out, size_t stride, const block_q4_0x8 * rows, const block_q8_0x4 * tokens,
                       const int32_t * begin) {
    const __m512i pick[2] = {_mm512_set_epi32(1, 1, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0),
                             _mm512_set_epi32(3, 3, 3, 3, 3, 3, 3, 3, 2, 2, 2, 2, 2, 2, 2, 2)};
    __m512 sums[2 * FOURS];  // of two tokens each
    for (__m512 & sum : sums) {
        sum = _mm512_setzero_ps();
    }
    for (int k = 0; k < nb; k++) {
        fetch(rows + k, 3);
        const weights unpacked = unpack(rows + k);
        const __m512 row_scales = _mm512_castpd_ps(_mm512_broadcast_f64x4(_mm256_castps_pd(scales(rows + k))));
#pragma GCC unroll 4
        for (int four = 0; four < FOURS; four++) {
            const block_q8_0x4 * block = tokens + (size_t) four * nb + k;
            const int32_t * first = begin + ((size_t) four * nb + k) * 4;
            const __m512 token_scales =
                _mm512_broadcast_f32x4(_mm_cvtph_ps(_mm_loadl_epi64((const __m128i *) block->d)));
#pragma GCC unroll 2
            for (int two = 0; two < 2; two++) {
                const int8_t * token = block->qs + 16 * two;
                const __m512i whole = pairwise(products(unpacked, token, 32, first[2 * two]),
                                               products(unpacked, token + 8, 32, first[2 * two + 1]));
                const __m512 scale = _mm512_mul_ps(row_scales, _mm512_permutexvar_ps(pick[two], token_scales));
                sums[2 * four + two] = _mm512_fmadd_ps(_mm512_cvtepi32_ps(whole), scale, sums[2 * four + two]);
            }
        }
    }
    for (int i = 0; i < 2 * FOURS; i++) {
        _mm256_storeu_ps(out + (size_t) (2 * i) * stride, _mm512_castps512_ps256(sums[i]));
        _mm256_storeu_ps(out + (size_t) (2 * i + 1) * stride, upper(sums[i]));
    }
}

// Eight rows with one token.
inline __m256 eight_rows(int nb, const block_q4_0x8 * rows, const block_q8_0 * token, const int32_t * begin) {
    __m256 sum = _mm256_setzero_ps();
    for (int k = 0; k < nb; k += 2) {
        const bool is_alone = k + 1 == nb;
        fetch(rows + k, 5);
        const __m512i first = products(unpack(rows + k), token[k].qs, 8, begin[k]);
        const __m512i second =
            is_alone ? first : products(unpack(rows + k + 1), token[k + 1].qs, 8, begin[k + 1]);
        const __m512 whole = _mm512_cvtepi32_ps(pairwise(first, second));
        const __m256 scale = _mm256_mul_ps(scales(rows + k), _mm256_cvtph_ps(_mm_set1_epi16((short) token[k].d)));
        sum = _mm256_fmadd_ps(_mm512_castps512_ps256(whole), scale, sum);
        if (!is_alone) {
            const __m256 next =
                _mm256_mul_ps(scales(rows + k + 1), _mm256_cvtph_ps(_mm_set1_epi16((short) token[k + 1].d)));
            sum = _mm256_fmadd_ps(upper(whole), next, sum);
        }
    }
    return sum;
}

#else

// Eight rows with TOKENS tokens, whose pieces of eight bytes lie `step` bytes apart, those of the next token 8 behind: a sum of
// each row, in order, to which `begin` is added.
template <int TOKENS>
inline void products(__m256i * results, const block_q4_0x8 * rows, const int8_t * tokens, int step, const int32_t * begin) {
    const __m256i half = _mm256_set1_epi8(0x0F), flip = _mm256_set1_epi8(0x08);
    __m256i sums[TOKENS][2];
#pragma GCC unroll 4
    for (int i = 0; i < 4; i++) {
        const __m256i * place = (const __m256i *) (rows->qs + 64 * (i % 2));
        const __m256i both[2] = {_mm256_loadu_si256(place), _mm256_loadu_si256(place + 1)};
        __m256i weights[2];
#pragma GCC unroll 2
        for (int h = 0; h < 2; h++) {
            const __m256i bits = _mm256_and_si256(i < 2 ? both[h] : _mm256_srli_epi16(both[h], 4), half);
            weights[h] = _mm256_xor_si256(bits, flip);
        }
#pragma GCC unroll 4
        for (int t = 0; t < TOKENS; t++) {
            const __m256i eight = spread_256(tokens + step * i + 8 * t);
            sums[t][0] = i ? add_small(sums[t][0], weights[0], eight) : small_products(weights[0], eight);
            sums[t][1] = i ? add_small(sums[t][1], weights[1], eight) : small_products(weights[1], eight);
        }
    }
#pragma GCC unroll 4
    for (int t = 0; t < TOKENS; t++) {
#ifndef FEW_TOKENS_VNNI
        sums[t][0] = _mm256_madd_epi16(sums[t][0], _mm256_set1_epi16(1));
        sums[t][1] = _mm256_madd_epi16(sums[t][1], _mm256_set1_epi16(1));
#endif
        results[t] = _mm256_add_epi32(by_rows(sums[t][0], sums[t][1]), _mm256_set1_epi32(begin[t]));
    }
}

// Eight rows with four tokens.
inline void eight_rows(int nb, float * out, size_t stride, const block_q4_0x8 * rows, const block_q8_0x4 * tokens,
                       const int32_t * begin) {
    __m256 sums[4];
    for (__m256 & sum : sums) {
        sum = _mm256_setzero_ps();
    }
    for (int k = 0; k < nb; k++) {
        fetch(rows + k, 3);
        __m256i whole[4];
        products<4>(whole, rows + k, tokens[k].qs, 32, begin + 4 * (size_t) k);
        const __m256 row_scales = scales(rows + k);
        alignas(16) float token_scales[4];
        _mm_store_ps(token_scales, _mm_cvtph_ps(_mm_loadl_epi64((const __m128i *) tokens[k].d)));
#pragma GCC unroll 4
        for (int t = 0; t < 4; t++) {
            const __m256 scale = _mm256_mul_ps(row_scales, _mm256_set1_ps(token_scales[t]));
            sums[t] = _mm256_fmadd_ps(_mm256_cvtepi32_ps(whole[t]), scale, sums[t]);
        }
    }
    for (int t = 0; t < 4; t++) {
        _mm256_storeu_ps(out + (size_t) t * stride, sums[t]);
    }
}

// Eight rows with one token.
inline __m256 eight_rows(int nb, const block_q4_0x8 * rows, const block_q8_0 * token, const int32_t * begin) {
    __m256 sum = _mm256_setzero_ps();
    for (int k = 0; k < nb; k++) {
        fetch(rows + k, 3);
        __m256i whole;
        products<1>(&whole, rows + k, token[k].qs, 8, begin + k);
        const __m256 scale = _mm256_mul_ps(scales(rows + k), _mm256_cvtph_ps(_mm_set1_epi16((short) token[k].d)));
        sum = _mm256_fmadd_ps(_mm256_cvtepi32_ps(whole), scale, sum);
    }
    return sum;
}

#endif

inline void few(int nb, float * out, size_t stride, const block_q4_0x8 * rows, const block_q8_0x4 * tokens, int count,
                int groups) {
    int32_t * begin = room((size_t) nb * count);
    for (size_t i = 0; i < (size_t) nb * (count / 4); i++) {
        begin_of(tokens + i, begin + 4 * i);
    }
    for (int group = 0; group < groups; group++, rows += nb, out += 8) {
        int t = 0;
#ifdef FEW_TOKENS_512
        for (; t + 16 <= count; t += 16) {
            eight_rows<4>(nb, out + t * stride, stride, rows, tokens + (size_t) (t / 4) * nb, begin + (size_t) t * nb);
        }
        float * place = out + t * stride;
        const block_q8_0x4 * rest = tokens + (size_t) (t / 4) * nb;
        switch (count - t) {
            case 12: eight_rows<3>(nb, place, stride, rows, rest, begin + (size_t) t * nb); break;
            case 8: eight_rows<2>(nb, place, stride, rows, rest, begin + (size_t) t * nb); break;
            case 4: eight_rows<1>(nb, place, stride, rows, rest, begin + (size_t) t * nb); break;
            default: break;
        }
#else
        for (; t < count; t += 4) {
            eight_rows(nb, out + t * stride, stride, rows, tokens + (size_t) (t / 4) * nb, begin + (size_t) t * nb);
        }
#endif
    }
}

}  // namespace few_tokens
}  // namespace

// n: columns; s: results, `bs` apart from one token to the next; nr: tokens, a multiple of 4; nc: rows of weights, a
// multiple of 8.
void ggml_gemm_q4_0_8x8_q8_0(int n, float * GGML_RESTRICT s, size_t bs, const void * GGML_RESTRICT vx,
                             const void * GGML_RESTRICT vy, int nr, int nc) {
    assert(n % QK8_0 == 0 && nr % 4 == 0 && nc % 8 == 0);
    const int nb = n / QK8_0;
    for (int t = 0; t < nr; t += few_tokens::AT_ONCE) {
        const int count = nr - t < few_tokens::AT_ONCE ? nr - t : few_tokens::AT_ONCE;
        few_tokens::few(nb, s + (size_t) t * bs, bs, (const block_q4_0x8 *) vx,
                        (const block_q8_0x4 *) vy + (size_t) (t / 4) * nb, count, nc / 8);
    }
}

// The same for single tokens; llama.cpp asks for one at a time.
void ggml_gemv_q4_0_8x8_q8_0(int n, float * GGML_RESTRICT s, size_t bs, const void * GGML_RESTRICT vx,
                             const void * GGML_RESTRICT vy, int nr, int nc) {
    assert(n % QK8_0 == 0 && nr == 1 && nc % 8 == 0);
    GGML_UNUSED(bs);
    GGML_UNUSED(nr);
    const int nb = n / QK8_0;
    const block_q8_0 * token = (const block_q8_0 *) vy;
    int32_t * begin = few_tokens::room(nb);
    for (int k = 0; k < nb; k++) {
        begin[k] = few_tokens::begin_of(token + k);
    }
    for (int group = 0; group < nc / 8; group++) {
        const block_q4_0x8 * rows = (const block_q4_0x8 *) vx + (size_t) group * nb;
        _mm256_storeu_ps(s + group * 8, few_tokens::eight_rows(nb, rows, token, begin));
    }
}

