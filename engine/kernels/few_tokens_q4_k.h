// Q4_K: what few_tokens.h includes for it. Knows nothing of other types of weights.
//
// Layout, as llama.cpp repacks it (ggml-cpu/repack.cpp): eight rows of weights together in superblocks of 256 columns, which
// are four parts of two sub-blocks of 32. In a part, bytes 8c to 8c + 7 of each 64 hold eight columns of row c, those of the
// first sub-block in their low halves. Each sub-block has 12 bytes with the eight rows' scales and what is to be taken off
// (times the sum of the activations), in 6 bits each. Four tokens lie together likewise, in pieces of eight bytes.
#pragma once

namespace {
namespace few_tokens {

// The scales of two sub-blocks (bytes 0 to 7 and 8 to 15), and what is to be taken off, likewise.
inline void unpack_scales(const uint8_t * packed, __m128i & scales, __m128i & least) {
    uint64_t both[4];
    for (int i = 0; i < 2; i++) {
        uint64_t first;
        uint32_t rest;
        memcpy(&first, packed + 12 * i, 8);
        memcpy(&rest, packed + 12 * i + 8, 4);
        const uint64_t low = first & 0x3F3F3F3F3F3F3F3FULL;
        const uint64_t high = ((first >> 2) & 0x3030303030303030ULL) | (rest & 0x0F0F0F0FU) |
                              ((uint64_t) ((rest >> 4) & 0x0F0F0F0FU) << 32);
        both[i] = (low & 0xFFFFFFFFU) | (high << 32);
        both[2 + i] = (low >> 32) | (high & 0xFFFFFFFF00000000ULL);
    }
    scales = _mm_set_epi64x((int64_t) both[1], (int64_t) both[0]);
    least = _mm_set_epi64x((int64_t) both[3], (int64_t) both[2]);
}

// Sums of activations of the sub-blocks: for each part, tokens 0 0 1 1, then 2 2 3 3, each a pair of two sub-blocks.
inline void activation_sums(const block_q8_Kx4 * block, int32_t * pairs) {
    for (int i = 0; i < 4; i++) {
        const __m256i sums =
            _mm256_madd_epi16(_mm256_loadu_si256((const __m256i *) (block->bsums + 16 * i)), _mm256_set1_epi16(1));
        _mm256_storeu_si256((__m256i *) (pairs + 8 * i), _mm256_shuffle_epi32(_mm256_packs_epi32(sums, sums), 0x50));
    }
}

// The same of one token: for each part a pair.
inline void activation_sums(const block_q8_K * block, int32_t * pairs) {
    const __m256i sums = _mm256_madd_epi16(_mm256_loadu_si256((const __m256i *) block->bsums), _mm256_set1_epi16(1));
    const __m128i packed = _mm_packs_epi32(_mm256_castsi256_si128(sums), _mm256_extracti128_si256(sums, 1));
    _mm_storeu_si128((__m128i *) pairs, packed);
}

#ifdef FEW_TOKENS_512

struct part {                    // 64 columns of eight rows
    __m512i low[4], high[4];     // columns 0-31 and 32-63, eight bytes a row, each 0 to 15
    __m512i scales, least;       // of both sub-blocks, in the order of `weigh`, and of two tokens' sums
};

inline part unpack(const block_q4_Kx8 * block, int index) {
    const __m512i half = _mm512_set1_epi8(0x0F);
    part result;
#pragma GCC unroll 4
    for (int i = 0; i < 4; i++) {
        const __m512i both = _mm512_loadu_si512(block->qs + 256 * index + 64 * i);
        result.low[i] = _mm512_and_si512(both, half);
        result.high[i] = _mm512_and_si512(_mm512_srli_epi16(both, 4), half);
    }
    __m128i scales, least;
    unpack_scales(block->scales + 24 * index, scales, least);
    const __m256i twice = _mm256_set_epi8(15, 15, 14, 14, 7, 7, 6, 6, 13, 13, 12, 12, 5, 5, 4, 4,
                                          11, 11, 10, 10, 3, 3, 2, 2, 9, 9, 8, 8, 1, 1, 0, 0);
    const __m256i pairs = _mm256_set_epi8(15, 7, 14, 6, 15, 7, 14, 6, 13, 5, 12, 4, 13, 5, 12, 4,
                                          11, 3, 10, 2, 11, 3, 10, 2, 9, 1, 8, 0, 9, 1, 8, 0);
    result.scales = _mm512_cvtepu8_epi16(_mm256_shuffle_epi8(_mm256_broadcastsi128_si256(scales), twice));
    result.least = _mm512_cvtepu8_epi16(_mm256_shuffle_epi8(_mm256_broadcastsi128_si256(least), pairs));
    return result;
}

// Adds the products of 64 columns with one token, whose pieces of eight bytes lie `step` bytes apart and those of the second
// sub-block `second` bytes behind: in each 128 bits two rows of the first sub-block, then of the second.
inline __m512i weigh(__m512i sums, const part & rows, const int8_t * token, int step, int second) {
    __m512i low = _mm512_setzero_si512(), high = _mm512_setzero_si512();
#pragma GCC unroll 4
    for (int i = 0; i < 4; i++) {
        low = _mm512_dpbusd_epi32(low, rows.low[i], spread(token + i * step));
        high = _mm512_dpbusd_epi32(high, rows.high[i], spread(token + second + i * step));
    }
    return _mm512_dpwssd_epi32(sums, _mm512_packs_epi32(low, high), rows.scales);  // at most 16 * 15 * 127 each
}

// Scales of rows in the order of sums: in each 128 bits two rows, twice.
inline __m512 in_order(const ggml_half * halves) {
    const __m512i order = _mm512_set_epi32(7, 6, 7, 6, 5, 4, 5, 4, 3, 2, 3, 2, 1, 0, 1, 0);
    const __m256 eight = _mm256_cvtph_ps(_mm_loadu_si128((const __m128i *) halves));
    return _mm512_permutexvar_ps(order, _mm512_castps256_ps512(eight));
}

// Eight rows with FOURS * 4 tokens. `tokens` and `pairs` hold `nb` superblocks of four tokens, then those of the next four.
template <int FOURS>
inline void eight_rows(int nb, float * out, size_t stride, const block_q4_Kx8 * rows, const block_q8_Kx4 * tokens,
                       const int32_t * pairs) {
    __m512 sums[2 * FOURS], less[2 * FOURS];  // of two tokens each
    for (int i = 0; i < 2 * FOURS; i++) {
        sums[i] = less[i] = _mm512_setzero_ps();
    }
    for (int k = 0; k < nb; k++) {
        __m512i whole[4 * FOURS], off[2 * FOURS];
        for (int i = 0; i < 4 * FOURS; i++) {
            whole[i] = _mm512_setzero_si512();
        }
        for (int i = 0; i < 2 * FOURS; i++) {
            off[i] = _mm512_setzero_si512();
        }
        for (int p = 0; p < 4; p++) {
            fetch((const char *) (rows + k) + 288 * p, 5);
            const part unpacked = unpack(rows + k, p);
#pragma GCC unroll 4
            for (int four = 0; four < FOURS; four++) {
                const block_q8_Kx4 * block = tokens + (size_t) four * nb + k;
                const int32_t * sums_of = pairs + ((size_t) four * nb + k) * 32 + 8 * p;
#pragma GCC unroll 4
                for (int t = 0; t < 4; t++) {
                    whole[4 * four + t] = weigh(whole[4 * four + t], unpacked, block->qs + 256 * p + 8 * t, 32, 128);
                }
#pragma GCC unroll 2
                for (int two = 0; two < 2; two++) {
                    const __m128i two_sums = _mm_loadu_si128((const __m128i *) (sums_of + 4 * two));
                    __m512i & both = off[2 * four + two];
                    both = _mm512_dpwssd_epi32(both, unpacked.least, _mm512_broadcast_i32x4(two_sums));
                }
            }
        }
        const __m512 scale = in_order(rows[k].d), least = in_order(rows[k].dmin);
#pragma GCC unroll 4
        for (int four = 0; four < FOURS; four++) {
            const __m128 of_tokens = _mm_loadu_ps(tokens[(size_t) four * nb + k].d);
#pragma GCC unroll 2
            for (int two = 0; two < 2; two++) {
                const int i = 2 * four + two;
                const __m512i a = whole[2 * i], b = whole[2 * i + 1];
                const __m512i all = _mm512_add_epi32(_mm512_unpacklo_epi64(a, b), _mm512_unpackhi_epi64(a, b));
                const __m128 scales = two ? _mm_permute_ps(of_tokens, 0xFA) : _mm_permute_ps(of_tokens, 0x50);
                const __m512 token = _mm512_broadcast_f32x4(scales);
                sums[i] = _mm512_fmadd_ps(_mm512_cvtepi32_ps(all), _mm512_mul_ps(scale, token), sums[i]);
                less[i] = _mm512_fmadd_ps(_mm512_cvtepi32_ps(off[i]), _mm512_mul_ps(least, token), less[i]);
            }
        }
    }
    const __m512i apart = _mm512_set_epi32(15, 14, 11, 10, 7, 6, 3, 2, 13, 12, 9, 8, 5, 4, 1, 0);
    for (int i = 0; i < 2 * FOURS; i++) {
        const __m512 two = _mm512_permutexvar_ps(apart, _mm512_sub_ps(sums[i], less[i]));
        _mm256_storeu_ps(out + (size_t) (2 * i) * stride, _mm512_castps512_ps256(two));
        _mm256_storeu_ps(out + (size_t) (2 * i + 1) * stride, upper(two));
    }
}

// Eight rows with one token.
inline __m256 eight_rows(int nb, const block_q4_Kx8 * rows, const block_q8_K * token, const int32_t * pairs) {
    __m512 sums = _mm512_setzero_ps(), less = _mm512_setzero_ps();
    for (int k = 0; k < nb; k++) {
        __m512i whole = _mm512_setzero_si512(), off = _mm512_setzero_si512();
        for (int p = 0; p < 4; p++) {
            fetch((const char *) (rows + k) + 288 * p, 5);
            const part unpacked = unpack(rows + k, p);
            whole = weigh(whole, unpacked, token[k].qs + 64 * p, 8, 32);
            off = _mm512_dpwssd_epi32(off, unpacked.least, _mm512_set1_epi32(pairs[4 * k + p]));
        }
        const __m512i all = _mm512_add_epi32(whole, _mm512_shuffle_epi32(whole, (_MM_PERM_ENUM) 0x4E));
        const __m512 scale = _mm512_set1_ps(token[k].d);
        sums = _mm512_fmadd_ps(_mm512_cvtepi32_ps(all), _mm512_mul_ps(in_order(rows[k].d), scale), sums);
        less = _mm512_fmadd_ps(_mm512_cvtepi32_ps(off), _mm512_mul_ps(in_order(rows[k].dmin), scale), less);
    }
    const __m512i once = _mm512_set_epi32(13, 12, 9, 8, 5, 4, 1, 0, 13, 12, 9, 8, 5, 4, 1, 0);
    return _mm512_castps512_ps256(_mm512_permutexvar_ps(once, _mm512_sub_ps(sums, less)));
}

template <int FOURS>
inline int some(int nb, float * out, size_t stride, const block_q4_Kx8 * rows, const block_q8_Kx4 * tokens,
                const int32_t * pairs, int first, int count) {
    for (; first + 4 * FOURS <= count; first += 4 * FOURS) {
        const size_t skipped = (size_t) (first / 4) * nb;
        eight_rows<FOURS>(nb, out + first * stride, stride, rows, tokens + skipped, pairs + 32 * skipped);
    }
    return first;
}

#else

// Eight rows with TOKENS tokens, whose pieces of eight bytes lie `step` bytes apart, those of the next token 8 behind. `sums_of`
// are the sums of activations of the four parts, `apart` from one token to the next.
template <int TOKENS>
struct block_sums {
    __m256i whole[TOKENS][2];  // of rows 0 to 3 and 4 to 7, two sums each
    __m256i off[TOKENS];       // what is to be taken off, of each row

