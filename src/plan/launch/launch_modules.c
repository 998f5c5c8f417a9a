#include "launch_modules.h"

#include <string.h>

/* What a module computes again; @source megatron-lm-2025, recompute_modules. "moe" is
 * not here: it repeats its exchanges too. */
static const struct {
    const char *name, *operations;
} modules[] = {{"core_attn", "o"},
               {"layernorm", "h+h_ffn"},
               {"mla_up_proj", "q+q_rope_raw+q_rope+k+v"},
               {"mlp", "gate+up+act"},
               {"moe_act", "rows_act"},
               {"shared_experts", "shared_g+shared_u+shared_act"}};

enum { MODULES = RIDGE_COUNT_OF(modules) };

/* Names of the table are of the list, so this does not fail. */
static ridge_remat_ops ops_of(size_t module)
{
    ridge_remat_ops all = 0;
    for (const char *at = modules[module].operations; *at != '\0';) {
        const size_t n = strcspn(at, "+");
        for (int i = 0; i < RIDGE_REMAT_OP_COUNT; i++) {
            const char *name = ridge_remat_op_text(i);
            if (strlen(name) == n && strncmp(name, at, n) == 0)
                all |= (ridge_remat_ops)1 << i;
        }
        at += at[n] == '\0' ? n : n + 1;
    }
    return all;
}

ridge_status launch_model_ops(ridge_ctx *cx, const ridge_model *model,
                              ridge_remat_ops *out)
{
    const ridge_program *program;
    const ridge_lowering how = {.phase = RIDGE_PHASE_TRAIN,
                                .sequences = 1,
                                .query_tokens = 128,
                                .context_tokens = 128,
                                .weight = RIDGE_DTYPE_BF16,
                                .activation = RIDGE_DTYPE_BF16,
                                .cache = RIDGE_DTYPE_BF16};
    RIDGE_TRY(ridge_program_lower(cx, model, &how, &program));
    *out = ridge_program_remat_ops(program);
    return RIDGE_OK;
}

static size_t find(const char *name, size_t n)
{
    size_t i = 0;
    while (i < MODULES &&
           (strlen(modules[i].name) != n || strncmp(modules[i].name, name, n) != 0))
        i++;
    return i;
}

bool launch_modules_ops(const char *text, ridge_remat_ops model, ridge_remat_ops *out)
{
    static const char *const apart = " ,[]'\"";
    ridge_remat_ops all = 0;
    int n_found = 0;
    for (const char *at = text + strspn(text, apart); *at != '\0'; n_found++) {
        const size_t n = strcspn(at, apart);
        const size_t module = find(at, n);
        if (module == MODULES)
            return false;
        all |= ops_of(module) & model;
        at += n;
        at += strspn(at, apart);
    }
    *out = all;
    return n_found > 0 && all != 0;
}

const char *launch_modules_text(ridge_ctx *cx, ridge_remat_ops model,
                                ridge_remat_ops ops)
{
    ridge_remat_ops told = 0;
    ridge_buf out;
    ridge_buf_init(&out, ridge_ctx_arena(cx));
    for (size_t i = 0; i < MODULES; i++) {
        const ridge_remat_ops own = ops_of(i) & model;
        if (own == 0 || (own & ~ops) != 0)
            continue;
        told |= own;
        ridge_buf_printf(&out, "%s%s", out.n == 0 ? "" : " ", modules[i].name);
    }
    return told == ops && ops != 0 ? ridge_buf_text(&out) : NULL;
}
