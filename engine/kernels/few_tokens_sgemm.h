// llama.cpp's products of IQ4_XS, Q4_1, Q5_K, Q6_K and Q8_0 weights with one and with a few tokens, anew for processors with
// AVX2 and more.
//
// Included before ggml/src/ggml-cpu/llamafile/sgemm.cpp by few_tokens.sh. Its function takes the place of
// llama.cpp's own, which stays in the library with _stock behind its name and gets all that is not for this one. Knows
// nothing of how weights are laid out: few_tokens_iq4_xs.h and the like do.
//
// A fifth of a Q4_K_M model is Q6_K, and a Q5_K_M model is both. llama.cpp unpacks the weights of superblocks once for each
// token of a pass of up to seven, and has tiles of 16 by 16 for more (few_tokens_tiled.h says which of them are left to it).
// Q4_1 it takes token by token, however many there are. Here they are unpacked once for up to eight tokens, into registers.
//
// Rows taken together lie apart, and what the processor fetches by itself comes late at the beginning of each. Where weights are
// more than the caches hold that made a single token slower than llama.cpp's, by up to half; so they are fetched here.
//
// Sums of a superblock are whole numbers, and the few operations on floats are those of llama.cpp's tiles for many tokens (for
// Q4_1 and Q8_0 of its product with a single one) in the same order, so each token of a pass of any size gets every bit that a
// pass of its own would give it (tests/engine/kernels/test_few_tokens_sgemm.py).
#pragma once

#include "vectors.h"

#if defined(FEW_TOKENS_512) || defined(FEW_TOKENS_256)

#define GGML_COMMON_IMPL_CPP
#define GGML_COMMON_DECL_CPP
#include "ggml-common.h"
#include "ggml-impl.h"
#include "ggml-cpu-impl.h"
#include "llamafile/sgemm.h"

#include <immintrin.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <vector>

#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC push_options
#pragma GCC optimize("no-schedule-insns")
#endif

#include "turns.h"

namespace {  // of this file alone
namespace few_tokens {

struct alignas(64) activations {  // of one token, 256 columns
    int8_t values[256];
    int16_t sums[16];  // of 16 columns each
    float scale;
};

struct alignas(32) eight {  // the same 256 columns of eight tokens, or of fewer and nothing
    __m256i sums[4];        // of 32 columns, 0 to 7: in each 32 bits, a token's, two that follow each other
    __m256 scales;
};

#ifdef FEW_TOKENS_512
inline __m512i no_sums() { return _mm512_setzero_si512(); }

// Adds to `all` the products of 256 columns, unsigned and below 64, with one token; `scales` are of two `values` each.
inline __m256i weigh_superblock(__m512i all, const __m512i * values, const __m512i * scales, const activations & token) {
    const __m512i both = _mm512_set_epi16(62, 30, 60, 28, 58, 26, 56, 24, 54, 22, 52, 20, 50, 18, 48, 16,
                                          46, 14, 44, 12, 42, 10, 40, 8, 38, 6, 36, 4, 34, 2, 32, 0);
    __m512i four[4];  // sums of four columns, at most 4 * 63 * 128, so that the lower 16 bits are all
#pragma GCC unroll 4
    for (int i = 0; i < 4; i++) {
        four[i] = _mm512_dpbusd_epi32(_mm512_setzero_si512(), values[i], _mm512_load_si512(token.values + 64 * i));
    }
#pragma GCC unroll 2
    for (int i = 0; i < 2; i++) {
        const __m512i pairs = _mm512_permutex2var_epi16(four[2 * i], both, four[2 * i + 1]);
        all = _mm512_dpwssd_epi32(all, pairs, scales[i]);
    }
    return _mm256_add_epi32(_mm512_castsi512_si256(all), _mm512_extracti64x4_epi64(all, 1));
}
#else
inline __m256i no_sums() { return _mm256_setzero_si256(); }

// Adds to `all` the products of 256 columns, unsigned and below 64, with one token; `scales` are of each pair of `values`.
inline __m256i weigh_superblock(__m256i all, const __m256i * values, const __m256i * scales, const activations & token) {
#pragma GCC unroll 8
    for (int i = 0; i < 8; i++) {
        const __m256i columns = _mm256_load_si256((const __m256i *) (token.values + 32 * i));
        all = add_twos(all, _mm256_maddubs_epi16(values[i], columns), scales[i]);
    }
    return all;
}

// Of eight numbers of 16 bits, in both halves of `eight`, those at `one` and at `other` eight times each.
inline __m256i two_of(__m256i eight, int one, int other) {
    const __m128i low = _mm_set1_epi16((short) (2 * one | (2 * one + 1) << 8));
    const __m128i high = _mm_set1_epi16((short) (2 * other | (2 * other + 1) << 8));
    return _mm256_shuffle_epi8(eight, _mm256_set_m128i(high, low));
}
#endif

// As llama.cpp's product with a single token does it.
inline float added_up(__m256 lanes) {
    __m128 four = _mm_add_ps(_mm256_extractf128_ps(lanes, 1), _mm256_castps256_ps128(lanes));
    four = _mm_add_ps(four, _mm_movehl_ps(four, four));
    return _mm_cvtss_f32(_mm_add_ss(four, _mm_movehdup_ps(four)));
}

// Of each of COUNT vectors of eight whole numbers, their sum, one behind the other; up to four, up to eight.
template <int COUNT>
inline __m256i totals(const __m256i * eights) {
    if constexpr (COUNT == 1) {
        __m128i four = _mm_add_epi32(_mm256_castsi256_si128(eights[0]), _mm256_extracti128_si256(eights[0], 1));
        four = _mm_add_epi32(four, _mm_shuffle_epi32(four, 0x4E));
        return _mm256_castsi128_si256(_mm_add_epi32(four, _mm_shuffle_epi32(four, 0xB1)));
    }
    __m256i fours[4];  // of vectors i and i + 4
#pragma GCC unroll 4
    for (int i = 0; i < 4; i++) {
        const __m256i first = i < COUNT ? eights[i] : _mm256_setzero_si256();
        const __m256i second = i + 4 < COUNT ? eights[i + 4] : _mm256_setzero_si256();
        fours[i] = _mm256_add_epi32(_mm256_permute2x128_si256(first, second, 0x20),
                                    _mm256_permute2x128_si256(first, second, 0x31));
    }
    const __m256i twos = _mm256_add_epi32(_mm256_unpacklo_epi32(fours[0], fours[1]), _mm256_unpackhi_epi32(fours[0], fours[1]));
    const __m256i others = _mm256_add_epi32(_mm256_unpacklo_epi32(fours[2], fours[3]), _mm256_unpackhi_epi32(fours[2], fours[3]));
    return _mm256_add_epi32(_mm256_unpacklo_epi64(twos, others), _mm256_unpackhi_epi64(twos, others));
}

}  // namespace few_tokens
}  // namespace