    inline block_sums(const block_q4_Kx8 * rows, const int8_t * tokens, int step, const int32_t * sums_of, int part_step) {
        const __m256i half = _mm256_set1_epi8(0x0F);
        for (int t = 0; t < TOKENS; t++) {
            whole[t][0] = whole[t][1] = off[t] = _mm256_setzero_si256();
        }
        for (int p = 0; p < 4; p++) {
            fetch((const char *) rows + 288 * p, 5);
            __m128i scales, least;
            unpack_scales(rows->scales + 24 * p, scales, least);
#pragma GCC unroll 2
            for (int sub = 0; sub < 2; sub++) {
                __m256i sums[TOKENS][2];
#pragma GCC unroll 4
                for (int i = 0; i < 4; i++) {
                    const __m256i * place = (const __m256i *) (rows->qs + 256 * p + 64 * i);
                    const __m256i both[2] = {_mm256_loadu_si256(place), _mm256_loadu_si256(place + 1)};
                    const __m256i first = _mm256_and_si256(sub ? _mm256_srli_epi16(both[0], 4) : both[0], half);
                    const __m256i last = _mm256_and_si256(sub ? _mm256_srli_epi16(both[1], 4) : both[1], half);
#pragma GCC unroll 4
                    for (int t = 0; t < TOKENS; t++) {
                        const __m256i eight = spread_256(tokens + step * (8 * p + 4 * sub + i) + 8 * t);
                        sums[t][0] = i ? add_small(sums[t][0], first, eight) : small_products(first, eight);
                        sums[t][1] = i ? add_small(sums[t][1], last, eight) : small_products(last, eight);
                    }
                }
                const __m128i own = sub ? _mm_srli_si128(scales, 8) : scales;
                const __m256i first = small_scales(own), last = small_scales(_mm_srli_si128(own, 4));
#pragma GCC unroll 4
                for (int t = 0; t < TOKENS; t++) {
                    whole[t][0] = add_twos(whole[t][0], sums[t][0], first);  // at most 8 * 15 * 127 each
                    whole[t][1] = add_twos(whole[t][1], sums[t][1], last);
                }
            }
            const __m256i pairs = _mm256_cvtepu8_epi16(_mm_unpacklo_epi8(least, _mm_srli_si128(least, 8)));
#pragma GCC unroll 4
            for (int t = 0; t < TOKENS; t++) {
                off[t] = add_twos(off[t], pairs, _mm256_set1_epi32(sums_of[part_step * p + 2 * t]));
            }
        }
    }
};

inline __m256 floats(const ggml_half * halves) { return _mm256_cvtph_ps(_mm_loadu_si128((const __m128i *) halves)); }

// Eight rows with four tokens.
inline void eight_rows(int nb, float * out, size_t stride, const block_q4_Kx8 * rows, const block_q8_Kx4 * tokens,
                       const int32_t * pairs) {
    __m256 sums[4], less[4];
    for (int t = 0; t < 4; t++) {
        sums[t] = less[t] = _mm256_setzero_ps();
    }
    for (int k = 0; k < nb; k++) {
        const block_sums<4> block(rows + k, tokens[k].qs, 32, pairs + 32 * (size_t) k, 8);
        const __m256 scale = floats(rows[k].d), least = floats(rows[k].dmin);
#pragma GCC unroll 4
        for (int t = 0; t < 4; t++) {
            const __m256 token = _mm256_set1_ps(tokens[k].d[t]);
            const __m256 all = _mm256_cvtepi32_ps(by_rows(block.whole[t][0], block.whole[t][1]));
            sums[t] = _mm256_fmadd_ps(all, _mm256_mul_ps(scale, token), sums[t]);
            less[t] = _mm256_fmadd_ps(_mm256_cvtepi32_ps(block.off[t]), _mm256_mul_ps(least, token), less[t]);
        }
    }
    for (int t = 0; t < 4; t++) {
        _mm256_storeu_ps(out + (size_t) t * stride, _mm256_sub_ps(sums[t], less[t]));
    }
}

// Eight rows with one token.
inline __m256 eight_rows(int nb, const block_q4_Kx8 * rows, const block_q8_K * token, const int32_t * pairs) {
    __m256 sums = _mm256_setzero_ps(), less = _mm256_setzero_ps();
    for (int k = 0; k < nb; k++) {
        const block_sums<1> block(rows + k, token[k].qs, 8, pairs + 4 * k, 1);
        const __m256 scale = _mm256_set1_ps(token[k].d);
        const __m256 all = _mm256_cvtepi32_ps(by_rows(block.whole[0][0], block.whole[0][1]));
        sums = _mm256_fmadd_ps(all, _mm256_mul_ps(floats(rows[k].d), scale), sums);
        less = _mm256_fmadd_ps(_mm256_cvtepi32_ps(block.off[0]), _mm256_mul_ps(floats(rows[k].dmin), scale), less);
    }
    return _mm256_sub_ps(sums, less);
}

#endif

}  // namespace few_tokens
}  // namespace

