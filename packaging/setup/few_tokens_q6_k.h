// llama.cpp's products of Q6_K weights with one and with a few tokens, anew for processors with AVX-512 VNNI.
//
// Included before ggml/src/ggml-cpu/llamafile/sgemm.cpp by narrow.sh and ordered.sh. Its function takes the place of
// llama.cpp's own, which stays in the library with _stock behind its name and gets all that is not for this one. Knows
// nothing of other types of weights.
//
// A fifth of a Q4_K_M model is Q6_K, and all of one that is called so. llama.cpp unpacks these weights once for each token of
// a pass of up to seven, and has tiles of 16 by 16 for more (few_tokens_tiled.h says which of them are left to it). Here they
// are unpacked once for up to eight tokens, into registers.
//
// Layout (ggml-common.h): a row of weights is superblocks of 256 columns, each 16 sub-blocks of 16 with a scale of their
// own. Of each half, 128 columns, `ql` holds the lower four bits, two columns a byte, and `qh` the upper two, four a byte.
//
// Sums are whole numbers, and the few operations on floats are those of llama.cpp's product with a single token in the same
// order, so each token of a pass of several gets every bit that a pass of its own would give it
// (tests/packaging/test_few_tokens_q6_k.py).
#pragma once

#if defined(__AVX512F__) && defined(__AVX512BW__) && defined(__AVX512VL__) && defined(__AVX512VNNI__) && \
    defined(__FMA__) && defined(__F16C__)

#define GGML_COMMON_IMPL_CPP
#define GGML_COMMON_DECL_CPP
#include "ggml-common.h"
#include "ggml-impl.h"
#include "ggml-cpu-impl.h"
#include "llamafile/sgemm.h"

#include <immintrin.h>

#include <cassert>
#include <cstdint>
#include <cstring>
#include <vector>

#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC push_options
#pragma GCC optimize("no-schedule-insns")
#endif

namespace {  // of this file alone
namespace few_tokens {

constexpr int MOST_TURNS = 16;  // a thread's share of the rows is taken in so many turns: another program may hold it up

struct alignas(64) activations {  // of one token, 256 columns
    int8_t values[256];
    int16_t sums[16];  // of 16 columns each
    float scale;
};

struct superblock {  // of one row
    __m512i values[4];  // 64 columns each, 0 to 63
    __m512i scales[2];  // of two of these: in each 32 bits one's and the other's
    __m256i least;      // what is to be taken off for each sum of 16 columns, as the values should be -32 to 31
    __m256 scale;
};

inline superblock unpack(const block_q6_K * block) {
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
    const __m256i scales = _mm256_cvtepi8_epi16(_mm_loadu_si128((const __m128i *) block->scales));
    const __m512i first = _mm512_set_epi16(7, 3, 7, 3, 7, 3, 7, 3, 6, 2, 6, 2, 6, 2, 6, 2,
                                           5, 1, 5, 1, 5, 1, 5, 1, 4, 0, 4, 0, 4, 0, 4, 0);
    const __m512i second = _mm512_add_epi16(first, _mm512_set1_epi16(8));
    result.scales[0] = _mm512_permutexvar_epi16(first, _mm512_castsi256_si512(scales));
    result.scales[1] = _mm512_permutexvar_epi16(second, _mm512_castsi256_si512(scales));
    result.least = _mm256_mullo_epi16(scales, _mm256_set1_epi16(-32));
    result.scale = _mm256_cvtph_ps(_mm_set1_epi16((short) block->d));
    return result;
}

// The products of 256 columns, columns c to c + 3 of each 32 together: what llama.cpp adds up in the lane c / 4.
inline __m256i weigh(const superblock & row, const activations & token) {
    const __m512i both = _mm512_set_epi16(62, 30, 60, 28, 58, 26, 56, 24, 54, 22, 52, 20, 50, 18, 48, 16,
                                          46, 14, 44, 12, 42, 10, 40, 8, 38, 6, 36, 4, 34, 2, 32, 0);
    __m512i four[4];  // sums of four columns, at most 4 * 63 * 128, so that the lower 16 bits are all
#pragma GCC unroll 4
    for (int i = 0; i < 4; i++) {
        four[i] = _mm512_dpbusd_epi32(_mm512_setzero_si512(), row.values[i],
                                      _mm512_load_si512(token.values + 64 * i));
    }
    const __m256i sums = _mm256_load_si256((const __m256i *) token.sums);
    __m512i all = _mm512_zextsi256_si512(_mm256_madd_epi16(sums, row.least));
#pragma GCC unroll 2
    for (int i = 0; i < 2; i++) {
        const __m512i pairs = _mm512_permutex2var_epi16(four[2 * i], both, four[2 * i + 1]);
        all = _mm512_dpwssd_epi32(all, pairs, row.scales[i]);
    }
    return _mm256_add_epi32(_mm512_castsi512_si256(all), _mm512_extracti64x4_epi64(all, 1));
}

// As llama.cpp's product with a single token does it.
inline float added_up(__m256 lanes) {
    __m128 four = _mm_add_ps(_mm256_extractf128_ps(lanes, 1), _mm256_castps256_ps128(lanes));
    four = _mm_add_ps(four, _mm_movehl_ps(four, four));
    return _mm_cvtss_f32(_mm_add_ss(four, _mm_movehdup_ps(four)));
}

// ROWS rows, `row_step` superblocks apart, with TOKENS tokens, `nb` apart; their results are `out_step` apart.
template <int ROWS, int TOKENS>
inline void tile(int nb, float * out, int64_t out_step, const block_q6_K * rows, int64_t row_step,
                 const activations * tokens) {
    __m256 sums[ROWS][TOKENS];
    for (int r = 0; r < ROWS; r++) {
        for (int t = 0; t < TOKENS; t++) {
            sums[r][t] = _mm256_setzero_ps();
        }
    }
    for (int k = 0; k < nb; k++) {
        superblock unpacked[ROWS];
#pragma GCC unroll 2
        for (int r = 0; r < ROWS; r++) {
            unpacked[r] = unpack(rows + r * row_step + k);
        }
#pragma GCC unroll 8
        for (int t = 0; t < TOKENS; t++) {
            const activations & token = tokens[(int64_t) t * nb + k];
            const __m256 scale = _mm256_set1_ps(token.scale);
#pragma GCC unroll 2
            for (int r = 0; r < ROWS; r++) {
                const __m256 whole = _mm256_cvtepi32_ps(weigh(unpacked[r], token));
                sums[r][t] = _mm256_fmadd_ps(_mm256_mul_ps(scale, unpacked[r].scale), whole, sums[r][t]);
            }
        }
    }
    for (int r = 0; r < ROWS; r++) {
        for (int t = 0; t < TOKENS; t++) {
            out[t * out_step + r] = added_up(sums[r][t]);
        }
    }
}

template <int ROWS>
inline void some_tokens(int nb, float * out, int64_t out_step, const block_q6_K * rows, int64_t row_step,
                        const activations * tokens, int64_t count) {
    for (; count >= 8; count -= 8, tokens += (int64_t) 8 * nb, out += 8 * out_step) {
        tile<ROWS, 8>(nb, out, out_step, rows, row_step, tokens);
    }
    switch (count) {
        case 7: tile<ROWS, 7>(nb, out, out_step, rows, row_step, tokens); break;
        case 6: tile<ROWS, 6>(nb, out, out_step, rows, row_step, tokens); break;
        case 5: tile<ROWS, 5>(nb, out, out_step, rows, row_step, tokens); break;
        case 4: tile<ROWS, 4>(nb, out, out_step, rows, row_step, tokens); break;
        case 3: tile<ROWS, 3>(nb, out, out_step, rows, row_step, tokens); break;
        case 2: tile<ROWS, 2>(nb, out, out_step, rows, row_step, tokens); break;
        case 1: tile<ROWS, 1>(nb, out, out_step, rows, row_step, tokens); break;
    }
}

// Where this thread finds `count` tokens, `step` superblocks apart, aligned as the products want them.
inline const activations * aligned(const block_q8_K * tokens, int64_t step, int64_t count, int nb) {
    static thread_local std::vector<activations> room;
    if (room.size() < (size_t) count * nb) {
        room.resize((size_t) count * nb);
    }
    for (int64_t t = 0; t < count; t++) {
        for (int k = 0; k < nb; k++) {
            const block_q8_K & from = tokens[t * step + k];
            activations & to = room[(size_t) t * nb + k];
            memcpy(to.values, from.qs, sizeof(to.values));
            memcpy(to.sums, from.bsums, sizeof(to.sums));
            to.scale = from.d;
        }
    }
    return room.data();
}

}  // namespace few_tokens
}  // namespace

