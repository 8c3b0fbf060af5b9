// Included before ggml/src/ggml-cpu/tiled/tiled.cpp by few_tokens.sh: leaves IQ4_XS, Q5_K and Q6_K weights with a few
// tokens to few_tokens_sgemm.h. On ARM, where llama.cpp has no such tiles but asks for them, IQ4_XS gets a product here.
//
// llama.cpp has a product of eight tokens and more for them, which is asked first, also for each expert of a layer. It unpacks the
// weights into a buffer, for tiles of 16 by 16, which pays with many tokens. few_tokens_sgemm.h gives fewer the same bits. (Of
// llama.cpp's other K and I weights few tokens are rounded otherwise than many: docs/kernels.md.)
#pragma once

// Without GGML_USE_LLAMAFILE nobody asks few_tokens_sgemm.h.
#include "vectors.h"

#if defined(GGML_USE_LLAMAFILE) && (defined(FEW_TOKENS_512) || defined(FEW_TOKENS_256))

#define GGML_COMMON_DECL_CPP
#include "ggml-common.h"
#include "ggml.h"
#include "ggml-cpu-impl.h"
#include "tiled/tiled.h"

namespace {  // of this file alone
// Tokens from which tiles pay. Q6_K takes 7 % less time with 64, a quarter less with 256 (Zen 4); the others a sixth less with
// 24, 30 % less with 32 (Zen 5).
constexpr int64_t tiles_pay(ggml_type type) {
    return type == GGML_TYPE_Q6_K ? 48 : type == GGML_TYPE_Q5_K || type == GGML_TYPE_IQ4_XS ? 21 : 0;
}
constexpr int64_t MOST_OF_EXPERT = 20;
}

extern "C" {

bool few_tokens_of_expert(const struct ggml_compute_params * params, int type, int64_t rows, int64_t nb, const void * weights,
                          int64_t row_step, const block_q8_K * const * tokens, int64_t count, float * const * out);

bool ggml_compute_forward_mul_mat_tiled_stock(const struct ggml_compute_params * params, struct ggml_tensor * dst);
bool ggml_compute_forward_mul_mat_id_tiled_stock(const struct ggml_compute_params * params, struct ggml_tensor * dst,
                                                 int64_t cur_a, int64_t cne1, const int32_t * expert_rows, char * scratch);

bool ggml_compute_forward_mul_mat_tiled(const struct ggml_compute_params * params, struct ggml_tensor * dst) {
    if (dst->src[1]->ne[1] < tiles_pay(dst->src[0]->type)) {
        return false;
    }
    return ggml_compute_forward_mul_mat_tiled_stock(params, dst);
}

// `expert_rows`: of each of `cne1` tokens that chose the expert, its slot and its place.
bool ggml_compute_forward_mul_mat_id_tiled(const struct ggml_compute_params * params, struct ggml_tensor * dst, int64_t cur_a,
                                           int64_t cne1, const int32_t * expert_rows, char * scratch) {
    const struct ggml_tensor * weights = dst->src[0], * given = dst->src[1];
    if (cne1 <= MOST_OF_EXPERT && tiles_pay(weights->type) > 0 && weights->extra == nullptr) {
        const bool is_ready = given->type == GGML_TYPE_Q8_K;
        const char * data = is_ready ? (const char *) given->data : (const char *) params->wdata;
        const size_t token_bytes = is_ready ? given->nb[1] : ggml_row_size(GGML_TYPE_Q8_K, given->ne[0]);
        const block_q8_K * tokens[MOST_OF_EXPERT];
        float * out[MOST_OF_EXPERT];
        for (int64_t t = 0; t < cne1; t++) {
            const int64_t slot = expert_rows[2 * t], place = expert_rows[2 * t + 1];
            tokens[t] = (const block_q8_K *) (data + (slot % given->ne[1] + place * given->ne[1]) * token_bytes);
            out[t] = (float *) ((char *) dst->data + slot * dst->nb[1] + place * dst->nb[2]);
        }
        return few_tokens_of_expert(params, weights->type, weights->ne[1], weights->ne[0] / QK_K,
                                    (const char *) weights->data + cur_a * weights->nb[2],
                                    weights->nb[1] / ggml_type_size(weights->type), tokens, cne1, out);
    }
    return ggml_compute_forward_mul_mat_id_tiled_stock(params, dst, cur_a, cne1, expert_rows, scratch);
}
}

// llama.cpp's own definitions, which follow, get these names.
#define ggml_compute_forward_mul_mat_tiled ggml_compute_forward_mul_mat_tiled_stock
#define ggml_compute_forward_mul_mat_id_tiled ggml_compute_forward_mul_mat_id_tiled_stock

#elif defined(__aarch64__)
#include "few_tokens_arm_iq4_xs.h"
#endif
