/*
 * One file of data/stacks.
 *
 * Members: name, full_name; base (optional: another stack, whose members hold unless
 * given again; factors are merged chip by chip, aliases, runs and variants are not
 * inherited); aliases; runs (words of titles of sources whose runs used it); variant_of
 * and told_by (runs of that stack that used this one have one of these words); told_on
 * (chips on which such words mean it); vendors
 * (of the chips that it runs on; all where there are none); usual_on (vendors on whose
 * chips most runs use it, or names of chips; not inherited); attention (flash,
 * unfused); practice {sp, zero, remat, mtp, ep_overlap, precision}; the flags
 * has_tp_overlap, has_send_overlap, has_half_gradients, has_half_state,
 * dispatches_once, broadcasts_updates, splits_sends, has_two_gradients, gathers_stage;
 * facts range_low, range_high, range_rows, stream_passes, gated_passes, kept_passes,
 * logit_bytes, selective_matmuls, experts_half_width, experts_host_s, call_s,
 * launches_s, shard_copy_bytes; factors matmul_time, fp8_time, fp4_time, attention_time
 * {chip: fact}. An unknown member is an error.
 */
#include "stack_read.h"

#include <string.h>

#include "fact_read.h"

static const char *const members[] = {"name",
                                      "full_name",
                                      "aliases",
                                      "base",
                                      "runs",
                                      "variant_of",
                                      "told_by",
                                      "told_on",
                                      "vendors",
                                      "usual_on",
                                      "is_usual_sharded",
                                      "attention",
                                      "practice",
                                      "has_tp_overlap",
                                      "has_send_overlap",
                                      "has_half_gradients",
                                      "has_half_state",
                                      "dispatches_once",
                                      "broadcasts_updates",
                                      "splits_sends",
                                      "has_two_gradients",
                                      "gathers_stage",
                                      "gated_passes",
                                      "range_low",
                                      "range_high",
                                      "range_rows",
                                      "kept_passes",
                                      "logit_bytes",
                                      "stream_passes",
                                      "selective_matmuls",
                                      "experts_half_width",
                                      "experts_host_s",
                                      "call_s",
                                      "launches_s",
                                      "shard_copy_bytes",
                                      "matmul_time",
                                      "fp8_time",
                                      "fp4_time",
                                      "attention_time"};

static const char *const attention_texts[] = {"flash", "unfused"};

static const struct {
    fact_spec spec;
    size_t offset;
} numbers[] = {
    {{"stream_passes", 0.1, 100}, offsetof(ridge_stack, stream_passes)},
    {{"gated_passes", 0.1, 100}, offsetof(ridge_stack, gated_passes)},
    {{"range_low", 0.01, 100}, offsetof(ridge_stack, range_low)},
    {{"range_high", 0.01, 100}, offsetof(ridge_stack, range_high)},
    {{"kept_passes", 0.1, 100}, offsetof(ridge_stack, kept_passes)},
    {{"logit_bytes", 1, 100}, offsetof(ridge_stack, logit_bytes)},
    {{"experts_half_width", 0, 1e6}, offsetof(ridge_stack, experts_half_width)},
    {{"experts_host_s", 0, 1}, offsetof(ridge_stack, experts_host_s)},
    {{"call_s", 0, 1}, offsetof(ridge_stack, call_s)},
    {{"launches_s", 0, 1}, offsetof(ridge_stack, launches_s)},
    {{"shard_copy_bytes", 0, 100}, offsetof(ridge_stack, shard_copy_bytes)},
    {{"selective_matmuls", 0, 1}, offsetof(ridge_stack, selective_matmuls)},
};

static const struct {
    const char *key;
    size_t offset;
} flags[] = {
    {"has_tp_overlap", offsetof(ridge_stack, has_tp_overlap)},
    {"has_send_overlap", offsetof(ridge_stack, has_send_overlap)},
    {"has_half_gradients", offsetof(ridge_stack, has_half_gradients)},
    {"has_half_state", offsetof(ridge_stack, has_half_state)},
    {"has_two_gradients", offsetof(ridge_stack, has_two_gradients)},
    {"gathers_stage", offsetof(ridge_stack, gathers_stage)},
    {"is_usual_sharded", offsetof(ridge_stack, is_usual_sharded)},
    {"dispatches_once", offsetof(ridge_stack, dispatches_once)},
    {"broadcasts_updates", offsetof(ridge_stack, broadcasts_updates)},
    {"splits_sends", offsetof(ridge_stack, splits_sends)},
};

