// One product of ggml's graph: product TYPE TOKENS ROWS REPEATS. Weights of 2048 columns lie where llama.cpp would put them,
// repacked where it has a layout for this processor. Writes the results, floats of each token in turn; products.py calls it.
#include "ggml-alloc.h"
#include "ggml-backend.h"
#include "ggml-cpu.h"
#include "ggml.h"

#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

static std::vector<float> noise(size_t count, uint32_t seed) {
    std::vector<float> values(count);
    for (float & value : values) {
        seed = seed * 1664525u + 1013904223u;
        value = ((seed >> 8) & 0xFFFF) / 32768.0f - 1.0f;
    }
    return values;
}

int main(int count, char ** words) {
    if (count != 5) {
        return 2;
    }
    const int columns = 2048, tokens = atoi(words[2]), rows = atoi(words[3]), repeats = atoi(words[4]);
    int type = 0;
    while (type < GGML_TYPE_COUNT && (!ggml_type_name((ggml_type) type) || std::string(words[1]) != ggml_type_name((ggml_type) type))) {
        type++;
    }
    if (type == GGML_TYPE_COUNT) {
        return 2;
    }
    ggml_backend_t backend = ggml_backend_cpu_init();
    ggml_backend_cpu_set_n_threads(backend, 1);
    ggml_backend_dev_t device = ggml_backend_get_device(backend);
    const ggml_init_params room = {1 << 20, nullptr, true};
    ggml_context *of_weights = ggml_init(room), *others = ggml_init(room);
    ggml_tensor * weights = ggml_new_tensor_2d(of_weights, (ggml_type) type, columns, rows);
    ggml_tensor * inputs = ggml_new_tensor_2d(others, GGML_TYPE_F32, columns, tokens);
    ggml_tensor * results = ggml_mul_mat(others, weights, inputs);
    ggml_cgraph * graph = ggml_new_graph(others);
    ggml_build_forward_expand(graph, results);
    ggml_backend_alloc_ctx_tensors(others, backend);
    const auto layouts = (ggml_backend_dev_get_extra_bufts_t) ggml_backend_reg_get_proc_address(
        ggml_backend_dev_backend_reg(device), "ggml_backend_dev_get_extra_bufts");
    bool is_placed = false;
    for (ggml_backend_buffer_type_t * layout = layouts(device); layout && *layout && !is_placed; layout++) {
        weights->buffer = ggml_backend_buft_alloc_buffer(*layout, 0);  // as llama.cpp asks
        const bool is_taken = ggml_backend_dev_supports_op(device, results);
        weights->buffer = nullptr;
        is_placed = is_taken && ggml_backend_alloc_ctx_tensors_from_buft(of_weights, *layout);
    }
    if (!is_placed) {
        ggml_backend_alloc_ctx_tensors(of_weights, backend);
    }
    std::vector<uint8_t> packed(ggml_nbytes(weights));
    ggml_quantize_chunk((ggml_type) type, noise((size_t) rows * columns, 1).data(), packed.data(), 0, rows, columns, nullptr);
    ggml_backend_tensor_set(weights, packed.data(), 0, packed.size());
    ggml_backend_tensor_set(inputs, noise((size_t) tokens * columns, 2).data(), 0, ggml_nbytes(inputs));
    for (int i = 0; i < repeats; i++) {
        ggml_backend_graph_compute(backend, graph);
    }
    std::vector<float> found((size_t) tokens * rows);
    ggml_backend_tensor_get(results, found.data(), 0, ggml_nbytes(results));
    return fwrite(found.data(), sizeof(float), found.size(), stdout) == found.size() ? 0 : 1;
}