// n: columns; s: results, `bs` apart from one token to the next; nr: tokens, a multiple of 4; nc: rows of weights, a
// multiple of 8.
void ggml_gemm_q4_K_8x8_q8_K(int n, float * GGML_RESTRICT s, size_t bs, const void * GGML_RESTRICT vx,
                             const void * GGML_RESTRICT vy, int nr, int nc) {
    assert(n % QK_K == 0 && nr % 4 == 0 && nc % 8 == 0);
    const int nb = n / QK_K;
    for (int t = 0; t < nr; t += few_tokens::AT_ONCE) {
        const int count = nr - t < few_tokens::AT_ONCE ? nr - t : few_tokens::AT_ONCE;
        const block_q8_Kx4 * tokens = (const block_q8_Kx4 *) vy + (size_t) (t / 4) * nb;
        int32_t * pairs = few_tokens::room((size_t) nb * (count / 4) * 32);
        for (int i = 0; i < nb * (count / 4); i++) {
            few_tokens::activation_sums(tokens + i, pairs + 32 * (size_t) i);
        }
        for (int group = 0; group < nc / 8; group++) {
            const block_q4_Kx8 * rows = (const block_q4_Kx8 *) vx + (size_t) group * nb;
            float * out = s + (size_t) t * bs + group * 8;
#ifdef FEW_TOKENS_512
            const int done = few_tokens::some<2>(nb, out, bs, rows, tokens, pairs, 0, count);
            few_tokens::some<1>(nb, out, bs, rows, tokens, pairs, done, count);
#else
            for (int first = 0; first < count; first += 4) {
                const size_t skipped = (size_t) (first / 4) * nb;
                few_tokens::eight_rows(nb, out + first * bs, bs, rows, tokens + skipped, pairs + 32 * skipped);
            }
#endif
        }
    }
}

// The same for single tokens; llama.cpp asks for one at a time.
void ggml_gemv_q4_K_8x8_q8_K(int n, float * GGML_RESTRICT s, size_t bs, const void * GGML_RESTRICT vx,
                             const void * GGML_RESTRICT vy, int nr, int nc) {
    assert(n % QK_K == 0 && nr == 1 && nc % 8 == 0);
    GGML_UNUSED(bs);
    GGML_UNUSED(nr);
    const int nb = n / QK_K;
    const block_q8_K * token = (const block_q8_K *) vy;
    int32_t * pairs = few_tokens::room((size_t) nb * 4);
    for (int k = 0; k < nb; k++) {
        few_tokens::activation_sums(token + k, pairs + 4 * (size_t) k);
    }
    for (int group = 0; group < nc / 8; group++) {
        const block_q4_Kx8 * rows = (const block_q4_Kx8 *) vx + (size_t) group * nb;
        _mm256_storeu_ps(s + group * 8, few_tokens::eight_rows(nb, rows, token, pairs));
    }
}
