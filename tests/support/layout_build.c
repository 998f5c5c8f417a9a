#include "layout_build.h"

#include <string.h>

static int64_t degree(int64_t n)
{
    return n > 0 ? n : 1;
}

layout_build build_layout(ridge_ctx *cx, const ridge_model *model, int64_t sequences,
                          int64_t tokens, const ridge_parallelism *degrees,
                          const ridge_slice *slice)
{
    const ridge_lowering how = {.phase = RIDGE_PHASE_TRAIN,
                                .sequences = sequences,
                                .query_tokens = tokens,
                                .context_tokens = tokens,
                                .weight = RIDGE_DTYPE_BF16,
                                .activation = RIDGE_DTYPE_BF16,
                                .cache = RIDGE_DTYPE_BF16};
    ridge_parallelism all = *degrees;
    all.dp = degree(all.dp);
    all.fsdp = degree(all.fsdp);
    all.ep = degree(all.ep);
    all.cp = degree(all.cp);
    all.tp = degree(all.tp);
    const ridge_program *program = NULL;
    ridge_mesh mesh;
    const ridge_rule *rules = NULL;
    int n_rules = 0;
    layout_build out;
    assert_ok(cx, ridge_program_lower(cx, model, &how, &program));
    assert_ok(cx, ridge_parallelism_rules(cx, program, &all, &mesh, &rules, &n_rules));
    assert_ok(cx, ridge_partition_build(cx, program, &mesh, rules, n_rules, NULL, NULL,
                                        &out.partition));
    if (!ridge_laid_mesh_fill(slice, NULL, &mesh, &out.laid))
        fail_msg("the mesh does not lie on %s", slice->text);
    return out;
}

ridge_timeline build_timeline(ridge_ctx *cx, const layout_build *layout,
                              const ridge_overlap *overlap)
{
    ridge_timeline t;
    assert_ok(cx, ridge_timeline_build(cx, layout->partition, &layout->laid,
                                       RIDGE_DTYPE_BF16, overlap, &t));
    return t;
}

int build_block_find(const layout_build *layout, const char *name)
{
    const ridge_program *p = layout->partition->program;
    for (int i = 0; i < p->n_blocks; i++) {
        if (strcmp(p->blocks[i].name, name) == 0)
            return i;
    }
    fail_msg("no block %s", name);
    return -1;
}
