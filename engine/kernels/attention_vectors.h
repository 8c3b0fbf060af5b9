// The vectors that attention.h is made of, in AVX-512, AVX2 and NEON.
//
// `lanes` holds WIDTH floats. What is computed lane by lane gives the same bits in any lane. `dots` adds eight partial sums
// of a product in one order, ((0+4)+(2+6)) + ((1+5)+(3+7)), however many queries are taken at once.
#pragma once

#include "ggml.h"
#include "vec.h"

#if defined(__AVX512F__) && defined(__AVX512BW__) && defined(__AVX512VL__) && defined(__AVX512DQ__) && defined(__FMA__) && \
    defined(__F16C__)
#define ATTENTION_512
#elif defined(__AVX2__) && defined(__FMA__) && defined(__F16C__)
#define ATTENTION_256
#elif defined(__aarch64__) && !defined(__ARM_FEATURE_SVE)
#define ATTENTION_NEON
#endif

#if defined(ATTENTION_512) || defined(ATTENTION_256)
#include <immintrin.h>
#elif defined(ATTENTION_NEON)
#include <arm_neon.h>
#endif

#include <cstdint>
#include <cstring>

#if defined(ATTENTION_512) || defined(ATTENTION_256) || defined(ATTENTION_NEON)

namespace {  // of this file alone
namespace attention {

constexpr int GROUP = 8;  // cells whose scores are computed together

struct wide_keys {  // of GROUP cells in f32, by eights of a head's dimensions: 8 cells of the first eight, and so on
    const float * first;
};

struct f16_keys {  // of GROUP cells, as the cache has them
    const ggml_fp16_t * rows[GROUP];
};

#if defined(ATTENTION_512)

using lanes = __m512;
constexpr int WIDTH = 16;
constexpr int QUERIES = 6;  // at once: 24 sums in 32 registers
constexpr int STRIPS = 4;   // of WIDTH values of a head at once

inline lanes all(float x) { return _mm512_set1_ps(x); }
inline lanes load(const float * x) { return _mm512_loadu_ps(x); }
inline void store(float * x, lanes a) { _mm512_storeu_ps(x, a); }
inline lanes add(lanes a, lanes b) { return _mm512_add_ps(a, b); }
inline lanes times(lanes a, lanes b) { return _mm512_mul_ps(a, b); }
inline lanes over(lanes a, lanes b) { return _mm512_div_ps(a, b); }
inline lanes fma(lanes a, lanes b, lanes c) { return _mm512_fmadd_ps(a, b, c); }
inline lanes greater(lanes a, lanes b) { return _mm512_max_ps(a, b); }
inline float greatest(lanes a) { return _mm512_reduce_max_ps(a); }
inline lanes halves(const ggml_fp16_t * x) { return _mm512_cvtph_ps(_mm256_loadu_si256((const __m256i *) x)); }

// Where `test` is above `bound` (false for NaN) `a`, elsewhere `b`.
inline lanes where_above(lanes test, float bound, lanes a, lanes b) {
    return _mm512_mask_blend_ps(_mm512_cmp_ps_mask(test, all(bound), _CMP_GT_OQ), b, a);
}
inline lanes zero_where(lanes test, float equal, lanes a) {
    return _mm512_mask_blend_ps(_mm512_cmp_ps_mask(test, all(equal), _CMP_EQ_OQ), a, _mm512_setzero_ps());
}
inline lanes made_odd(lanes a) {
    return _mm512_castsi512_ps(_mm512_or_si512(_mm512_castps_si512(a), _mm512_set1_epi32(1)));
}

struct whole_sums {  // of numbers up to 2^30
    __m512i sums = _mm512_setzero_si512();
    inline void count(lanes a) {
        const __m512i whole = _mm512_cvtps_epi32(a);
        sums = _mm512_add_epi64(sums, _mm512_and_si512(whole, _mm512_set1_epi64(0xffffffff)));
        sums = _mm512_add_epi64(sums, _mm512_srli_epi64(whole, 32));
    }
    inline int64_t total() const { return _mm512_reduce_add_epi64(sums); }
};

inline void widen_16(float * to, int64_t step, const ggml_fp16_t * x) {
    const lanes wide = halves(x);
    _mm256_storeu_ps(to, _mm512_castps512_ps256(wide));
    _mm256_storeu_ps(to + step, _mm512_extractf32x8_ps(wide, 1));
}
inline void widen_8(float * to, const int8_t * x, float scale) {
    const __m256 whole = _mm256_cvtepi32_ps(_mm256_cvtepi8_epi32(_mm_loadl_epi64((const __m128i *) x)));
    _mm256_storeu_ps(to, _mm256_mul_ps(whole, _mm256_set1_ps(scale)));
}

// Eight dimensions of two cells that follow each other, from `cell` on; what two cells have in f32 stands side by side.
inline lanes two_cells(const wide_keys & keys, int64_t eighth, int cell) { return load(keys.first + 64 * eighth + 8 * cell); }
inline lanes two_cells(const f16_keys & keys, int64_t eighth, int cell) {
    const __m128i one = _mm_loadu_si128((const __m128i *) (keys.rows[cell] + 8 * eighth));
    const __m128i other = _mm_loadu_si128((const __m128i *) (keys.rows[cell + 1] + 8 * eighth));
    return _mm512_cvtph_ps(_mm256_inserti128_si256(_mm256_castsi128_si256(one), other, 1));
}

// The products of eight cells' keys with COUNT queries.
template <int COUNT, class KEYS>
inline void dots(const KEYS & keys, int64_t eighths, const float * const * queries, float * const * out) {
    __m512 sums[COUNT][4];
#pragma GCC unroll 6
    for (int q = 0; q < COUNT; q++) {
        sums[q][0] = sums[q][1] = sums[q][2] = sums[q][3] = _mm512_setzero_ps();
    }
    for (int64_t i = 0; i < eighths; i++) {
        const lanes k0 = two_cells(keys, i, 0), k1 = two_cells(keys, i, 2), k2 = two_cells(keys, i, 4), k3 = two_cells(keys, i, 6);
#pragma GCC unroll 6
        for (int q = 0; q < COUNT; q++) {
            const __m256d eight = _mm256_loadu_pd((const double *) (queries[q] + 8 * i));
            const __m512 both = _mm512_castpd_ps(_mm512_broadcast_f64x4(eight));
            sums[q][0] = fma(both, k0, sums[q][0]);
            sums[q][1] = fma(both, k1, sums[q][1]);
            sums[q][2] = fma(both, k2, sums[q][2]);
            sums[q][3] = fma(both, k3, sums[q][3]);
        }
    }
    const __m512i order = _mm512_setr_epi32(0, 4, 8, 12, 1, 5, 9, 13, 0, 0, 0, 0, 0, 0, 0, 0);
#pragma GCC unroll 6
    for (int q = 0; q < COUNT; q++) {
        const __m512 * s = sums[q];
        const __m512 first = add(_mm512_shuffle_f32x4(s[0], s[1], 0x88), _mm512_shuffle_f32x4(s[0], s[1], 0xdd));
        const __m512 last = add(_mm512_shuffle_f32x4(s[2], s[3], 0x88), _mm512_shuffle_f32x4(s[2], s[3], 0xdd));
        const __m512 two = add(_mm512_unpacklo_ps(first, last), _mm512_unpackhi_ps(first, last));
        const __m512 one = add(two, _mm512_permute_ps(two, 0x4e));
        _mm256_storeu_ps(out[q], _mm512_castps512_ps256(_mm512_permutexvar_ps(order, one)));
    }
}

#elif defined(ATTENTION_256)

using lanes = __m256;
constexpr int WIDTH = 8;
constexpr int QUERIES = 3;
constexpr int STRIPS = 4;

inline lanes all(float x) { return _mm256_set1_ps(x); }
inline lanes load(const float * x) { return _mm256_loadu_ps(x); }
inline void store(float * x, lanes a) { _mm256_storeu_ps(x, a); }
inline lanes add(lanes a, lanes b) { return _mm256_add_ps(a, b); }
inline lanes times(lanes a, lanes b) { return _mm256_mul_ps(a, b); }
inline lanes over(lanes a, lanes b) { return _mm256_div_ps(a, b); }
inline lanes fma(lanes a, lanes b, lanes c) { return _mm256_fmadd_ps(a, b, c); }
inline lanes greater(lanes a, lanes b) { return _mm256_max_ps(a, b); }
inline float greatest(lanes a) {
    __m128 four = _mm_max_ps(_mm256_castps256_ps128(a), _mm256_extractf128_ps(a, 1));
    four = _mm_max_ps(four, _mm_movehl_ps(four, four));
    return _mm_cvtss_f32(_mm_max_ss(four, _mm_movehdup_ps(four)));
}
inline lanes halves(const ggml_fp16_t * x) { return _mm256_cvtph_ps(_mm_loadu_si128((const __m128i *) x)); }
inline lanes where_above(lanes test, float bound, lanes a, lanes b) {
    return _mm256_blendv_ps(b, a, _mm256_cmp_ps(test, all(bound), _CMP_GT_OQ));
}
inline lanes zero_where(lanes test, float equal, lanes a) {
    return _mm256_andnot_ps(_mm256_cmp_ps(test, all(equal), _CMP_EQ_OQ), a);
}
inline lanes made_odd(lanes a) {
    return _mm256_or_ps(a, _mm256_castsi256_ps(_mm256_set1_epi32(1)));
}

struct whole_sums {
    __m256i sums = _mm256_setzero_si256();
    inline void count(lanes a) {
        const __m256i whole = _mm256_cvtps_epi32(a);
        sums = _mm256_add_epi64(sums, _mm256_and_si256(whole, _mm256_set1_epi64x(0xffffffff)));
        sums = _mm256_add_epi64(sums, _mm256_srli_epi64(whole, 32));
    }
    inline int64_t total() const {
        int64_t four[4];
        _mm256_storeu_si256((__m256i *) four, sums);
        return four[0] + four[1] + four[2] + four[3];
    }
};

inline void widen_16(float * to, int64_t step, const ggml_fp16_t * x) {
    store(to, halves(x));
    store(to + step, halves(x + 8));
}
inline void widen_8(float * to, const int8_t * x, float scale) {
    const __m256 whole = _mm256_cvtepi32_ps(_mm256_cvtepi8_epi32(_mm_loadl_epi64((const __m128i *) x)));
    store(to, times(whole, all(scale)));
}

inline lanes one_cell(const wide_keys & keys, int64_t eighth, int cell) { return load(keys.first + 64 * eighth + 8 * cell); }
inline lanes one_cell(const f16_keys & keys, int64_t eighth, int cell) { return halves(keys.rows[cell] + 8 * eighth); }

template <int COUNT, class KEYS>
inline void dots(const KEYS & keys, int64_t eighths, const float * const * queries, float * const * out) {
    for (int half = 0; half < 2; half++) {
        __m256 sums[COUNT][4];
#pragma GCC unroll 3
        for (int q = 0; q < COUNT; q++) {
            sums[q][0] = sums[q][1] = sums[q][2] = sums[q][3] = _mm256_setzero_ps();
        }
        for (int64_t i = 0; i < eighths; i++) {
            lanes query[COUNT];
#pragma GCC unroll 3
            for (int q = 0; q < COUNT; q++) {
                query[q] = load(queries[q] + 8 * i);
            }
#pragma GCC unroll 4
            for (int cell = 0; cell < 4; cell++) {
                const lanes key = one_cell(keys, i, 4 * half + cell);
#pragma GCC unroll 3
                for (int q = 0; q < COUNT; q++) {
                    sums[q][cell] = fma(query[q], key, sums[q][cell]);
                }
            }
        }
#pragma GCC unroll 3
        for (int q = 0; q < COUNT; q++) {
            const __m256 * s = sums[q];
            const __m256 first = add(_mm256_permute2f128_ps(s[0], s[1], 0x20), _mm256_permute2f128_ps(s[0], s[1], 0x31));
            const __m256 last = add(_mm256_permute2f128_ps(s[2], s[3], 0x20), _mm256_permute2f128_ps(s[2], s[3], 0x31));
            const __m256 two = add(_mm256_unpacklo_ps(first, last), _mm256_unpackhi_ps(first, last));
            const __m256 one = add(two, _mm256_permute_ps(two, 0x4e));
            _mm_storeu_ps(out[q] + 4 * half, _mm_unpacklo_ps(_mm256_castps256_ps128(one), _mm256_extractf128_ps(one, 1)));
        }
    }
}

#else

using lanes = float32x4_t;
constexpr int WIDTH = 4;
constexpr int QUERIES = 4;
constexpr int STRIPS = 4;

inline lanes all(float x) { return vdupq_n_f32(x); }
inline lanes load(const float * x) { return vld1q_f32(x); }
inline void store(float * x, lanes a) { vst1q_f32(x, a); }
inline lanes add(lanes a, lanes b) { return vaddq_f32(a, b); }
inline lanes times(lanes a, lanes b) { return vmulq_f32(a, b); }
inline lanes over(lanes a, lanes b) { return vdivq_f32(a, b); }
inline lanes fma(lanes a, lanes b, lanes c) { return vfmaq_f32(c, a, b); }
inline lanes greater(lanes a, lanes b) { return vmaxq_f32(a, b); }
inline float greatest(lanes a) { return vmaxvq_f32(a); }
inline lanes halves(const ggml_fp16_t * x) { return vcvt_f32_f16(vld1_f16((const __fp16 *) x)); }
inline lanes where_above(lanes test, float bound, lanes a, lanes b) {
    return vbslq_f32(vcgtq_f32(test, all(bound)), a, b);
}
inline lanes zero_where(lanes test, float equal, lanes a) {
    return vbslq_f32(vceqq_f32(test, all(equal)), all(0.0f), a);
}
inline lanes made_odd(lanes a) {
    return vreinterpretq_f32_u32(vorrq_u32(vreinterpretq_u32_f32(a), vdupq_n_u32(1)));
}

struct whole_sums {
    int64x2_t sums = vdupq_n_s64(0);
    inline void count(lanes a) { sums = vpadalq_s32(sums, vcvtnq_s32_f32(a)); }
    inline int64_t total() const { return vaddvq_s64(sums); }
};

inline void widen_16(float * to, int64_t step, const ggml_fp16_t * x) {
    store(to, halves(x));
    store(to + 4, halves(x + 4));
    store(to + step, halves(x + 8));
    store(to + step + 4, halves(x + 12));
}
inline void widen_8(float * to, const int8_t * x, float scale) {
    const int16x8_t eight = vmovl_s8(vld1_s8(x));
    store(to, times(vcvtq_f32_s32(vmovl_s16(vget_low_s16(eight))), all(scale)));
    store(to + 4, times(vcvtq_f32_s32(vmovl_s16(vget_high_s16(eight))), all(scale)));
}

inline lanes half_cell(const wide_keys & keys, int64_t eighth, int cell, int half) {
    return load(keys.first + 64 * eighth + 8 * cell + 4 * half);
}
inline lanes half_cell(const f16_keys & keys, int64_t eighth, int cell, int half) {
    return halves(keys.rows[cell] + 8 * eighth + 4 * half);
}

template <int COUNT, class KEYS>
inline void dots(const KEYS & keys, int64_t eighths, const float * const * queries, float * const * out) {
    for (int pair = 0; pair < 4; pair++) {  // two cells at a time
        lanes sums[COUNT][2][2];
#pragma GCC unroll 4
        for (int q = 0; q < COUNT; q++) {
            sums[q][0][0] = sums[q][0][1] = sums[q][1][0] = sums[q][1][1] = all(0.0f);
        }
        for (int64_t i = 0; i < eighths; i++) {
            const lanes k0 = half_cell(keys, i, 2 * pair, 0), k1 = half_cell(keys, i, 2 * pair, 1);
            const lanes k2 = half_cell(keys, i, 2 * pair + 1, 0), k3 = half_cell(keys, i, 2 * pair + 1, 1);
#pragma GCC unroll 4
            for (int q = 0; q < COUNT; q++) {
                const lanes q0 = load(queries[q] + 8 * i), q1 = load(queries[q] + 8 * i + 4);
                sums[q][0][0] = fma(q0, k0, sums[q][0][0]);
                sums[q][0][1] = fma(q1, k1, sums[q][0][1]);
                sums[q][1][0] = fma(q0, k2, sums[q][1][0]);
                sums[q][1][1] = fma(q1, k3, sums[q][1][1]);
            }
        }
#pragma GCC unroll 4
        for (int q = 0; q < COUNT; q++) {
            for (int cell = 0; cell < 2; cell++) {
                const lanes four = add(sums[q][cell][0], sums[q][cell][1]);
                const float32x2_t two = vadd_f32(vget_low_f32(four), vget_high_f32(four));
                out[q][2 * pair + cell] = vget_lane_f32(two, 0) + vget_lane_f32(two, 1);
            }
        }
    }
}

#endif

inline lanes widened(const float * x) { return load(x); }
inline lanes widened(const ggml_fp16_t * x) { return halves(x); }

// Adds to the STRIPED * WIDTH sums of COUNT queries, `sums_step` apart, the values of `cells` cells, `step` apart, as often as
// the weights of each query say, `weights_step` apart.
template <int COUNT, int STRIPED, class T>
inline void add_values(const T * values, int64_t step, int cells, const float * weights, int64_t weights_step, float * sums,
                       int64_t sums_step) {
    lanes all_sums[COUNT][STRIPED];
#pragma GCC unroll 6
    for (int q = 0; q < COUNT; q++) {
#pragma GCC unroll 4
        for (int i = 0; i < STRIPED; i++) {
            all_sums[q][i] = load(sums + q * sums_step + WIDTH * i);
        }
    }
    for (int cell = 0; cell < cells; cell++, values += step) {
        lanes strip[STRIPED];
#pragma GCC unroll 4
        for (int i = 0; i < STRIPED; i++) {
            strip[i] = widened(values + WIDTH * i);
        }
#pragma GCC unroll 6
        for (int q = 0; q < COUNT; q++) {
            const lanes weight = all(weights[q * weights_step + cell]);
#pragma GCC unroll 4
            for (int i = 0; i < STRIPED; i++) {
                all_sums[q][i] = fma(weight, strip[i], all_sums[q][i]);
            }
        }
    }
#pragma GCC unroll 6
    for (int q = 0; q < COUNT; q++) {
#pragma GCC unroll 4
        for (int i = 0; i < STRIPED; i++) {
            store(sums + q * sums_step + WIDTH * i, all_sums[q][i]);
        }
    }
}

}  // namespace attention
}  // namespace

#endif
