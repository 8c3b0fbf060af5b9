// llama.cpp's product of Q4_K weights with four and more tokens, anew for ARM processors with dot products and without i8mm
// (Raspberry Pi 5, Graviton 2, Apple M1).
//
// Included before ggml/src/ggml-cpu/arch/arm/repack.cpp by few_tokens.sh. Weights lie as llama.cpp repacks them
// (ggml-cpu/repack.cpp): eight rows together in superblocks of 256 columns, which are four parts of two sub-blocks of 32; 16
// bytes hold four columns of four rows, those of the first sub-block in their low halves. Four tokens lie together likewise,
// in pieces of four bytes.
//
// llama.cpp holds sums of eight rows, two sub-blocks and four tokens at once, more than there are registers, and unpacks for
// four tokens at a time. Here four rows are taken with up to eight tokens. Operations on floats are those of llama.cpp's
// product with a single token in the same order: each token gets every bit that it has alone.
#pragma once

#if defined(__aarch64__) && defined(__ARM_NEON) && defined(__ARM_FEATURE_DOTPROD)

#define GGML_COMMON_IMPL_CPP
#define GGML_COMMON_DECL_CPP
#include "ggml-common.h"
#include "ggml-impl.h"
#include "ggml-cpu-impl.h"
#include "repack.h"

#include <arm_neon.h>

#include <cassert>
#include <cstdint>

// Else GCC moves loads so far ahead that it runs out of registers.
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC push_options
#pragma GCC optimize("no-schedule-insns")
#endif

namespace {  // of this file alone
namespace few_tokens {

constexpr int AT_ONCE = 64;  // tokens whose activations stay in the caches while the weights go by

struct scales_of_rows {  // of a superblock: of rows 0 to 3 and 4 to 7, eight sub-blocks
    int16_t scales[2][8][4], least[2][8][4];
};

inline void store(int16_t (*to)[4], uint32x4_t four) {  // four sub-blocks, a byte for each of four rows
    const uint8x16_t bytes = vreinterpretq_u8_u32(four);
    vst1q_s16(to[0], vreinterpretq_s16_u16(vmovl_u8(vget_low_u8(bytes))));
    vst1q_s16(to[2], vreinterpretq_s16_u16(vmovl_high_u8(bytes)));
}

inline void unpack(const block_q4_Kx8 * rows, scales_of_rows & to) {
    const uint32x4_t six = vdupq_n_u32(0x3F3F3F3FU), low = vdupq_n_u32(0x0F0F0F0FU), top = vdupq_n_u32(0x30303030U);
    for (int i = 0; i < 8; i += 4) {
        // Of four sub-blocks: scales, what is to be taken off, the rest of rows 4 to 7.
        const uint32x4x3_t words = vld3q_u32((const uint32_t *) (rows->scales + 12 * i));
        store(to.scales[0] + i, vandq_u32(words.val[0], six));
        store(to.least[0] + i, vandq_u32(words.val[1], six));
        const uint32x4_t rest[2] = {vandq_u32(words.val[2], low), vandq_u32(vshrq_n_u32(words.val[2], 4), low)};
        store(to.scales[1] + i, vorrq_u32(rest[0], vandq_u32(vshrq_n_u32(words.val[0], 2), top)));
        store(to.least[1] + i, vorrq_u32(rest[1], vandq_u32(vshrq_n_u32(words.val[1], 2), top)));
    }
}

// Adds to `off` what four tokens' sums of activations take off four rows.
inline void add_least(int32x4_t * off, const block_q8_Kx4 * tokens, const int16_t (*least)[4]) {
#pragma GCC unroll 4
    for (int p = 0; p < 4; p++) {
        const int16_t * place = tokens->bsums + 16 * p;
        const int16x8_t sums = vpaddq_s16(vld1q_s16(place), vld1q_s16(place + 8));  // of each token two sub-blocks
        const int16x4_t first = vld1_s16(least[2 * p]), second = vld1_s16(least[2 * p + 1]);
        off[0] = vmlal_laneq_s16(vmlal_laneq_s16(off[0], first, sums, 0), second, sums, 1);
        off[1] = vmlal_laneq_s16(vmlal_laneq_s16(off[1], first, sums, 2), second, sums, 3);
        off[2] = vmlal_laneq_s16(vmlal_laneq_s16(off[2], first, sums, 4), second, sums, 5);
        off[3] = vmlal_laneq_s16(vmlal_laneq_s16(off[3], first, sums, 6), second, sums, 7);
    }
}

// Adds the products of four columns of four rows with four tokens.
inline void add_products(int32x4_t * sums, int8x16_t weights, int8x16_t four) {
    sums[0] = vdotq_laneq_s32(sums[0], weights, four, 0);
    sums[1] = vdotq_laneq_s32(sums[1], weights, four, 1);
    sums[2] = vdotq_laneq_s32(sums[2], weights, four, 2);
    sums[3] = vdotq_laneq_s32(sums[3], weights, four, 3);
}

// Four rows with FOURS * 4 tokens, which hold `nb` superblocks of four tokens, then those of the next four.
template <int FOURS>
inline void add_superblock(float32x4_t * sums, const block_q4_Kx8 * rows, int half, const scales_of_rows & own,
                           const block_q8_Kx4 * tokens, int nb) {
    const float32x4_t scale = vcvt_f32_f16(vld1_f16((const __fp16 *) rows->d + 4 * half));
    const float32x4_t least = vcvt_f32_f16(vld1_f16((const __fp16 *) rows->dmin + 4 * half));
    float32x4_t of_tokens[4 * FOURS];
#pragma GCC unroll 8
    for (int t = 0; t < 4 * FOURS; t++) {
        of_tokens[t] = vmulq_n_f32(scale, tokens[(size_t) (t / 4) * nb].d[t % 4]);
    }
    for (int p = 0; p < 4; p++) {
        int32x4_t whole[4 * FOURS];
#pragma GCC unroll 2
        for (int sub = 0; sub < 2; sub++) {  // one after the other, as registers are few
            int32x4_t products[4 * FOURS];
#pragma GCC unroll 8
            for (int t = 0; t < 4 * FOURS; t++) {
                products[t] = vdupq_n_s32(0);
            }
#pragma GCC unroll 8
            for (int i = 0; i < 8; i++) {
                const uint8x16_t both = vld1q_u8(rows->qs + 256 * p + 32 * i + 16 * half);
                const uint8x16_t weights = sub ? vshrq_n_u8(both, 4) : vandq_u8(both, vdupq_n_u8(0x0F));
#pragma GCC unroll 2
                for (int four = 0; four < FOURS; four++) {
                    const int8_t * place = tokens[(size_t) four * nb].qs + 256 * p + 128 * sub + 16 * i;
                    add_products(products + 4 * four, vreinterpretq_s8_u8(weights), vld1q_s8(place));
                }
            }
            const int32x4_t scales = vmovl_s16(vld1_s16(own.scales[half][2 * p + sub]));
#pragma GCC unroll 8
            for (int t = 0; t < 4 * FOURS; t++) {
                whole[t] = sub ? vmlaq_s32(whole[t], scales, products[t]) : vmulq_s32(scales, products[t]);
            }
        }
#pragma GCC unroll 8
        for (int t = 0; t < 4 * FOURS; t++) {
            sums[t] = vfmaq_f32(sums[t], of_tokens[t], vcvtq_f32_s32(whole[t]));
        }
    }
#pragma GCC unroll 2
    for (int four = 0; four < FOURS; four++) {
        const block_q8_Kx4 * block = tokens + (size_t) four * nb;
        int32x4_t off[4] = {vdupq_n_s32(0), vdupq_n_s32(0), vdupq_n_s32(0), vdupq_n_s32(0)};
        add_least(off, block, own.least[half]);
#pragma GCC unroll 4
        for (int t = 0; t < 4; t++) {
            float32x4_t & sum = sums[4 * four + t];
            sum = vmlsq_f32(sum, vcvtq_f32_s32(off[t]), vmulq_n_f32(least, block->d[t]));
        }
    }
}

template <int FOURS>
inline void eight_rows(int nb, float * out, size_t stride, const block_q4_Kx8 * rows, const block_q8_Kx4 * tokens) {
    float32x4_t sums[2][4 * FOURS];
    for (int t = 0; t < 4 * FOURS; t++) {
        sums[0][t] = sums[1][t] = vdupq_n_f32(0);
    }
    for (int k = 0; k < nb; k++) {
        scales_of_rows own;
        unpack(rows + k, own);
        for (int half = 0; half < 2; half++) {
            add_superblock<FOURS>(sums[half], rows + k, half, own, tokens + k, nb);
        }
    }
    for (int t = 0; t < 4 * FOURS; t++) {
        vst1q_f32(out + (size_t) t * stride, sums[0][t]);
        vst1q_f32(out + (size_t) t * stride + 4, sums[1][t]);
    }
}

}  // namespace few_tokens
}  // namespace