#include "few_tokens_iq4_xs.h"
#include "few_tokens_q4_1.h"
#include "few_tokens_q5_k.h"
#include "few_tokens_q6_k.h"
#include "few_tokens_q8_0.h"

namespace {
namespace few_tokens {

struct prepared {  // `nb` superblocks of each of some tokens, aligned as the products want them
    const activations * tokens;
    const eight * eights;
};

// ROWS rows, `row_step` superblocks apart, with TOKENS tokens, `nb` apart; their results are `out_step` apart.
template <class W, int ROWS, int TOKENS>
inline void tile(int nb, float * out, int64_t out_step, const typename W::block * rows, int64_t row_step,
                 const upcoming<typename W::block> & next, const prepared & all) {
    __m256 sums[ROWS];  // of each token
    for (int r = 0; r < ROWS; r++) {
        sums[r] = _mm256_setzero_ps();
    }
    for (int k = 0; k < nb; k++) {
        const eight & together = all.eights[k];
#pragma GCC unroll 2
        for (int r = 0; r < ROWS; r++) {
            next.fetch(rows + r * row_step, k);
            const typename W::superblock unpacked = W::unpack(rows + r * row_step + k);
            __m256i whole[TOKENS];
#pragma GCC unroll 8
            for (int t = 0; t < TOKENS; t++) {
                whole[t] = W::weigh(unpacked, all.tokens[(int64_t) t * nb + k]);
            }
            __m256 product = _mm256_mul_ps(_mm256_cvtepi32_ps(totals<TOKENS>(whole)), unpacked.scale);
            if constexpr (W::HAS_LEAST) {
                const __m256 off = _mm256_cvtepi32_ps(W::least_of(unpacked, together));
                product = _mm256_fnmadd_ps(_mm256_set1_ps(unpacked.least_scale), off, product);
            }
            sums[r] = _mm256_fmadd_ps(product, together.scales, sums[r]);
        }
    }
    for (int r = 0; r < ROWS; r++) {
        alignas(32) float found[8];
        _mm256_store_ps(found, sums[r]);
        for (int t = 0; t < TOKENS; t++) {
            out[t * out_step + r] = found[t];
        }
    }
}

template <class W, int ROWS>
inline void some_tokens(int nb, float * out, int64_t out_step, const typename W::block * rows, int64_t row_step,
                        const upcoming<typename W::block> & next, prepared all, int64_t count) {
    for (; count >= 8; count -= 8, out += 8 * out_step) {
        tile<W, ROWS, 8>(nb, out, out_step, rows, row_step, next, all);
        all.tokens += (int64_t) 8 * nb;
        all.eights += nb;
    }
    switch (count) {
        case 7: tile<W, ROWS, 7>(nb, out, out_step, rows, row_step, next, all); break;
        case 6: tile<W, ROWS, 6>(nb, out, out_step, rows, row_step, next, all); break;
        case 5: tile<W, ROWS, 5>(nb, out, out_step, rows, row_step, next, all); break;
        case 4: tile<W, ROWS, 4>(nb, out, out_step, rows, row_step, next, all); break;
        case 3: tile<W, ROWS, 3>(nb, out, out_step, rows, row_step, next, all); break;
        case 2: tile<W, ROWS, 2>(nb, out, out_step, rows, row_step, next, all); break;
        case 1: tile<W, ROWS, 1>(nb, out, out_step, rows, row_step, next, all); break;
    }
}

// Where this thread finds `count` tokens, the superblocks of which begin at `token(t)`.
template <class T>
inline const activations * aligned(const T & token, int64_t count, int nb) {
    static thread_local std::vector<activations> room;
    if (room.size() < (size_t) count * nb) {
        room.resize((size_t) count * nb);
    }
    for (int64_t t = 0; t < count; t++) {
        for (int k = 0; k < nb; k++) {
            const block_q8_K & from = token(t)[k];
            activations & to = room[(size_t) t * nb + k];
            memcpy(to.values, from.qs, sizeof(to.values));
            memcpy(to.sums, from.bsums, sizeof(to.sums));
            to.scale = from.d;
        }
    }
    return room.data();
}

// The same tokens by eights.
inline const eight * in_eights(const activations * tokens, int64_t count, int nb) {
    static thread_local std::vector<eight> room;
    const int64_t num_eights = (count + 7) / 8;
    if (room.size() < (size_t) num_eights * nb) {
        room.resize((size_t) num_eights * nb);
    }
    for (int64_t e = 0; e < num_eights; e++) {
        for (int k = 0; k < nb; k++) {
            alignas(32) int16_t sums[4][8][2] = {};
            alignas(32) float scales[8] = {};
            for (int64_t t = 0; t < 8 && 8 * e + t < count; t++) {
                const activations & token = tokens[(8 * e + t) * nb + k];
                for (int i = 0; i < 8; i++) {
                    sums[i / 2][t][i % 2] = (int16_t) (token.sums[2 * i] + token.sums[2 * i + 1]);
                }
                scales[t] = token.scale;
            }
            eight & to = room[(size_t) e * nb + k];
            memcpy(to.sums, sums, sizeof(sums));
            to.scales = _mm256_load_ps(scales);
        }
    }
    return room.data();
}

template <class W>
struct of_superblocks {  // how W's products are made
    using block = typename W::block;
    using tokens = block_q8_K;
#ifdef FEW_TOKENS_512
    static constexpr int ROWS = 2;   // at once
#else
    static constexpr int ROWS = 1;
#endif
    static constexpr int ALONE = 2;  // up to so many tokens, rows are taken one by one: memory gives that sooner
    static constexpr int LARGE = 0;

