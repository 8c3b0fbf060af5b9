// IQ4_XS on ARM processors with dot products: what few_tokens_tiled.h includes there. llama.cpp takes tokens one by one, adds up
// each sub-block across a register, and unpacks the weights anew for each token. Here a row is unpacked once for up to eight.
//
// Layout (ggml-common.h): superblocks of 256 columns; each 16 bytes of `qs` are a sub-block of 32, whose first half lies in the
// low halves. Weights are places in a table, scales have 6 bits, less 32. Whole numbers are added in another order than
// llama.cpp adds them, which changes nothing; floats in the same order, so each token gets the bits that it has alone.
#pragma once

#if defined(__ARM_NEON) && defined(__ARM_FEATURE_DOTPROD)

#define GGML_COMMON_IMPL_CPP
#define GGML_COMMON_DECL_CPP
#include "ggml-common.h"
#include "ggml-impl.h"
#include "ggml-cpu-impl.h"
#include "quants.h"
#include "simd-mappings.h"
#include "tiled/tiled.h"

#include <arm_neon.h>

#include <cstdint>
#include <cstring>

// Else GCC moves loads so far ahead that it runs out of registers.
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC push_options
#pragma GCC optimize("no-schedule-insns")
#endif

#include "turns.h"

namespace {  // of this file alone
namespace few_tokens {

struct iq4_xs {
    using block = block_iq4_xs;
    using tokens = block_q8_K;
    static constexpr int ROWS = 1, ALONE = 0, LARGE = 0;

    struct prepared {
        const block_q8_K * tokens;
        int64_t step;  // superblocks from one to the next
    };

    static inline prepared prepare(const block_q8_K * tokens, int64_t step, int64_t, int) { return {tokens, step}; }

    // The scales of sub-blocks 0, 2, 4 and 6, then of 1, 3, 5 and 7.
    static inline void unpack_scales(int32x4_t * scales, const block * row) {
        uint32_t low;
        memcpy(&low, row->scales_l, sizeof(low));
        const uint8x8_t both = vcreate_u8(low | (uint64_t) (low >> 4) << 32);
        const int16x8_t places = {0, -4, -8, -12, -2, -6, -10, -14};
        const uint16x8_t high = vandq_u16(vshlq_u16(vdupq_n_u16(row->scales_h), places), vdupq_n_u16(3));
        const uint16x8_t six = vorrq_u16(vmovl_u8(vand_u8(both, vdup_n_u8(15))), vshlq_n_u16(high, 4));
        const int16x8_t all = vsubq_s16(vreinterpretq_s16_u16(six), vdupq_n_s16(32));
        scales[0] = vmovl_s16(vget_low_s16(all));
        scales[1] = vmovl_high_s16(all);
    }

    // Whole sums of a superblock with TOKENS tokens, in four parts.
    template <int TOKENS>
    static inline void weigh(int32x4_t * sums, int8x16_t table, const block * row, const block_q8_K * const * tokens, int k) {
        int32x4_t scales[2];
        unpack_scales(scales, row);
#pragma GCC unroll 8
        for (int t = 0; t < TOKENS; t++) {
            sums[t] = vdupq_n_s32(0);
        }
#pragma GCC unroll 8
        for (int sub = 0; sub < 8; sub++) {
            const uint8x16_t both = vld1q_u8(row->qs + 16 * sub);
            const int8x16_t first = vqtbl1q_s8(table, vandq_u8(both, vdupq_n_u8(15)));
            const int8x16_t second = vqtbl1q_s8(table, vshrq_n_u8(both, 4));
#pragma GCC unroll 8
            for (int t = 0; t < TOKENS; t++) {
                const int8_t * place = tokens[t][k].qs + 32 * sub;
                const int32x4_t half = vdotq_s32(vdupq_n_s32(0), first, vld1q_s8(place));
                const int32x4_t whole = vdotq_s32(half, second, vld1q_s8(place + 16));
                sums[t] = vmlaq_n_s32(sums[t], whole, scales[sub % 2][sub / 2]);
            }
        }
    }