// n: columns; s: results, `bs` apart from one token to the next; nr: tokens, a multiple of 4; nc: rows of weights, a
// multiple of 8.
void ggml_gemm_q4_K_8x4_q8_K(int n, float * GGML_RESTRICT s, size_t bs, const void * GGML_RESTRICT vx,
                             const void * GGML_RESTRICT vy, int nr, int nc) {
    assert(n % QK_K == 0 && nr % 4 == 0 && nc % 8 == 0);
    const int nb = n / QK_K;
    for (int t = 0; t < nr; t += few_tokens::AT_ONCE) {
        const int last = nr - t < few_tokens::AT_ONCE ? nr : t + few_tokens::AT_ONCE;
        for (int group = 0; group < nc / 8; group++) {
            const block_q4_Kx8 * rows = (const block_q4_Kx8 *) vx + (size_t) group * nb;
            for (int first = t; first < last; first += 8) {
                const block_q8_Kx4 * tokens = (const block_q8_Kx4 *) vy + (size_t) (first / 4) * nb;
                float * out = s + (size_t) first * bs + group * 8;
                if (first + 8 <= last) {
                    few_tokens::eight_rows<2>(nb, out, bs, rows, tokens);
                } else {
                    few_tokens::eight_rows<1>(nb, out, bs, rows, tokens);
                }
            }
        }
    }
}

#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC pop_options
#endif

extern "C" void ggml_gemm_q4_K_8x4_q8_K_stock(int n, float * GGML_RESTRICT s, size_t bs, const void * GGML_RESTRICT vx,
                                              const void * GGML_RESTRICT vy, int nr, int nc);

// llama.cpp's own definition, which follows, gets this name.
#define ggml_gemm_q4_K_8x4_q8_K ggml_gemm_q4_K_8x4_q8_K_stock

#endif