static const struct {
    fact_spec spec;
    size_t offset;
} factor_sets[] = {
    {{"matmul_time", 0.1, 100}, offsetof(ridge_stack, matmul_time)},
    {{"attention_time", 0.1, 100}, offsetof(ridge_stack, attention_time)},
    {{"fp8_time", 0.1, 100}, offsetof(ridge_stack, fp8_time)},
    {{"fp4_time", 0.1, 100}, offsetof(ridge_stack, fp4_time)},
};

enum { FACT_ROOM = RIDGE_COUNT_OF(numbers) + 1 + 4 * RIDGE_STACK_CHIPS_MAX };

static ridge_status read_factor(ridge_ctx *cx, ridge_node node, const fact_spec *spec,
                                fact_list *facts, ridge_stack_factors *out)
{
    const char *chip = node.key;
    int at = 0;
    double value = 1;
    while (at < out->n && strcmp(out->of[at].chip, chip) != 0)
        at++;
    if (at == RIDGE_STACK_CHIPS_MAX)
        return ridge_json_fail(cx, node, "more than %d chips", RIDGE_STACK_CHIPS_MAX);
    const char *key = ridge_sprintf(ridge_ctx_arena(cx), "%s.%s", spec->key, chip);
    if (key == NULL)
        return ridge_fail_nomem(cx);
    const fact_spec one = {key, spec->low, spec->high};
    RIDGE_TRY(ridge__fact_read(cx, node, &one, facts, &value));
    out->of[at] = (ridge_stack_factor){chip, value};
    if (at == out->n)
        out->n++;
    return RIDGE_OK;
}

static ridge_status read_factors(ridge_ctx *cx, ridge_node node, const fact_spec *spec,
                                 fact_list *facts, ridge_stack_factors *out)
{
    if (ridge_json_is_absent(node))
        return RIDGE_OK;
    if (ridge_json_kind_of(node) != RIDGE_JSON_OBJECT)
        return ridge_json_fail(cx, node, "an object of chips is wanted");
    for (size_t i = 0; i < ridge_json_size(node); i++) {
        const ridge_node item = ridge_json_member(&node, i);
        RIDGE_TRY(read_factor(cx, item, spec, facts, out));
    }
    return RIDGE_OK;
}

static ridge_status read_numbers(ridge_ctx *cx, const ridge_node *root,
                                 fact_list *facts, ridge_stack *s)
{
    for (size_t i = 0; i < RIDGE_COUNT_OF(numbers); i++) {
        const ridge_node node = ridge_json_get(root, numbers[i].spec.key);
        double *field = (double *)(void *)((char *)s + numbers[i].offset);
        if (!ridge_json_is_absent(node))
            RIDGE_TRY(ridge__fact_read(cx, node, &numbers[i].spec, facts, field));
    }
    static const fact_spec rows_spec = {"range_rows", 1, 1e6};
    const ridge_node rows = ridge_json_get(root, rows_spec.key);
    int64_t n_rows;
    if (!ridge_json_is_absent(rows)) {
        RIDGE_TRY(ridge__count_read(cx, rows, &rows_spec, facts, &n_rows));
        s->range_rows = (int)n_rows;
    }
    for (size_t i = 0; i < RIDGE_COUNT_OF(factor_sets); i++) {
        const ridge_node node = ridge_json_get(root, factor_sets[i].spec.key);
        void *field = (char *)s + factor_sets[i].offset;
        RIDGE_TRY(read_factors(cx, node, &factor_sets[i].spec, facts, field));
    }
    return RIDGE_OK;
}

static ridge_status read_practice(ridge_ctx *cx, ridge_node node,
                                  ridge_stack_practice *out)
{
    static const char *const known[] = {"sp",  "zero",       "remat",
                                        "mtp", "ep_overlap", "precision"};
    int *const fields[] = {&out->has_sp, &out->zero_stage, &out->remat, &out->mtp,
                           &out->has_ep_overlap};
    static const int64_t most[] = {1, 3, 3, 1, 1};
    if (ridge_json_is_absent(node))
        return RIDGE_OK;
    RIDGE_TRY(ridge_json_only(cx, node, known, RIDGE_COUNT_OF(known)));
    const ridge_node precision = ridge_json_get(&node, "precision");
    if (!ridge_json_is_absent(precision))
        RIDGE_TRY(ridge_json_want_text(cx, precision, &out->precision));
    for (size_t i = 0; i < RIDGE_COUNT_OF(fields); i++) {
        const ridge_node value = ridge_json_get(&node, known[i]);
        int64_t v;
        if (ridge_json_is_absent(value))
            continue;
        RIDGE_TRY(ridge_json_want_i64(cx, value, 0, most[i], &v));
        *fields[i] = (int)v;
    }
    return RIDGE_OK;
}