    static inline prepared prepare(const block_q8_K * from, int64_t step, int64_t count, int nb) {
        return prepare([=](int64_t t) { return from + t * step; }, count, nb);
    }

    template <class T>
    static inline prepared prepare(const T & token, int64_t count, int nb) {
        const activations * all = aligned(token, count, nb);
        return {all, in_eights(all, count, nb)};
    }

    template <int ROWS>
    static inline void some_tokens(int nb, float * out, int64_t out_step, const block * rows, int64_t row_step,
                                   const upcoming<block> & next, const prepared & all, int64_t count) {
        few_tokens::some_tokens<W, ROWS>(nb, out, out_step, rows, row_step, next, all, count);
    }
};

// What an expert gives with the few tokens that chose it: rows `first` to `last` of `weights`, `row_step` blocks apart.
template <class W>
inline void of_expert(int64_t first, int64_t last, int nb, const void * weights, int64_t row_step,
                      const block_q8_K * const * tokens, int64_t count, float * const * out) {
    using P = of_superblocks<W>;
    static thread_local std::vector<float> found;
    const int64_t rows = last - first;
    found.resize(std::max(found.size(), (size_t) (count * rows)));
    const typename P::block * own = (const typename P::block *) weights + first * row_step;
    const upcoming<typename P::block> next(rows, count, nb, row_step, count > P::ALONE ? P::ROWS : 1);
    const prepared all = P::prepare([=](int64_t t) { return tokens[t]; }, count, nb);
    some_rows<P>(0, rows, nb, found.data(), rows, own, row_step, next, all, count);
    for (int64_t t = 0; t < count; t++) {
        memcpy(out[t] + first, found.data() + t * rows, rows * sizeof(float));
    }
}

}  // namespace few_tokens
}  // namespace

