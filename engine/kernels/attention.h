// llama.cpp's fused attention on processors, anew: a row's bits depend on its query and on the cells that it sees alone.
//
// Included before ggml/src/ggml-cpu/ops.cpp by few_tokens.sh. Its function takes the place of llama.cpp's own, which stays in
// the library with _stock behind its name and gets what is not for this one (is_ours). The arithmetic is llama.cpp's: scores in
// f32, ALiBi, soft cap, sinks, softmax, weighted values in f32. Keys and values are f16 or q8_0.
//
// Where cells lie, how many tokens a pass has, how many threads compute it and which other answers share it must not change a
// bit. So no sum over cells may depend on an order:
//   - A score is the product of one query with one key, added up in one order (`dots`).
//   - The greatest score M, and the greatest magnitude of the values that the query sees, have no order.
//   - S, the sum of exp(score - M), is one of whole numbers: of 2^-30 each, in 64 bits.
//   - Weighted values are added to a sum that begins at 1.5 * 2^k and stays between 2^k and 2^(k+1), so each addition rounds its
//     product to a multiple of 2^(k-23), and the rest is exact. k is the least for which nothing leaves that range, by S and that
//     magnitude. A product exactly between two multiples would be rounded by what the sum is; there is none, as the last bit of
//     each weight is set and so lies below. This is the pre-rounding of reproducible sums (Demmel and Nguyen 2013, "Fast
//     Reproducible Floating-Point Summation", with one bin). It costs what an addition costs, and an error of 6e-7 of the greatest
//     value at most for a cell; llama.cpp's sums for one token are f16, with 5e-4 for a step.
//
// All queries of all tokens that share a head of keys are computed while its cells are at hand: they are widened to f32 once, for
// up to MOST_ROWS rows. Threads share heads and tokens, or for few rows the cells (`by_cells`).
#pragma once

#include "attention_vectors.h"

#if defined(ATTENTION_512) || defined(ATTENTION_256) || defined(ATTENTION_NEON)

#define GGML_COMMON_DECL_CPP
#include "ggml-common.h"
#include "ggml-cpu-impl.h"
#include "ggml-cpu.h"
#include "ops.h"
#include "simd-mappings.h"

#include <algorithm>
#include <cmath>
#include <vector>

extern "C" void ggml_compute_forward_flash_attn_ext_stock(const struct ggml_compute_params * params, struct ggml_tensor * dst);

namespace {  // of this file alone
namespace attention {

constexpr int BLOCK = 32;               // cells that are widened together
constexpr int MOST_ROWS = 96;           // queries that share a block
constexpr int64_t SCORES = 1 << 18;     // floats that the scores of a part should not exceed: 1 MB, a cache's share
constexpr int64_t MOST_SCORES = 1 << 21;  // where heads are taken together: each thread keeps the room
constexpr float UNIT = 0x1p30f;         // of S, in whole numbers
constexpr uint16_t HIDDEN = 0xfc00;     // -infinity in a mask: the cell is not seen
enum sight : uint8_t { NONE, SOME, ALL };  // which cells of a block a token sees

struct call {  // one operation of the graph
    const ggml_tensor *q, *k, *v, *mask, *sinks;
    ggml_tensor * dst;
    int64_t dk, dv, tokens, heads, kv_heads, group, cells, streams;
    float scale, max_bias, cap;

    explicit call(ggml_tensor * dst)
        : q(dst->src[0]), k(dst->src[1]), v(dst->src[2]), mask(dst->src[3]), sinks(dst->src[4]), dst(dst), dk(k->ne[0]),
          dv(v->ne[0]), tokens(q->ne[1]), heads(q->ne[2]), kv_heads(k->ne[2]), group(heads / kv_heads), cells(k->ne[1]),
          streams(q->ne[3]) {
        memcpy(&scale, (const float *) dst->op_params, sizeof(float));
        memcpy(&max_bias, (const float *) dst->op_params + 1, sizeof(float));
        memcpy(&cap, (const float *) dst->op_params + 2, sizeof(float));
        scale = cap != 0.0f ? scale / cap : scale;
    }