static ridge_status read_choices(ridge_ctx *cx, const ridge_node *root, ridge_stack *s)
{
    ridge_node node = ridge_json_get(root, "attention");
    size_t at = 0;
    if (!ridge_json_is_absent(node)) {
        RIDGE_TRY(ridge__choice_read(cx, node, attention_texts,
                                     RIDGE_COUNT_OF(attention_texts), &at));
        s->attention = (ridge_attention_kernel)at;
    }
    RIDGE_TRY(read_practice(cx, ridge_json_get(root, "practice"), &s->practice));
    for (size_t i = 0; i < RIDGE_COUNT_OF(flags); i++) {
        bool *field = (bool *)(void *)((char *)s + flags[i].offset);
        node = ridge_json_get(root, flags[i].key);
        if (!ridge_json_is_absent(node) && !ridge_json_bool(node, field))
            return ridge_json_fail(cx, node, "expected true or false");
    }
    return RIDGE_OK;
}

static ridge_status read_variant(ridge_ctx *cx, const ridge_node *root, ridge_stack *s)
{
    const ridge_node of = ridge_json_get(root, "variant_of");
    const ridge_node words = ridge_json_get(root, "told_by");
    s->variant_of = NULL;
    s->told_by = s->told_on = NULL;
    const ridge_node chips = ridge_json_get(root, "told_on");
    if (!ridge_json_is_absent(chips))
        RIDGE_TRY(ridge__aliases_read(cx, chips, &s->told_on));
    if (ridge_json_is_absent(of) && ridge_json_is_absent(words))
        return RIDGE_OK;
    RIDGE_TRY(ridge_json_want_text(cx, of, &s->variant_of));
    return ridge__aliases_read(cx, words, &s->told_by);
}

static ridge_status read_vendors(ridge_ctx *cx, const ridge_node *root, ridge_stack *s)
{
    const ridge_node vendors = ridge_json_get(root, "vendors");
    const ridge_node usual = ridge_json_get(root, "usual_on");
    s->usual_on = NULL;
    s->is_usual_sharded = false;
    if (!ridge_json_is_absent(vendors))
        RIDGE_TRY(ridge__aliases_read(cx, vendors, &s->vendors));
    return ridge_json_is_absent(usual) ? RIDGE_OK
                                       : ridge__aliases_read(cx, usual, &s->usual_on);
}

ridge_status ridge__stack_read(ridge_ctx *cx, ridge_node root, const ridge_stack *base,
                               ridge_stack **out)
{
    fact_list facts;
    ridge_stack *s = ridge_new(ridge_ctx_arena(cx), ridge_stack, 1);
    if (s == NULL)
        return ridge_fail_nomem(cx);
    *s = base != NULL ? *base
                      : (ridge_stack){.practice = {-1, -1, -1, -1, -1, NULL},
                                      .stream_passes = 1,
                                      .kept_passes = 1};
    if (ridge_json_kind_of(root) != RIDGE_JSON_OBJECT)
        return ridge_json_fail(cx, root, "a stack is an object");
    RIDGE_TRY(ridge_json_only(cx, root, members, RIDGE_COUNT_OF(members)));
    RIDGE_TRY(ridge__facts_open(cx, s->facts, s->n_facts, FACT_ROOM, &facts));
    RIDGE_TRY(ridge__name_read(cx, ridge_json_get(&root, "name"), &s->name));
    RIDGE_TRY(ridge__text_read(cx, &root, "full_name", NULL, &s->full_name));
    RIDGE_TRY(ridge__aliases_read(cx, ridge_json_get(&root, "aliases"), &s->aliases));
    RIDGE_TRY(ridge__aliases_read(cx, ridge_json_get(&root, "runs"), &s->runs));
    RIDGE_TRY(read_variant(cx, &root, s));
    RIDGE_TRY(read_vendors(cx, &root, s));
    RIDGE_TRY(read_choices(cx, &root, s));
    RIDGE_TRY(read_numbers(cx, &root, &facts, s));
    s->facts = facts.items;
    s->n_facts = facts.n;
    *out = s;
    return RIDGE_OK;
}
