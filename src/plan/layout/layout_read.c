/* The layout of a plan file, as plan_file.c writes it. */
#include "plan_file.h"

#include <string.h>

enum { DEGREE_MOST = 100000000 };

/* What the reader of a name said of it, with its place in the file. */
ridge_status plan_file_fail_name(ridge_ctx *cx, ridge_node n)
{
    const char *what =
        ridge_str_dup(ridge_ctx_scratch(cx), ridge_str_of(ridge_ctx_message(cx)));
    return ridge_json_fail(cx, n, "%s", what == NULL ? "unknown name" : what);
}

static ridge_status want_degree(ridge_ctx *cx, const ridge_node *o, const char *key,
                                int64_t low, int64_t high, int64_t *out)
{
    return ridge_json_want_i64(cx, ridge_json_get(o, key), low, high, out);
}

static ridge_status want_flag(ridge_ctx *cx, const ridge_node *o, const char *key,
                              bool *out)
{
    ridge_node n = ridge_json_get(o, key);
    if (!ridge_json_bool(n, out))
        return ridge_json_fail(cx, n, "expected true or false");
    return RIDGE_OK;
}

static ridge_status read_mesh(ridge_ctx *cx, const ridge_node *root, ridge_layout *l)
{
    static const char *const known[] = {"dp", "fsdp", "tp", "cp", "pp", "ep"};
    ridge_node mesh = ridge_json_get(root, "mesh");
    if (ridge_json_kind_of(mesh) != RIDGE_JSON_OBJECT) {
        return ridge_json_fail(cx, mesh,
                               "expected an object with dp, fsdp, tp, cp, pp, ep");
    }
    RIDGE_TRY(ridge_json_only(cx, mesh, known, RIDGE_COUNT_OF(known)));
    RIDGE_TRY(want_degree(cx, &mesh, "dp", 1, DEGREE_MOST, &l->dp));
    RIDGE_TRY(want_degree(cx, &mesh, "fsdp", 1, DEGREE_MOST, &l->fsdp));
    RIDGE_TRY(want_degree(cx, &mesh, "tp", 1, DEGREE_MOST, &l->tp));
    RIDGE_TRY(want_degree(cx, &mesh, "cp", 1, DEGREE_MOST, &l->cp));
    RIDGE_TRY(want_degree(cx, &mesh, "pp", 1, DEGREE_MOST, &l->pp));
    RIDGE_TRY(want_degree(cx, &mesh, "ep", 1, DEGREE_MOST, &l->ep));
    int64_t product = 1;
    const int64_t degrees[] = {l->dp, l->fsdp, l->tp, l->cp, l->pp};
    for (size_t i = 0; i < RIDGE_COUNT_OF(degrees); i++) {
        if (!ridge_mul_i64(product, degrees[i], &product) || product > DEGREE_MOST)
            return ridge_json_fail(cx, mesh, "the degrees multiply to too many chips");
    }
    return RIDGE_OK;
}

static ridge_status read_stage_layers(ridge_ctx *cx, const ridge_node *root,
                                      const char *key, int64_t *out)
{
    ridge_node n = ridge_json_get(root, key);
    *out = RIDGE_STAGE_EVEN;
    if (ridge_json_is_absent(n) || ridge_json_kind_of(n) == RIDGE_JSON_NULL)
        return RIDGE_OK;
    RIDGE_TRY(ridge_json_want_i64(cx, n, 0, DEGREE_MOST, out));
    if (*out == 0)
        *out = RIDGE_STAGE_NONE;
    return RIDGE_OK;
}

/* "none" of one stage is plain. */
static ridge_status read_schedule(ridge_ctx *cx, const ridge_node *root,
                                  ridge_layout *l)
{
    const char *text;
    ridge_node n = ridge_json_get(root, "schedule");
    l->schedule = RIDGE_SCHEDULE_1F1B;
    if (ridge_json_is_absent(n))
        return RIDGE_OK;
    RIDGE_TRY(ridge_json_want_text(cx, n, &text));
    if (strcmp(text, "none") == 0 || strcmp(text, "interleaved-1f1b") == 0)
        return RIDGE_OK;
    if (ridge_schedule_parse(cx, text, &l->schedule) != RIDGE_OK)
        return plan_file_fail_name(cx, n);
    if (l->schedule == RIDGE_SCHEDULE_INTERLEAVED)
        l->schedule = RIDGE_SCHEDULE_1F1B; /* with vpp */
    return RIDGE_OK;
}

static ridge_status read_overlaps(ridge_ctx *cx, const ridge_node *root,
                                  ridge_layout *l)
{
    for (int i = 0; i < RIDGE_OVERLAP_COUNT; i++) {
        ridge_overlap_kind kind = (ridge_overlap_kind)i;
        const char *key = ridge_overlap_kind_text(kind);
        bool is_on;
        if (ridge_json_is_absent(ridge_json_get(root, key)))
            continue;
        RIDGE_TRY(want_flag(cx, root, key, &is_on));
        ridge_layout_set_overlap(l, kind, is_on);
    }
    return RIDGE_OK;
}

