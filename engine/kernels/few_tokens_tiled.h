// Included before ggml/src/ggml-cpu/tiled/tiled.cpp by few_tokens.sh: leaves IQ4_XS, Q5_K and Q6_K weights with a few
// tokens to few_tokens_sgemm.h. On ARM, where llama.cpp has no such tiles but asks for them, IQ4_XS gets a product here.
//
// llama.cpp has a product of eight tokens and more for them, which is asked first. It unpacks the weights into a buffer, for
// tiles of 16 by 16, which pays with many tokens, and rounds otherwise than the product with a single token does.
#pragma once

// Without GGML_USE_LLAMAFILE nobody asks few_tokens_sgemm.h.
#include "vectors.h"

#if defined(GGML_USE_LLAMAFILE) && (defined(FEW_TOKENS_512) || defined(FEW_TOKENS_256))

#include "ggml.h"
#include "ggml-cpu-impl.h"
#include "tiled/tiled.h"

namespace {  // of this file alone
// Tokens from which tiles pay. Q6_K takes 7 % less time with 64, a quarter less with 256 (Zen 4); the others a sixth less with
// 24, 30 % less with 32 (Zen 5).
constexpr int64_t tiles_pay(ggml_type type) {
    return type == GGML_TYPE_Q6_K ? 48 : type == GGML_TYPE_Q5_K || type == GGML_TYPE_IQ4_XS ? 21 : 0;
}
}

extern "C" {

bool ggml_compute_forward_mul_mat_tiled_stock(const struct ggml_compute_params * params, struct ggml_tensor * dst);

bool ggml_compute_forward_mul_mat_tiled(const struct ggml_compute_params * params, struct ggml_tensor * dst) {
    if (dst->src[1]->ne[1] < tiles_pay(dst->src[0]->type)) {
        return false;
    }
    return ggml_compute_forward_mul_mat_tiled_stock(params, dst);
}
}

// llama.cpp's own definition, which follows, gets this name.
#define ggml_compute_forward_mul_mat_tiled ggml_compute_forward_mul_mat_tiled_stock

#elif defined(__aarch64__)
#include "few_tokens_arm_iq4_xs.h"
#endif