    // ALiBi's factor of the mask for a head, as llama.cpp reckons it (arXiv 2108.12409).
    float slope(int64_t head) const {
        if (max_bias <= 0.0f) {
            return 1.0f;
        }
        const uint32_t power = 1u << (uint32_t) floor(log2((double) heads));
        return head < power ? powf(powf(2.0f, -max_bias / power), (float) (head + 1))
                            : powf(powf(2.0f, -max_bias / 2.0f / power), (float) (2 * (head - power) + 1));
    }

    const float * query(int64_t token, int64_t head, int64_t stream) const {
        return (const float *) ((const char *) q->data + token * q->nb[1] + head * q->nb[2] + stream * q->nb[3]);
    }
    const ggml_fp16_t * mask_row(int64_t token, int64_t stream) const {
        return (const ggml_fp16_t *) ((const char *) mask->data + token * mask->nb[1] + (stream % mask->ne[3]) * mask->nb[3]);
    }
    float * out(int64_t token, int64_t head, int64_t stream) const {
        return (float *) ((char *) dst->data + (stream * dst->ne[2] * dst->ne[1] + head + token * dst->ne[1]) * dst->nb[1]);
    }
};

inline bool is_ours(const call & c) {
    const auto type_is_ours = [](const ggml_tensor * t, int64_t width) {
        return (t->type == GGML_TYPE_F16 && width % WIDTH == 0 && width % 16 == 0) || (t->type == GGML_TYPE_Q8_0 && width % QK8_0 == 0);
    };
    return c.q->type == GGML_TYPE_F32 && c.dst->type == GGML_TYPE_F32 && c.q->nb[0] == sizeof(float) && type_is_ours(c.k, c.dk) &&
           type_is_ours(c.v, c.dv) && c.k->nb[0] == ggml_type_size(c.k->type) && c.v->nb[0] == ggml_type_size(c.v->type) &&
           c.heads % c.kv_heads == 0 && c.v->ne[2] == c.kv_heads && c.v->ne[1] == c.cells && c.k->ne[3] == c.streams &&
           c.v->ne[3] == c.streams && c.tokens > 0 && c.cells > 0 &&
           (c.mask == nullptr || (c.mask->type == GGML_TYPE_F16 && c.mask->ne[2] == 1 && c.mask->ne[0] >= c.cells));
}

// Widens `count` values of a row to f32, by eights that lie `step` apart.
inline void widen(float * to, int64_t step, const char * row, ggml_type type, int64_t count) {
    if (type == GGML_TYPE_F16) {
        for (int64_t i = 0; i < count; i += 16, to += 2 * step) {
            widen_16(to, step, (const ggml_fp16_t *) row + i);
        }
        return;
    }
    const block_q8_0 * blocks = (const block_q8_0 *) row;
    for (int64_t i = 0; i < count; i += 8, to += step) {
        widen_8(to, blocks[i / QK8_0].qs + i % QK8_0, GGML_CPU_FP16_TO_FP32(blocks[i / QK8_0].d));
    }
}

// The greatest magnitude of rows of values, or a bound of it that depends on nothing else.
inline float peak_of(const char * row, size_t step, int rows, ggml_type type, int64_t count) {
    if (type == GGML_TYPE_F16) {
        uint16_t most = 0;
        constexpr int64_t STRIP = 32;
        int64_t i = 0;
        for (; i + STRIP <= count; i += STRIP) {
            uint16_t strip[STRIP] = {};
            for (int r = 0; r < rows; r++) {
                const uint16_t * x = (const uint16_t *) (row + r * step) + i;
                for (int j = 0; j < STRIP; j++) {
                    strip[j] = std::max<uint16_t>(strip[j], x[j] & 0x7fff);
                }
            }
            for (int j = 0; j < STRIP; j++) {
                most = std::max(most, strip[j]);
            }
        }
        for (; i < count; i++) {
            for (int r = 0; r < rows; r++) {
                most = std::max<uint16_t>(most, ((const uint16_t *) (row + r * step))[i] & 0x7fff);
            }
        }
        return GGML_CPU_FP16_TO_FP32(most);
    }
    float most = 0.0f;
    for (int r = 0; r < rows; r++) {
        const block_q8_0 * blocks = (const block_q8_0 *) (row + r * step);
        for (int64_t i = 0; i < count / QK8_0; i++) {
            most = std::max(most, 128.0f * fabsf(GGML_CPU_FP16_TO_FP32(blocks[i].d)));
        }
    }
    return most;
}

// Where a query's weighted sums begin: 1.5 * 2^k. Zero where there is nothing to add, or nothing finite.
inline float beginning(float sum, float peak) {
    const float bound = 1.25f * sum * peak;  // rounding adds less than a quarter, up to a million cells
    if (!(bound > 0.0f) || !std::isfinite(bound)) {
        return 0.0f;
    }
    int exponent;
    frexpf(bound, &exponent);  // bound < 2^exponent
    return ldexpf(1.5f, exponent + 1);
}

// Queries of some tokens, of some heads of keys, with some cells, from `cell_0`, a multiple of BLOCK, on. Rows are ordered by
// heads of keys, then tokens, then heads of queries.
class part {
  public:
    void begin(const call & c, int64_t stream, int64_t head_0, int64_t num_heads, int64_t token_0, int64_t num_tokens, int64_t cell_0,
               int64_t end) {
        this->c = &c;
        this->stream = stream, this->head_0 = head_0, this->token_0 = token_0, this->cell_0 = cell_0;
        this->num_heads = num_heads, this->num_tokens = num_tokens;
        num_cells = std::max<int64_t>(end - cell_0, 0);
        blocks = (num_cells + BLOCK - 1) / BLOCK;
        rows_each = num_tokens * c.group;
        rows = num_heads * rows_each;
        step = blocks * BLOCK;
        scores.resize(std::max(scores.size(), (size_t) (rows * step)));
        sees.resize(std::max(sees.size(), (size_t) (num_tokens * blocks)));
        room.resize(std::max(room.size(), (size_t) (BLOCK * std::max(c.dk, c.dv))));
        peaks.assign(num_heads * num_tokens, 0.0f);
        greatest_score.assign(rows, -INFINITY);
        is_finite = true;
    }