extern "C" bool llamafile_sgemm_stock(const struct ggml_compute_params * params, int64_t m, int64_t n, int64_t k,
                                      const void * A, int64_t lda, const void * B, int64_t ldb, void * C, int64_t ldc,
                                      int Atype, int Btype, int Ctype);

// C, n tokens of m results, `ldc` floats apart, from A, m rows of k superblocks, and B, n tokens, `lda` and `ldb` apart.
extern "C" bool llamafile_sgemm(const struct ggml_compute_params * params, int64_t m, int64_t n, int64_t k,
                                const void * A, int64_t lda, const void * B, int64_t ldb, void * C, int64_t ldc,
                                int Atype, int Btype, int Ctype) {
    if (Atype != GGML_TYPE_Q6_K || Btype != GGML_TYPE_Q8_K || Ctype != GGML_TYPE_F32) {
        return llamafile_sgemm_stock(params, m, n, k, A, lda, B, ldb, C, ldc, Atype, Btype, Ctype);
    }
    if (params->ith == 0) {  // each thread begins with the turn of its own number
        ggml_threadpool_chunk_set(params->threadpool, params->nth);
    }
    ggml_barrier(params->threadpool);
    const int nb = (int) k;
    const few_tokens::activations * tokens = few_tokens::aligned((const block_q8_K *) B, ldb, n, nb);
    const int64_t turns = (int64_t) params->nth * few_tokens::MOST_TURNS;
    const int64_t rows_a_turn = ((m + turns - 1) / turns + 1) / 2 * 2;
    for (int64_t turn = params->ith; turn * rows_a_turn < m; turn = ggml_threadpool_chunk_add(params->threadpool, 1)) {
        const int64_t first = turn * rows_a_turn, last = first + rows_a_turn < m ? first + rows_a_turn : m;
        const block_q6_K * rows = (const block_q6_K *) A;
        float * out = (float *) C;
        int64_t row = first;
        for (; row + 2 <= last; row += 2) {
            few_tokens::some_tokens<2>(nb, out + row, ldc, rows + row * lda, lda, tokens, n);
        }
        if (row < last) {
            few_tokens::some_tokens<1>(nb, out + row, ldc, rows + row * lda, lda, tokens, n);
        }
    }
    ggml_barrier(params->threadpool);  // the next product counts its turns anew
    return true;
}

// llama.cpp's own definition, which follows, gets this name.
#define llamafile_sgemm llamafile_sgemm_stock

#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC pop_options
#endif

#endif
