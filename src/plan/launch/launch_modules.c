#include "launch_modules.h"

#include <string.h>

/* What a module computes again; @source megatron-lm-2025, recompute_modules. "moe" is
 * read only: it repeats its exchanges too. */
static const struct {
    const char *name, *operations;
} modules[] = {[LAUNCH_MODULE_MOE] = {"moe", "router_logits+gates+rows_gate+rows_up+"
                                             "rows_act+shared_g+shared_u+shared_act"},
               [LAUNCH_MODULE_CORE_ATTN] = {"core_attn", "o"},
               [LAUNCH_MODULE_LAYERNORM] = {"layernorm", "h+h_ffn"},
               [LAUNCH_MODULE_MLP] = {"mlp", "gate+up+act"},
               [LAUNCH_MODULE_MLA_UP] = {"mla_up_proj", "q+q_rope_raw+q_rope+k+v"},
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

ridge_str launch_modules_parse(const char *text, unsigned *out)
{
    static const char *const apart = " ,[]'\"";
    *out = 0;
    for (const char *at = text + strspn(text, apart); *at != '\0';) {
        const size_t n = strcspn(at, apart);
        const size_t module = find(at, n);
        if (module == MODULES)
            return (ridge_str){at, n};
        *out |= 1u << module;
        at += n;
        at += strspn(at, apart);
    }
    return (ridge_str){NULL, 0};
}

ridge_remat_ops launch_modules_ops(unsigned set)
{
    ridge_remat_ops all = 0;
    for (size_t i = 0; i < MODULES; i++)
        all |= (set >> i & 1) != 0 ? ops_of(i) : 0;
    return all;
}

/* Latent attention rotates a part of each query. */
static bool has_latents(ridge_remat_ops model)
{
    for (int i = 0; i < RIDGE_REMAT_OP_COUNT; i++) {
        if (strcmp(ridge_remat_op_text(i), "q_rope") == 0)
            return (model >> i & 1) != 0;
    }
    return false;
}

const char *launch_modules_text(ridge_ctx *cx, ridge_remat_ops model,
                                ridge_remat_ops ops)
{
    ridge_remat_ops told = 0;
    ridge_buf out;
    ridge_buf_init(&out, ridge_ctx_arena(cx));
    for (size_t i = 0; i < MODULES; i++) {
        const ridge_remat_ops own = ops_of(i) & model;
        if (i == LAUNCH_MODULE_MLA_UP && !has_latents(model))
            continue;
        if (i == LAUNCH_MODULE_MOE || own == 0 || (own & ~ops) != 0)
            continue;
        told |= own;
        ridge_buf_printf(&out, "%s%s", out.n == 0 ? "" : " ", modules[i].name);
    }
    return told == ops && ops != 0 ? ridge_buf_text(&out) : NULL;
}