    // Scores of all rows, the greatest of each, and the greatest magnitude of the values that each token sees.
    void read_keys() {
        for (int64_t b = 0; b < blocks; b++) {
            if (look(b) == NONE) {
                continue;
            }
            for (int64_t h = 0; h < num_heads; h++) {
                read_keys(b, h);
                look_at_values(b, h);
            }
        }
        for (int64_t row = 0; row < rows; row++) {
            greatest_score[row] = finish_scores(row);
        }
    }

    // Turns a row's scores into weights; gives their sum in units of 1 / UNIT.
    int64_t weigh(int64_t row, float most) {
        float * s = scores.data() + row * step;
        const uint8_t * seen = sees.data() + (token_of(row) - token_0) * blocks;
        whole_sums sums;
        for (int64_t b = 0; b < blocks; b++, s += BLOCK) {
            if (seen[b] == NONE) {
                memset(s, 0, BLOCK * sizeof(float));
                continue;
            }
            for (int i = 0; i < BLOCK; i += WIDTH) {
                const lanes score = load(s + i);
                // A score that is no number stays none, so that what is wrong with a model shows.
                const lanes weight = zero_where(score, -INFINITY, ggml_v_expf(add(score, all(-most))));
                const lanes odd = where_above(weight, 0.0f, made_odd(weight), weight);
                sums.count(times(odd, all(UNIT)));
                store(s + i, odd);
            }
        }
        return sums.total();
    }

    // Adds weighted values to `sums`, c.dv of each row.
    void read_values(float * sums) {
        for (int64_t b = 0; b < blocks; b++) {
            if (seen_by_any(b) != NONE) {
                for (int64_t h = 0; h < num_heads; h++) {
                    read_values(b, h, sums);
                }
            }
        }
    }

