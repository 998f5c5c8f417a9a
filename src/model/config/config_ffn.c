/* The feed-forward part of a layer: widths, gating, biases, experts. */
#include "config.h"

#include <math.h>
#include <string.h>

/* Llama's rule: two thirds of 4 D, times a factor, rounded up to a multiple.
 * @source touvron2023-llama, the released code's feed-forward width */
static ridge_status round_width(const ridge__config *c, int64_t full,
                                const char *factor_key, const char *multiple_key,
                                int64_t *out)
{
    double factor = 1;
    int64_t multiple = 256;
    ridge_node f = ridge__config_find(c, factor_key);
    ridge_node m = ridge__config_find(c, multiple_key);
    if (!ridge_json_is_absent(f))
        RIDGE_TRY(ridge_json_want_double(c->cx, f, 1e-3, 1e3, &factor));
    if (!ridge_json_is_absent(m))
        RIDGE_TRY(ridge_json_want_i64(c->cx, m, 1, 1000000, &multiple));
    const int64_t two_thirds = 2 * full / 3;
    int64_t width = (int64_t)floor(factor * (double)two_thirds);
    *out = ridge_ceil_div(width < 1 ? 1 : width, multiple) * multiple;
    return RIDGE_OK;
}

/* Width where no name states it, or where the name means something else. */
static ridge_status derive_width(const ridge__config *c, int64_t *out)
{
    ridge_node ratio = ridge__config_find(c, "expansion_ratio");
    int64_t n = 4;
    bool is_adjusted;
    ridge_node block = ridge__config_find(c, "block_ff_dim");
    if (!ridge_json_is_absent(block)) {
        RIDGE_TRY(ridge_json_want_i64(c->cx, block, 1, 100000000, out));
        RIDGE_TRY(
            ridge__config_flag(c, "block_auto_adjust_ff_dim", true, &is_adjusted));
        return is_adjusted ? round_width(c, *out, "block_ffn_dim_multiplier",
                                         "block_multiple_of", out)
                           : RIDGE_OK;
    }
    if (ridge__arch_has(c, RIDGE__A_NATIVE)) {
        return round_width(c, 4 * c->model->d_model, "ffn_dim_multiplier",
                           "multiple_of", out);
    }
    if (!ridge__arch_has(c, RIDGE__A_WIDE_FF))
        return RIDGE_OK;
    if (!ridge_json_is_absent(ratio))
        RIDGE_TRY(ridge_json_want_i64(c->cx, ratio, 1, 1000, &n));
    *out = n * c->model->d_model;
    return RIDGE_OK;
}

static ridge_status read_width(ridge__config *c, const ridge__choice *choice,
                               int64_t *out)
{
    int64_t derived = 0;
    ridge__field field =
        ridge__has_encoder(c, choice) ? RIDGE__F_ENCODER_D_FF : RIDGE__F_D_FF;
    RIDGE_TRY(derive_width(c, &derived));
    if (derived > 0) {
        RIDGE_TRY(ridge__config_get(c, field, derived, out));
    } else {
        RIDGE_TRY(ridge__config_usual(c, field, c->arch->dims.d_ff, out));
    }
    if (ridge__arch_has(c, RIDGE__A_HALF_FF))
        *out /= 2;
    return RIDGE_OK;
}

/* "gated-gelu" of T5 and the like; T5's plain relu has two matrices. */
static ridge_status read_form(ridge__config *c, ridge_ffn *f)
{
    const char *form = ridge__config_text(c, "feed_forward_proj", "");
    f->is_gated = !ridge__arch_has(c, RIDGE__A_NOT_GATED) ||
                  strncmp(form, "gated", strlen("gated")) == 0;
    return ridge__config_switch(c, c->arch->mlp_bias_key, RIDGE__A_MLP_BIAS,
                                &f->has_bias);
}

static ridge_status read_shared(ridge__config *c, ridge_ffn *f)
{
    const int64_t one = ridge__arch_has(c, RIDGE__A_SHARED_ONE) ? 1 : 0;
    int64_t width;
    RIDGE_TRY(ridge__config_get(c, RIDGE__F_SHARED_EXPERTS, one, &f->shared_experts));
    RIDGE_TRY(ridge__config_get(c, RIDGE__F_SHARED_D_FF, 0, &width));
    if (width > 0 && f->shared_experts == 0)
        f->shared_experts = 1;
    f->shared_d_ff = width > 0 ? width : f->shared_experts * f->expert_d_ff;
    f->has_shared_gate = f->shared_d_ff > 0 && ridge__arch_has(c, RIDGE__A_SHARED_GATE);
    return RIDGE_OK;
}

/* A bias of the router: of its matmul, or the correction that balances the load. */
static ridge_status read_router(ridge__config *c, const ridge__choice *choice,
                                ridge_ffn *f)
{
    static const char *const KEYS[] = {"use_moe_router_bias", "use_routing_bias",
                                       "use_expert_bias", "moe_use_aux_free"};
    bool has_bias = ridge__arch_has(c, RIDGE__A_ROUTER_BIAS) ||
                    strcmp(ridge__config_text(c, "topk_method", ""), "noaux_tc") == 0 ||
                    strcmp(ridge__config_text(c, "score_func", ""), "sigmoid") == 0;
    for (size_t i = 0; i < RIDGE_COUNT_OF(KEYS); i++)
        RIDGE_TRY(ridge__config_flag(c, KEYS[i], has_bias, &has_bias));
    f->has_router_bias = has_bias && !choice->has_hash_route;
    return RIDGE_OK;
}

