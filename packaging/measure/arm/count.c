/* A plugin of qemu's emulation (its interface 1, which qemu 4.2 and later take up to 8): counts the instructions that an
 * AArch64 program executes, and tells at the end: all, those on vectors and floats, loads and stores. The declarations are
 * those of qemu-plugin.h, which Debian does not package. */
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct qemu_plugin_tb;
struct qemu_plugin_insn;
extern void qemu_plugin_register_vcpu_tb_trans_cb(uint64_t id, void (*on_block)(uint64_t, struct qemu_plugin_tb *));
extern void qemu_plugin_register_vcpu_tb_exec_inline(struct qemu_plugin_tb *block, int add_u64, void *sum, uint64_t value);
extern void qemu_plugin_register_atexit_cb(uint64_t id, void (*on_exit)(uint64_t, void *), void *data);
extern size_t qemu_plugin_tb_n_insns(const struct qemu_plugin_tb *block);
extern struct qemu_plugin_insn *qemu_plugin_tb_get_insn(const struct qemu_plugin_tb *block, size_t index);
extern const void *qemu_plugin_insn_data(const struct qemu_plugin_insn *instruction);

int qemu_plugin_version = 1;
static uint64_t sums[3];

static void on_block(uint64_t id, struct qemu_plugin_tb *block) {
    uint64_t counts[3] = {qemu_plugin_tb_n_insns(block), 0, 0};
    (void) id;
    for (size_t i = 0; i < counts[0]; i++) {
        const uint32_t word = *(const uint32_t *) qemu_plugin_insn_data(qemu_plugin_tb_get_insn(block, i));
        const unsigned group = word >> 25 & 15; /* the architecture's manual, "Top-level encodings for A64" */
        counts[1] += (group & 7) == 7;
        counts[2] += (group & 5) == 4;
    }
    for (int i = 0; i < 3; i++) {
        qemu_plugin_register_vcpu_tb_exec_inline(block, 0, sums + i, counts[i]);
    }
}

static void on_exit_of_program(uint64_t id, void *data) {
    (void) id, (void) data;
    fprintf(stderr, "executed %lu %lu %lu\n", (unsigned long) sums[0], (unsigned long) sums[1], (unsigned long) sums[2]);
}

int qemu_plugin_install(uint64_t id, const void *info, int argc, char **argv) {
    (void) info, (void) argc, (void) argv;
    qemu_plugin_register_vcpu_tb_trans_cb(id, on_block);
    qemu_plugin_register_atexit_cb(id, on_exit_of_program, NULL);
    return 0;
}