    int64_t token_of(int64_t row) const { return token_0 + row % rows_each / c->group; }
    int64_t head_of(int64_t row) const { return (head_0 + row / rows_each) * c->group + row % c->group; }
    float peak_of_row(int64_t row) const { return peaks[row / c->group]; }

    int64_t rows, stream;
    std::vector<float> greatest_score;  // of each row

  private:
    int cells_of(int64_t block) const { return (int) std::min<int64_t>(BLOCK, num_cells - block * BLOCK); }

    const char * first_of(const ggml_tensor * t, int64_t block, int64_t head) const {
        return (const char *) t->data + (head_0 + head) * t->nb[2] + stream * t->nb[3] + (cell_0 + block * BLOCK) * t->nb[1];
    }

    // Few rows widen what the cache has as they go.
    bool is_direct(const ggml_tensor * t) const { return t->type == GGML_TYPE_F16 && rows_each <= QUERIES; }

    sight look(int64_t block) {
        const int cells = cells_of(block);
        for (int64_t t = 0; t < num_tokens; t++) {
            int hidden = 0;
            if (c->mask != nullptr) {
                const uint16_t * m = (const uint16_t *) c->mask_row(token_0 + t, stream) + cell_0 + block * BLOCK;
                for (int i = 0; i < cells; i++) {
                    hidden += m[i] == HIDDEN;
                }
            }
            sees[t * blocks + block] = hidden == cells ? NONE : hidden == 0 && cells == BLOCK ? ALL : SOME;
        }
        return seen_by_any(block);
    }

    // ALL where each token sees the whole block.
    sight seen_by_any(int64_t block) const {
        bool any = false, every = true;
        for (int64_t t = 0; t < num_tokens; t++) {
            any |= sees[t * blocks + block] != NONE;
            every &= sees[t * blocks + block] == ALL;
        }
        return every ? ALL : any ? SOME : NONE;
    }

    bool seen_by_rows(int64_t row, int count, int64_t block) const {
        for (int64_t t = token_of(row); t <= token_of(row + count - 1); t++) {
            if (sees[(t - token_0) * blocks + block] != NONE) {
                return true;
            }
        }
        return false;
    }

    void read_keys(int64_t block, int64_t head) {
        const int cells = cells_of(block);
        const char * first = first_of(c->k, block, head);
        for (int i = 0; i < (cells + GROUP - 1) / GROUP * GROUP; i++) {
            // What is beyond the last cell is hidden; it only must be there.
            const char * row = first + std::min(i, cells - 1) * c->k->nb[1];
            if (is_direct(c->k)) {
                at[i] = (const ggml_fp16_t *) row;
            } else {
                widen(room.data() + i / GROUP * GROUP * c->dk + i % GROUP * 8, GROUP * 8, row, c->k->type, c->dk);
            }
        }
        const int64_t end = (head + 1) * rows_each;
        for (int64_t row = head * rows_each; row < end; row += QUERIES) {
            const int count = (int) std::min<int64_t>(QUERIES, end - row);
            if (seen_by_rows(row, count, block)) {
                multiply(row, count, block, cells);
            }
        }
    }

    void multiply(int64_t row, int count, int64_t block, int cells) {
        const float * queries[QUERIES];
        float * out[QUERIES];
        for (int i = 0; i < count; i++) {
            queries[i] = c->query(token_of(row + i), head_of(row + i), stream);
            out[i] = scores.data() + (row + i) * step + block * BLOCK;
        }
        for (int g = 0; g < cells; g += GROUP) {
            if (is_direct(c->k)) {
                f16_keys keys;
                std::copy(at + g, at + g + GROUP, keys.rows);
                multiply_group(keys, count, queries, out);
            } else {
                multiply_group(wide_keys{room.data() + g * c->dk}, count, queries, out);
            }
            for (int i = 0; i < count; i++) {
                out[i] += GROUP;
            }
        }
    }