/* A token may choose its experts in some of their groups alone: those on few nodes. One
 * group, or all of them, is no limit. */
static ridge_status read_groups(ridge__config *c, ridge_ffn *f)
{
    int64_t groups, chosen;
    RIDGE_TRY(ridge__config_get(c, RIDGE__F_EXPERT_GROUPS, 0, &groups));
    RIDGE_TRY(ridge__config_get(c, RIDGE__F_GROUPS_PER_TOKEN, 0, &chosen));
    if (groups <= 1 || chosen <= 0 || chosen == groups)
        return RIDGE_OK;
    if (chosen > groups || f->experts % groups != 0) {
        return ridge_json_fail(c->cx, c->text,
                               "%lld of %lld groups of %lld experts: groups are equal, "
                               "and no more are chosen than there are",
                               (long long)chosen, (long long)groups,
                               (long long)f->experts);
    }
    f->expert_groups = groups;
    f->groups_per_token = chosen;
    return RIDGE_OK;
}

static ridge_status read_experts(ridge__config *c, const ridge__choice *choice,
                                 ridge_ffn *f)
{
    f->kind = RIDGE_FFN_MOE;
    RIDGE_TRY(ridge__config_need(c, RIDGE__F_EXPERTS, &f->experts));
    RIDGE_TRY(ridge__config_need(c, RIDGE__F_EXPERTS_PER_TOKEN, &f->experts_per_token));
    if (f->experts_per_token > f->experts) {
        return ridge_json_fail(c->cx, c->text, "%lld of %lld experts chosen per token",
                               (long long)f->experts_per_token, (long long)f->experts);
    }
    RIDGE_TRY(ridge__config_get(c, RIDGE__F_EXPERT_D_FF, 0, &f->expert_d_ff));
    if (f->expert_d_ff == 0)
        RIDGE_TRY(read_width(c, choice, &f->expert_d_ff));
    RIDGE_TRY(ridge__config_get(c, RIDGE__F_LATENT_WIDTH, 0, &f->latent_width));
    RIDGE_TRY(read_groups(c, f));
    RIDGE_TRY(read_shared(c, f));
    return read_router(c, choice, f);
}

/* Gemma 4 E2B: layers that borrow keys and values are twice as wide instead. */
static ridge_status widen(const ridge__config *c, const ridge__choice *choice,
                          ridge_ffn *f)
{
    bool is_wide;
    RIDGE_TRY(ridge__config_flag(c, "use_double_wide_mlp", false, &is_wide));
    if (is_wide && choice->has_shared_kv)
        f->d_ff *= 2;
    return RIDGE_OK;
}

static ridge_status read_dense(ridge__config *c, const ridge__choice *choice,
                               ridge_ffn *f)
{
    int64_t width;
    f->kind = RIDGE_FFN_DENSE;
    RIDGE_TRY(ridge__config_get(c, RIDGE__F_DENSE_D_FF, 0, &width));
    if (width == 0 && choice->feed == RIDGE__FEED_DENSE) {
        /* Hybrids without experts call their dense branch shared. */
        int64_t shared, experts;
        RIDGE_TRY(ridge__config_get(c, RIDGE__F_SHARED_D_FF, 0, &shared));
        RIDGE_TRY(ridge__config_get(c, RIDGE__F_EXPERTS, -1, &experts));
        width = experts == 0 ? shared : 0;
    }
    if (width > 0) {
        f->d_ff = width;
        return RIDGE_OK;
    }
    RIDGE_TRY(read_width(c, choice, &f->d_ff));
    return widen(c, choice, f);
}

/* Gemma 4 has a dense branch beside its experts, Arctic one as wide as the model. */
static ridge_status read_dense_branch(ridge__config *c, const ridge__choice *choice,
                                      ridge_ffn *f)
{
    bool has_both;
    RIDGE_TRY(ridge__config_flag(c, "parallel_attn_mlp_res", false, &has_both));
    if (has_both)
        f->d_ff = c->model->d_model;
    RIDGE_TRY(ridge__config_flag(c, "enable_moe_block", false, &has_both));
    return has_both ? read_width(c, choice, &f->d_ff) : RIDGE_OK;
}

ridge_status ridge__config_ffn(ridge__config *c, const ridge__choice *choice,
                               ridge_ffn *out)
{
    memset(out, 0, sizeof *out);
    if (choice->feed == RIDGE__FEED_NONE)
        return RIDGE_OK;
    RIDGE_TRY(read_form(c, out));
    if (choice->feed == RIDGE__FEED_DENSE)
        return read_dense(c, choice, out);
    RIDGE_TRY(read_experts(c, choice, out));
    return read_dense_branch(c, choice, out);
}
