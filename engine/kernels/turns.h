// How the threads of llama.cpp share a product whose weights lie as the file has them, and what of them is fetched early. Knows
// nothing of kinds of weights and of sets of instructions: few_tokens_sgemm.h and few_tokens_arm_iq4_xs.h
// give it products.
#pragma once

#include "ggml-cpu-impl.h"

#include <cstdint>

namespace {  // of this file alone
namespace few_tokens {

constexpr int MOST_TURNS = 16;  // a thread's share of the rows is taken in so many turns: another program may hold it up

// What of the weights is read some blocks later, where rows are taken `at_once`: the processor alone is late at the beginning
// of each row. Beyond the last row fetching harms nothing. Few tokens get there sooner.
template <class B>
struct upcoming {
    int64_t far = 0, near = 0;  // blocks from the one at hand, where what comes is of the same turn, and where it is of the next
    int rest = 0, nb;
    bool is_wanted;

    upcoming(int64_t m, int64_t n, int nb, int64_t row_step, int64_t at_once) : nb(nb) {
        const int64_t row = (int64_t) sizeof(B) * nb, steps = (n > 4 ? 4608 : 9216) / (int64_t) sizeof(B) / at_once;
        is_wanted = row >= 256 || row * m >= 1 << 19;  // else it is a draft of a few weights, which are in the caches
        if (is_wanted) {  // so a row has a block, at least
            far = steps / nb * at_once * row_step + steps % nb;
            near = far + at_once * row_step - nb;
            rest = (int) (steps % nb);
        }
    }

    // Always inline: GCC leaves a call out whose function does nothing but fetch.
    __attribute__((always_inline)) inline void fetch(const B * row, int k) const {
        const char * place = (const char *) (row + (k + rest < nb ? far : near) + k);
#pragma GCC unroll 4
        for (size_t line = 0; line < sizeof(B); line += 64) {
            __builtin_prefetch(place + line);
        }
    }
};

template <class P>
inline int64_t rounded(int64_t rows) {
    return (rows + P::ROWS - 1) / P::ROWS * P::ROWS;
}

template <class P, class A>
inline void some_rows(int64_t first, int64_t last, int nb, float * out, int64_t ldc, const typename P::block * rows,
                      int64_t lda, const upcoming<typename P::block> & next, const A & all, int64_t n) {
    int64_t row = first;
    for (; (n > P::ALONE || !next.is_wanted) && row + P::ROWS <= last; row += P::ROWS) {
        P::template some_tokens<P::ROWS>(nb, out + row, ldc, rows + row * lda, lda, next, all, n);
    }
    for (; row < last; row++) {
        P::template some_tokens<1>(nb, out + row, ldc, rows + row * lda, lda, next, all, n);
    }
}

// C, n tokens of m results, `ldc` floats apart, from A, m rows of k blocks, and B, n tokens, `lda` and `ldb` apart.
template <class P>
inline void multiply(const struct ggml_compute_params * params, int64_t m, int64_t n, int64_t k, const void * A,
                     int64_t lda, const void * B, int64_t ldb, void * C, int64_t ldc) {
    const int nb = (int) k;
    const typename P::block * rows = (const typename P::block *) A;
    const typename P::tokens * tokens = (const typename P::tokens *) B;
    const upcoming<typename P::block> next(m, n, nb, lda, n > P::ALONE ? P::ROWS : 1);
    if (m * k < P::LARGE) {  // waiting for each other would take longer than what can hold one up
        const int64_t share = rounded<P>((m + params->nth - 1) / params->nth), first = params->ith * share;
        if (first < m) {
            const auto all = P::prepare(tokens, ldb, n, nb);
            some_rows<P>(first, first + share < m ? first + share : m, nb, (float *) C, ldc, rows, lda, next, all, n);
        }
        return;
    }
    if (params->ith == 0) {  // each thread begins with the turn of its own number
        ggml_threadpool_chunk_set(params->threadpool, params->nth);
    }
    ggml_barrier(params->threadpool);
    const auto all = P::prepare(tokens, ldb, n, nb);
    const int64_t turns = (int64_t) params->nth * MOST_TURNS;
    const int64_t rows_a_turn = rounded<P>((m + turns - 1) / turns);
    for (int64_t turn = params->ith; turn * rows_a_turn < m; turn = ggml_threadpool_chunk_add(params->threadpool, 1)) {
        const int64_t first = turn * rows_a_turn, last = first + rows_a_turn < m ? first + rows_a_turn : m;
        some_rows<P>(first, last, nb, (float *) C, ldc, rows, lda, next, all, n);
    }
    ggml_barrier(params->threadpool);  // the next product counts its turns anew
}

}  // namespace few_tokens
}  // namespace