    template <class KEYS>
    void multiply_group(const KEYS & keys, int count, const float * const * queries, float * const * out) const {
        const int64_t eighths = c->dk / 8;
        switch (count) {
#if defined(ATTENTION_512)
            case 6: dots<6>(keys, eighths, queries, out); break;
            case 5: dots<5>(keys, eighths, queries, out); break;
#endif
#if !defined(ATTENTION_256)
            case 4: dots<4>(keys, eighths, queries, out); break;
#endif
            case 3: dots<3>(keys, eighths, queries, out); break;
            case 2: dots<2>(keys, eighths, queries, out); break;
            default: dots<1>(keys, eighths, queries, out); break;
        }
    }

    void look_at_values(int64_t block, int64_t head) {
        const int cells = cells_of(block);
        const size_t row_step = c->v->nb[1];
        const char * first = first_of(c->v, block, head);
        float * of_tokens = peaks.data() + head * num_tokens;
        if (seen_by_any(block) == ALL) {
            const float peak = peak_of(first, row_step, cells, c->v->type, c->dv);
            for (int64_t t = 0; t < num_tokens; t++) {
                of_tokens[t] = std::max(of_tokens[t], peak);
            }
            is_finite = is_finite && std::isfinite(peak);
            return;
        }
        float peak[BLOCK];
        for (int i = 0; i < cells; i++) {
            peak[i] = peak_of(first + i * row_step, row_step, 1, c->v->type, c->dv);
            is_finite = is_finite && std::isfinite(peak[i]);
        }
        for (int64_t t = 0; t < num_tokens; t++) {
            if (sees[t * blocks + block] == NONE) {
                continue;
            }
            const uint16_t * m = c->mask == nullptr ? nullptr
                                                    : (const uint16_t *) c->mask_row(token_0 + t, stream) + cell_0 + block * BLOCK;
            for (int i = 0; i < cells; i++) {
                of_tokens[t] = m == nullptr || m[i] != HIDDEN ? std::max(of_tokens[t], peak[i]) : of_tokens[t];
            }
        }
    }

    float finish_scores(int64_t row) {
        const uint8_t * seen = sees.data() + (token_of(row) - token_0) * blocks;
        const ggml_fp16_t * m = c->mask == nullptr ? nullptr : c->mask_row(token_of(row), stream) + cell_0;
        const lanes scale = all(c->scale), cap = all(c->cap), slope = all(c->slope(head_of(row))), hidden = all(-INFINITY);
        lanes most = hidden;
        for (int64_t b = 0; b < blocks; b++) {
            float * s = scores.data() + row * step + b * BLOCK;
            if (seen[b] == NONE) {
                continue;
            }
            const int cells = cells_of(b);
            ggml_fp16_t padded[BLOCK];
            const ggml_fp16_t * bias = m == nullptr ? nullptr : m + b * BLOCK;
            if (cells < BLOCK) {
                std::fill(padded, padded + BLOCK, (ggml_fp16_t) HIDDEN);
                if (bias == nullptr) {
                    std::fill(padded, padded + cells, (ggml_fp16_t) 0);
                } else {
                    memcpy(padded, bias, cells * sizeof(ggml_fp16_t));
                }
                bias = padded;
            }
            for (int i = 0; i < BLOCK; i += WIDTH) {
                lanes score = times(load(s + i), scale);
                if (c->cap != 0.0f) {  // tanh
                    const lanes squared = ggml_v_expf(add(score, score));
                    score = times(cap, add(all(1.0f), over(all(-2.0f), add(squared, all(1.0f)))));
                }
                if (bias != nullptr) {
                    const lanes b16 = halves(bias + i);
                    score = where_above(b16, -INFINITY, fma(slope, b16, score), hidden);
                }
                most = greater(most, score);
                store(s + i, score);
            }
        }
        return greatest(most);
    }