    // Rows follow each other, so the processor fetches them by itself.
    template <int TOKENS>
    static inline void tile(int nb, float * out, int64_t out_step, const block * row, const prepared & all) {
        const int8x16_t table = vld1q_s8(kvalues_iq4nl);
        const block_q8_K * tokens[TOKENS];
        float sums[TOKENS] = {};
        for (int t = 0; t < TOKENS; t++) {
            tokens[t] = all.tokens + t * all.step;
        }
        for (int k = 0; k < nb; k++) {
            int32x4_t whole[TOKENS];
            weigh<TOKENS>(whole, table, row + k, tokens, k);
            const float scale = GGML_CPU_FP16_TO_FP32(row[k].d);
#pragma GCC unroll 8
            for (int t = 0; t < TOKENS; t++) {
                sums[t] += scale * tokens[t][k].d * vaddvq_s32(whole[t]);
            }
        }
        for (int t = 0; t < TOKENS; t++) {
            out[t * out_step] = sums[t];
        }
    }

    template <int>
    static inline void some_tokens(int nb, float * out, int64_t out_step, const block * row, int64_t,
                                   const upcoming<block> &, prepared all, int64_t count) {
        for (; count >= 8; count -= 8, out += 8 * out_step, all.tokens += 8 * all.step) {
            tile<8>(nb, out, out_step, row, all);
        }
        switch (count) {
            case 7: tile<7>(nb, out, out_step, row, all); break;
            case 6: tile<6>(nb, out, out_step, row, all); break;
            case 5: tile<5>(nb, out, out_step, row, all); break;
            case 4: tile<4>(nb, out, out_step, row, all); break;
            case 3: tile<3>(nb, out, out_step, row, all); break;
            case 2: tile<2>(nb, out, out_step, row, all); break;
            case 1: tile<1>(nb, out, out_step, row, all); break;
        }
    }
};

}  // namespace few_tokens
}  // namespace

extern "C" {

bool ggml_compute_forward_mul_mat_tiled_stock(const struct ggml_compute_params * params, struct ggml_tensor * dst);

bool ggml_compute_forward_mul_mat_tiled(const struct ggml_compute_params * params, struct ggml_tensor * dst) {
    const struct ggml_tensor *weights = dst->src[0], *inputs = dst->src[1];
    if (weights->type != GGML_TYPE_IQ4_XS || inputs->type != GGML_TYPE_F32 || inputs->ne[1] < 2 || params->use_ref ||
        inputs->nb[0] != sizeof(float)) {
        return ggml_compute_forward_mul_mat_tiled_stock(params, dst);
    }
    const int64_t nb = weights->ne[0] / QK_K, count = inputs->ne[1], layers = inputs->ne[2];
    block_q8_K * tokens = (block_q8_K *) params->wdata;  // which llama.cpp makes large enough for its own product
    for (int64_t i = params->ith; i < count * layers * inputs->ne[3]; i += params->nth) {
        const int64_t layer = i / count % layers, group = i / count / layers;
        const char * from = (const char *) inputs->data + i % count * inputs->nb[1] + layer * inputs->nb[2];
        quantize_row_q8_K((const float *) (from + group * inputs->nb[3]), tokens + i * nb, weights->ne[0]);
    }
    ggml_barrier(params->threadpool);
    for (int64_t i = 0; i < layers * inputs->ne[3]; i++) {
        const int64_t layer = i % layers, group = i / layers;
        const char * rows = (const char *) weights->data + layer * weights->ne[2] / layers * weights->nb[2] +
                            group * weights->ne[3] / inputs->ne[3] * weights->nb[3];
        char * out = (char *) dst->data + layer * dst->nb[2] + group * dst->nb[3];
        few_tokens::multiply<few_tokens::iq4_xs>(params, weights->ne[1], count, nb, rows, weights->nb[1] / sizeof(block_iq4_xs),
                                                 tokens + i * count * nb, nb, out, dst->nb[1] / sizeof(float));
    }
    return true;
}
}

// llama.cpp's own definition, which follows, gets this name.
#define ggml_compute_forward_mul_mat_tiled ggml_compute_forward_mul_mat_tiled_stock

#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC pop_options
#endif

#endif
