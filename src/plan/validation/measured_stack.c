/* Software of a measured row. */
#include "measured_row.h"
#include "measured_words.h"

#include <string.h>

enum { ZERO_ALL = 3 }; /* the stage that shards weights too */

/* Where a row is silent, the habit of its software; with a single rank of data there is
 * nothing to shard. */
static ridge_status follow_precision(ridge_ctx *cx, const measured_row *row,
                                     const ridge_stack_practice *practice,
                                     ridge_train_request *r)
{
    if (practice->precision == NULL || measured_text(&row->plan, "precision") != NULL)
        return RIDGE_OK;
    return ridge_precision_parse(cx, practice->precision, &r->knobs.precision);
}

static void follow_practice(const ridge_stack_practice *practice,
                            ridge_train_request *r)
{
    ridge_knobs *k = &r->knobs;
    if (k->has_sp < 0 && k->tp > 1 && practice->has_sp >= 0)
        k->has_sp = practice->has_sp;
    if (k->overlap[RIDGE_OVERLAP_EP] == RIDGE_FLAG_FREE && k->ep > 1 &&
        practice->has_ep_overlap >= 0)
        k->overlap[RIDGE_OVERLAP_EP] = practice->has_ep_overlap;
    if (k->remat < 0 && practice->remat >= 0)
        k->remat = practice->remat;
    if (k->zero_stage >= 0 || practice->zero_stage < 0 || k->tp <= 0 || k->pp <= 0)
        return;
    const int64_t data = measured_data_ranks(k, r->slice);
    k->zero_stage = practice->zero_stage;
    k->fsdp = k->zero_stage > 0 ? data : 1;
    k->dp = data / k->fsdp;
    if (data == 1)
        k->zero_stage = 0;
}

static const char *or_empty(const char *text)
{
    return text == NULL ? "" : text;
}

/* The title of a source, and where in it the row stands ("container 26.06"); else its
 * address ("pytorch/torchtitan"); else what is noted of the row. And what the row
 * itself says of its software, "eager", or the model for which that software has its
 * own. NULL where nothing tells. */
static ridge_status find_by_source(ridge_ctx *cx, const ridge_catalog *catalog,
                                   const measured_row *row, const ridge_chip *chip,
                                   const ridge_stack **out)
{
    ridge_node source = ridge_json_get(&row->root, "source");
    const char *where = or_empty(measured_text(&source, "where"));
    const char *note = or_empty(measured_text(&row->root, "note"));
    const char *texts[] = {
        ridge_sprintf(ridge_ctx_arena(cx), "%s; %s", row->source, where),
        or_empty(measured_text(&source, "url_or_repo")), note};
    const char *own = ridge_sprintf(ridge_ctx_arena(cx), "%s; %s; %s", where, note,
                                    or_empty(row->model_name));
    const ridge_stack *found = NULL;
    if (texts[0] == NULL || own == NULL)
        return ridge_fail_nomem(cx);
    for (size_t i = 0; i < RIDGE_COUNT_OF(texts) && found == NULL; i++)
        found = ridge_stack_of_run(catalog, chip, texts[i]);
    *out = found == NULL ? NULL : ridge_stack_variant_of_run(catalog, found, chip, own);
    return RIDGE_OK;
}

/* What most runs on such chips use. */
static void assume_usual(const ridge_catalog *catalog, measured_gaps *gaps,
                         ridge_train_request *r)
{
    const ridge_knobs *k = &r->knobs;
    r->stack = ridge_stack_usual(catalog, r->slice->chip,
                                 k->zero_stage == ZERO_ALL && k->pp <= 1);
    measured_assume(gaps, "software");
}

/* Kernels that its software of those years had not, or had and were not used. */
static ridge_status follow_attention(ridge_ctx *cx, const measured_row *row,
                                     ridge_train_request *r)
{
    int said;
    if (!measured_attention_word(measured_text(&row->model, "attention"), &said) ||
        (ridge_attention_kernel)said == r->stack->attention)
        return RIDGE_OK;
    ridge_stack *own = ridge_new(ridge_ctx_arena(cx), ridge_stack, 1);
    if (own == NULL)
        return ridge_fail_nomem(cx);
    *own = *r->stack;
    own->attention = (ridge_attention_kernel)said;
    r->stack = own;
    return RIDGE_OK;
}

/* Formats of gradients, weights and moments, which rows seldom state. */
static void follow_formats(const ridge_stack *stack, ridge_knobs *k)
{
    if (k->precision != RIDGE_PRECISION_BF16)
        return;
    if (stack->has_half_gradients)
        k->precision = RIDGE_PRECISION_BF16_REDUCE;
    if (!stack->has_half_state)
        return;
    k->precision = RIDGE_PRECISION_BF16_PURE;
    if (k->optimizer == RIDGE_OPTIMIZER_ADAMW)
        k->optimizer = RIDGE_OPTIMIZER_ADAMW_BF16;
}

ridge_status measured_stack(ridge_ctx *cx, const ridge_catalog *catalog,
                            const measured_row *row, measured_gaps *gaps,
                            ridge_train_request *r)
{
    const char *stated = measured_text(&row->plan, "stack");
    if (stated != NULL) {
        RIDGE_TRY(ridge_stack_find(cx, catalog, stated, &r->stack));
    } else {
        RIDGE_TRY(find_by_source(cx, catalog, row, r->slice->chip, &r->stack));
        if (r->stack == NULL)
            assume_usual(catalog, gaps, r);
    }
    if (r->stack == NULL)
        return RIDGE_OK;
    RIDGE_TRY(follow_precision(cx, row, &r->stack->practice, r));
    follow_practice(&r->stack->practice, r);
    RIDGE_TRY(follow_attention(cx, row, r));
    follow_formats(r->stack, &r->knobs);
    return RIDGE_OK;
}

void measured_mtp(ridge_ctx *cx, const ridge_library *library, const measured_row *row,
                  ridge_train_request *r)
{
    const ridge_node source = ridge_json_get(&row->root, "source");
    const char *where = measured_text(&source, "where");
    const bool is_without = where != NULL && strstr(where, "w/o MTP") != NULL;
    if (r->stack == NULL || r->stack->practice.mtp <= 0 || is_without ||
        r->model->n_mtp_kinds == 0)
        return;
    const int64_t depth = measured_mtp_depth(cx, library, row);
    r->knobs.mtp = depth <= RIDGE_MTP_MOST ? (int)depth : 0;
}