    void read_values(int64_t block, int64_t head, float * sums) {
        const int cells = cells_of(block);
        const char * first = first_of(c->v, block, head);
        for (int i = 0; i < cells && !is_direct(c->v); i++) {
            widen(room.data() + i * c->dv, 8, first + i * c->v->nb[1], c->v->type, c->dv);
        }
        const int64_t end = (head + 1) * rows_each;
        for (int64_t row = head * rows_each; row < end;) {
            const int count = is_finite ? (int) std::min<int64_t>(QUERIES, end - row) : 1;
            if (seen_by_rows(row, count, block)) {
                const float * weights = scores.data() + row * step + block * BLOCK;
                if (is_direct(c->v)) {
                    const int64_t apart = c->v->nb[1] / sizeof(ggml_fp16_t);
                    add_block((const ggml_fp16_t *) first, apart, count, cells, weights, sums + row * c->dv);
                } else {
                    add_block((const float *) room.data(), c->dv, count, cells, weights, sums + row * c->dv);
                }
            }
            row += count;
        }
    }

    template <class T>
    void add_block(const T * values, int64_t apart, int count, int cells, const float * weights, float * sums) const {
        if (!is_finite) {  // zero times infinity must not reach a row that does not see it
            for (int i = 0; i < cells; i++) {
                if (weights[i] != 0.0f) {
                    add_cells<1>(values + i * apart, apart, 1, weights + i, sums);
                }
            }
            return;
        }
        switch (count) {
#if defined(ATTENTION_512)
            case 6: add_cells<6>(values, apart, cells, weights, sums); break;
            case 5: add_cells<5>(values, apart, cells, weights, sums); break;
#endif
#if !defined(ATTENTION_256)
            case 4: add_cells<4>(values, apart, cells, weights, sums); break;
#endif
            case 3: add_cells<3>(values, apart, cells, weights, sums); break;
            case 2: add_cells<2>(values, apart, cells, weights, sums); break;
            default: add_cells<1>(values, apart, cells, weights, sums); break;
        }
    }

    template <int COUNT, class T>
    void add_cells(const T * values, int64_t apart, int cells, const float * weights, float * sums) const {
        int64_t i = 0;
        for (; i + STRIPS * WIDTH <= c->dv; i += STRIPS * WIDTH) {
            add_values<COUNT, STRIPS>(values + i, apart, cells, weights, step, sums + i, c->dv);
        }
        for (; i + 2 * WIDTH <= c->dv; i += 2 * WIDTH) {
            add_values<COUNT, 2>(values + i, apart, cells, weights, step, sums + i, c->dv);
        }
        for (; i < c->dv; i += WIDTH) {
            add_values<COUNT, 1>(values + i, apart, cells, weights, step, sums + i, c->dv);
        }
    }