// few_tokens_tiled.h asks this. `rows` of `nb` superblocks, `row_step` apart, are shared by the threads; out[token][row]. False for
// types that have no product here.
extern "C" bool few_tokens_of_expert(const struct ggml_compute_params * params, int type, int64_t rows, int64_t nb,
                                     const void * weights, int64_t row_step, const block_q8_K * const * tokens, int64_t count,
                                     float * const * out) {
    using namespace few_tokens;
    const auto product = type == GGML_TYPE_IQ4_XS ? of_expert<iq4_xs> : type == GGML_TYPE_Q5_K ? of_expert<q5_K>
                         : type == GGML_TYPE_Q6_K ? of_expert<q6_K> : nullptr;
    const int64_t pairs = (rows + 1) / 2;
    const int64_t first = 2 * (pairs * params->ith / params->nth), last = std::min(2 * (pairs * (params->ith + 1) / params->nth), rows);
    if (product != nullptr && first < last) {
        product(first, last, (int) nb, weights, row_step, tokens, count, out);
    }
    return product != nullptr;
}

extern "C" bool llamafile_sgemm_stock(const struct ggml_compute_params * params, int64_t m, int64_t n, int64_t k,
                                      const void * A, int64_t lda, const void * B, int64_t ldb, void * C, int64_t ldc,
                                      int Atype, int Btype, int Ctype);

extern "C" bool llamafile_sgemm(const struct ggml_compute_params * params, int64_t m, int64_t n, int64_t k,
                                const void * A, int64_t lda, const void * B, int64_t ldb, void * C, int64_t ldc,
                                int Atype, int Btype, int Ctype) {
    using namespace few_tokens;
    void (*product)(const struct ggml_compute_params *, int64_t, int64_t, int64_t, const void *, int64_t, const void *,
                    int64_t, void *, int64_t) = nullptr;
    if (Btype == GGML_TYPE_Q8_K && Ctype == GGML_TYPE_F32) {
        product = Atype == GGML_TYPE_IQ4_XS ? multiply<of_superblocks<iq4_xs>>
                  : Atype == GGML_TYPE_Q5_K ? multiply<of_superblocks<q5_K>>
                  : Atype == GGML_TYPE_Q6_K ? multiply<of_superblocks<q6_K>>
                                            : nullptr;
    } else if (Btype == GGML_TYPE_Q8_0 && Ctype == GGML_TYPE_F32 && Atype == GGML_TYPE_Q8_0) {
        product = multiply<q8_0>;
    } else if (Btype == GGML_TYPE_Q8_1 && Ctype == GGML_TYPE_F32 && Atype == GGML_TYPE_Q4_1) {
        product = multiply<q4_1>;
    }
    if (product != nullptr) {
        product(params, m, n, k, A, lda, B, ldb, C, ldc);
        return true;
    }
    // llama.cpp's product for several tokens of these rounds otherwise than the one for a single token, which it does not take:
    // a single one is given to it twice, for the same place.
    const bool is_twice = n == 1 && (Atype == GGML_TYPE_F32 || Atype == GGML_TYPE_F16 || Atype == GGML_TYPE_BF16 ||
                                     Atype == GGML_TYPE_IQ4_NL);
    return llamafile_sgemm_stock(params, m, is_twice ? 2 : n, k, A, lda, B, is_twice ? 0 : ldb, C, is_twice ? 0 : ldc, Atype,
                                 Btype, Ctype);
}

// llama.cpp's own definition, which follows, gets this name.
#define llamafile_sgemm llamafile_sgemm_stock

#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC pop_options
#endif

#endif
