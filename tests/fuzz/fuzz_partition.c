/* Any program that can be read is partitioned under rules drawn from its own text, or
 * is refused with one line. */
#include "ridge/shard.h"

#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { RULES_MOST = 12 };

/* A number from the text, the same each time. */
static unsigned draw(const uint8_t *data, size_t n, unsigned *at)
{
    *at = *at * 1103515245u + 12345u + (n > 0 ? data[*at % n] : 0u);
    return *at >> 8;
}

static ridge_rule draw_rule(const ridge_program *p, const uint8_t *data, size_t n,
                            unsigned *at)
{
    static const char *const AXES[] = {"x", "y", "z"};
    ridge_rule rule = {.role = (ridge_role)(draw(data, n, at) % 6),
                       .dim = p->dims[draw(data, n, at) % (unsigned)p->n_dims].name,
                       .n_axes = 1 + (int)(draw(data, n, at) % 2)};
    const unsigned first = draw(data, n, at) % 3;
    rule.axes[0] = AXES[first];
    rule.axes[1] = AXES[(first + 1) % 3];
    return rule;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    ridge_ctx *cx = ridge_ctx_open_budget((size_t)1 << 26);
    const ridge_program *p = NULL;
    const ridge_partition *out = NULL;
    ridge_mesh mesh;
    const ridge_str text = {(const char *)data, size};
    if (!cx)
        return 0;
    if (ridge_program_parse(cx, text, "fuzz", &p) == RIDGE_OK && p->n_dims > 0 &&
        ridge_mesh_parse(cx, "x=2,y=3,z=2", &mesh) == RIDGE_OK) {
        ridge_rule rules[RULES_MOST];
        unsigned at = 1;
        for (int i = 0; i < RULES_MOST; i++)
            rules[i] = draw_rule(p, data, size, &at);
        if (ridge_partition_build(cx, p, &mesh, rules, RULES_MOST, NULL, NULL, &out) !=
                RIDGE_OK &&
            ridge_ctx_message(cx)[0] == 0)
            __builtin_trap();
    }
    if (out) {
        ridge_buf written;
        ridge_buf_init(&written, ridge_ctx_arena(cx));
        ridge_partition_write(out, &written);
        for (int t = 0; t < out->program->n_tensors; t++) {
            if (ridge_sharding_fault(ridge_ctx_arena(cx), &mesh, &out->shardings[t]))
                __builtin_trap();
        }
    }
    ridge_ctx_close(cx);
    return 0;
}