    const call * c;
    int64_t head_0, num_heads, token_0, num_tokens, cell_0, num_cells;
    int64_t blocks, step, rows_each;
    std::vector<float> scores;      // of each row, `step` apart; then its weights
    std::vector<uint8_t> sees;      // of each token, `blocks` apart
    std::vector<float> peaks;       // of each head of keys and each token
    std::vector<float> room;        // a block's keys or values in f32
    const ggml_fp16_t * at[BLOCK];  // or where its keys are
    bool is_finite;                 // all values that any token might see
};

// The greatest score, a head's sink among them, a score without a value (arXiv 2309.17453).
inline float with_sink(const call & c, int64_t head, float most) {
    return c.sinks == nullptr ? most : std::max(most, ((const float *) c.sinks->data)[head]);
}

inline int64_t weight_of_sink(const call & c, int64_t head, float most) {
    return c.sinks == nullptr ? 0 : (int64_t) (expf(((const float *) c.sinks->data)[head] - most) * UNIT);
}

inline float as_sum(int64_t units) { return (float) ((double) units / UNIT); }

// What a row's weighted sums give: `sums` of each of `count` threads, `step` apart, that all began at `begun`.
inline void finish_row(const call & c, const part & p, int64_t row, const float * sums, int64_t step, int count, float begun,
                       float sum) {
    float * out = c.out(p.token_of(row), p.head_of(row), p.stream);
    const lanes begin = all(-begun), factor = all(sum > 0.0f ? 1.0f / sum : 0.0f);
    for (int64_t i = 0; i < c.dv; i += WIDTH) {
        lanes total = add(load(sums + i), begin);
        for (int t = 1; t < count; t++) {
            total = add(total, add(load(sums + t * step + i), begin));
        }
        store(out + i, times(total, factor));
    }
}

struct unit {  // what a thread does without waiting for others: all cells of some heads and tokens
    int64_t stream, head_0, num_heads, token_0, num_tokens;
};

inline void alone(const call & c, const unit & u) {
    struct row_state {
        float begun, sum;
    };
    static thread_local part p;
    static thread_local std::vector<float> sums;
    static thread_local std::vector<row_state> states;
    p.begin(c, u.stream, u.head_0, u.num_heads, u.token_0, u.num_tokens, 0, c.cells);
    p.read_keys();
    sums.resize(std::max(sums.size(), (size_t) (p.rows * c.dv)));
    states.resize(std::max(states.size(), (size_t) p.rows));
    for (int64_t row = 0; row < p.rows; row++) {
        const float most = with_sink(c, p.head_of(row), p.greatest_score[row]);
        const float sum = as_sum(p.weigh(row, most) + weight_of_sink(c, p.head_of(row), most));
        states[row] = {beginning(sum, p.peak_of_row(row)), sum};
        std::fill_n(sums.data() + row * c.dv, c.dv, states[row].begun);
    }
    p.read_values(sums.data());
    for (int64_t row = 0; row < p.rows; row++) {
        finish_row(c, p, row, sums.data() + row * c.dv, 0, 1, states[row].begun, states[row].sum);
    }
}

struct shared_row {  // what a thread found of a row in its cells
    float most, peak;
    int64_t sum;
};

inline size_t shared_bytes(const call & c, int num_threads) {
    return num_threads * c.heads * c.tokens * (sizeof(shared_row) + c.dv * sizeof(float));
}

// All rows, of whose cells each thread takes some.
inline void by_cells(const call & c, const ggml_compute_params * params) {
    static thread_local part p;
    const int nth = params->nth, ith = params->ith;
    const int64_t rows = c.heads * c.tokens;
    const int64_t blocks = (c.cells + BLOCK - 1) / BLOCK, each = (blocks + nth - 1) / nth * BLOCK;
    const int64_t first = std::min(ith * each, c.cells), last = std::min(first + each, c.cells);
    shared_row * shared = (shared_row *) params->wdata;       // [thread][row]
    float * sums = (float *) (shared + nth * rows);           // [thread][row][dv]
    p.begin(c, 0, 0, c.kv_heads, 0, c.tokens, first, last);
    p.read_keys();
    for (int64_t row = 0; row < rows; row++) {
        shared[ith * rows + row] = {p.greatest_score[row], p.peak_of_row(row), 0};
    }
    ggml_barrier(params->threadpool);
    const auto most_of = [&](int64_t row) {
        float most = -INFINITY;
        for (int t = 0; t < nth; t++) {
            const float own = shared[t * rows + row].most;
            most = own > most || own != own ? own : most;
        }
        return with_sink(c, p.head_of(row), most);
    };
    for (int64_t row = 0; row < rows; row++) {
        shared[ith * rows + row].sum = p.weigh(row, most_of(row));
    }
    ggml_barrier(params->threadpool);
    const auto begun_of = [&](int64_t row, float & sum) {
        int64_t units = weight_of_sink(c, p.head_of(row), most_of(row));
        float peak = 0.0f;
        for (int t = 0; t < nth; t++) {
            units += shared[t * rows + row].sum;
            peak = std::max(peak, shared[t * rows + row].peak);
        }
        sum = as_sum(units);
        return beginning(sum, peak);
    };
    float sum;
    float * own = sums + ith * rows * c.dv;
    for (int64_t row = 0; row < rows; row++) {
        std::fill_n(own + row * c.dv, c.dv, begun_of(row, sum));
    }
    p.read_values(own);
    ggml_barrier(params->threadpool);
    for (int64_t row = ith; row < rows; row += nth) {
        const float begun = begun_of(row, sum);
        finish_row(c, p, row, sums + row * c.dv, rows * c.dv, nth, begun, sum);
    }
}

// How the work is cut: heads of keys and tokens that a thread takes at once.
struct cut {
    int64_t heads, tokens;
    double cost;  // of the thread that has most, in rows; widening a head's cells takes as long as about eight