/* NULL where there is none. */
static ridge_status find_text(ridge_ctx *cx, const ridge_node *root, const char *key,
                              ridge_node *node, const char **out)
{
    *node = ridge_json_get(root, key);
    *out = NULL;
    return ridge_json_is_absent(*node) ? RIDGE_OK
                                       : ridge_json_want_text(cx, *node, out);
}

static ridge_status read_optimizer(ridge_ctx *cx, const ridge_node *root,
                                   ridge_layout *l)
{
    const char *text;
    ridge_node n;
    RIDGE_TRY(find_text(cx, root, "optimizer", &n, &text));
    if (text != NULL && ridge_optimizer_parse(cx, text, &l->optimizer) != RIDGE_OK)
        return plan_file_fail_name(cx, n);
    RIDGE_TRY(find_text(cx, root, "lora_targets", &n, &text));
    if (text != NULL && ridge_lora_parse(cx, text, &l->lora.targets) != RIDGE_OK)
        return plan_file_fail_name(cx, n);
    n = ridge_json_get(root, "lora_rank");
    return ridge_json_is_absent(n)
               ? RIDGE_OK
               : ridge_json_want_i64(cx, n, 1, RIDGE_LORA_RANK_MOST, &l->lora.rank);
}

/* What plans of earlier versions lack. */
static ridge_status read_choices(ridge_ctx *cx, const ridge_node *root, ridge_layout *l)
{
    const char *text;
    RIDGE_TRY(read_schedule(cx, root, l));
    RIDGE_TRY(read_stage_layers(cx, root, "first_layers", &l->first_layers));
    RIDGE_TRY(read_stage_layers(cx, root, "last_layers", &l->last_layers));
    ridge_node n = ridge_json_get(root, "mtp");
    if (!ridge_json_is_absent(n))
        RIDGE_TRY(ridge_json_want_i64(cx, n, 0, RIDGE_MTP_MOST, &l->mtp));
    n = ridge_json_get(root, "remat_layers");
    if (!ridge_json_is_absent(n) && ridge_json_kind_of(n) != RIDGE_JSON_NULL)
        RIDGE_TRY(ridge_json_want_i64(cx, n, 0, DEGREE_MOST, &l->remat_layers));
    RIDGE_TRY(find_text(cx, root, "cp_exchange", &n, &text));
    if (text != NULL && ridge_cp_parse(cx, text, &l->cp_exchange) != RIDGE_OK)
        return plan_file_fail_name(cx, n);
    RIDGE_TRY(find_text(cx, root, "ep_dispatch", &n, &text));
    if (text != NULL && ridge_ep_dispatch_parse(cx, text, &l->ep_dispatch) != RIDGE_OK)
        return plan_file_fail_name(cx, n);
    RIDGE_TRY(find_text(cx, root, "offload", &n, &text));
    if (text != NULL && ridge_offload_parse(cx, text, &l->offload) != RIDGE_OK)
        return plan_file_fail_name(cx, n);
    RIDGE_TRY(read_optimizer(cx, root, l));
    return read_overlaps(cx, root, l);
}

ridge_status plan_file_read_layout(ridge_ctx *cx, const ridge_node *root,
                                   ridge_layout *l)
{
    int64_t zero;
    int64_t placement;
    const char *text;
    RIDGE_TRY(read_mesh(cx, root, l));
    RIDGE_TRY(want_degree(cx, root, "zero_stage", 0, 3, &zero));
    RIDGE_TRY(want_degree(cx, root, "placement_index", 0, RIDGE_PLACEMENT_MOST - 1,
                          &placement));
    RIDGE_TRY(want_degree(cx, root, "vpp", 1, 10000, &l->vpp));
    RIDGE_TRY(
        want_degree(cx, root, "microbatch_seqs", 1, DEGREE_MOST, &l->microbatch_seqs));
    l->zero_stage = (int)zero;
    l->placement = (int)placement;
    RIDGE_TRY(want_flag(cx, root, "sp", &l->has_sp));
    RIDGE_TRY(want_flag(cx, root, "tp_overlap", &l->has_tp_overlap));
    RIDGE_TRY(read_choices(cx, root, l));
    ridge_node n = ridge_json_get(root, "remat");
    RIDGE_TRY(ridge_json_want_text(cx, n, &text));
    if (ridge_remat_parse(cx, text, &l->remat) != RIDGE_OK) {
        if (ridge_remat_ops_parse(cx, text, &l->remat_ops) != RIDGE_OK)
            return plan_file_fail_name(cx, n);
        l->remat = (ridge_remat)RIDGE_REMAT_OPERATIONS;
    }
    n = ridge_json_get(root, "precision");
    RIDGE_TRY(ridge_json_want_text(cx, n, &text));
    if (ridge_precision_parse(cx, text, &l->precision) != RIDGE_OK)
        return plan_file_fail_name(cx, n);
    return RIDGE_OK;
}