    int64_t head_turns(const call & c) const { return (c.kv_heads + heads - 1) / heads; }
    int64_t token_turns(const call & c) const { return (c.tokens + tokens - 1) / tokens; }
    int64_t units(const call & c) const { return c.streams * head_turns(c) * token_turns(c); }
};

// So that scores stay in a thread's caches, threads have as much to do, and few rows read the cache from end to end.
inline cut best_cut(const call & c, int num_threads) {
    const int64_t rows = std::min<int64_t>(MOST_ROWS, std::max<int64_t>(2 * QUERIES, SCORES / c.cells));
    const int64_t most_tokens = std::min(std::max<int64_t>(1, rows / c.group), c.tokens);
    cut best{1, most_tokens, INFINITY};
    const auto consider = [&](int64_t heads, int64_t tokens) {
        cut one{heads, tokens, 0.0};
        const int64_t rounds = (one.units(c) + num_threads - 1) / num_threads;
        one.cost = (double) rounds * heads * (8 + tokens * c.group);
        best = one.cost < best.cost ? one : best;
    };
    const int64_t heads = (c.kv_heads + num_threads - 1) / num_threads;
    if (c.tokens * c.group <= 2 * QUERIES && c.streams == 1 && heads * c.tokens * c.group * c.cells <= MOST_SCORES) {
        consider(heads, c.tokens);
    }
    for (int64_t tokens = most_tokens; tokens >= std::max<int64_t>(1, most_tokens / 4); tokens--) {
        consider(1, tokens);
    }
    return best;
}

inline void compute(const call & c, const ggml_compute_params * params) {
    const cut best = best_cut(c, params->nth);
    // Three barriers take about as long as eight rows with 64 cells.
    const double together = (double) c.kv_heads * (8 + c.tokens * c.group) / params->nth + 8.0 * 64 / c.cells;
    if (params->nth > 1 && c.streams == 1 && c.tokens * c.group <= MOST_ROWS && together < best.cost &&
        c.heads * c.tokens * c.cells / params->nth <= MOST_SCORES && shared_bytes(c, params->nth) <= params->wsize) {
        by_cells(c, params);
        return;
    }
    const int64_t head_turns = best.head_turns(c), token_turns = best.token_turns(c), units = best.units(c);
    const auto one = [&](int64_t i) {
        const int64_t token_0 = i % token_turns * best.tokens, head_0 = i / token_turns % head_turns * best.heads;
        alone(c, {i / token_turns / head_turns, head_0, std::min(best.heads, c.kv_heads - head_0), token_0,
                  std::min(best.tokens, c.tokens - token_0)});
    };
    if (units <= params->nth) {
        if (params->ith < units) {
            one(params->ith);
        }
        return;
    }
    if (params->ith == 0) {
        ggml_threadpool_chunk_set(params->threadpool, params->nth);
    }
    ggml_barrier(params->threadpool);
    for (int64_t i = params->ith; i < units; i = ggml_threadpool_chunk_add(params->threadpool, 1)) {
        one(i);
    }
}

}  // namespace attention
}  // namespace

void ggml_compute_forward_flash_attn_ext(const struct ggml_compute_params * params, struct ggml_tensor * dst) {
    const attention::call c(dst);
    if (attention::is_ours(c)) {
        attention::compute(c, params);
    } else {
        ggml_compute_forward_flash_attn_ext_stock(params, dst);
    }
}

// llama.cpp's own definition, which follows, gets this name.
#define ggml_compute_forward_flash_attn_ext ggml_compute_forward_flash_attn_ext_stock

#endif
