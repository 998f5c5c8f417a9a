/*
 * Attributes of StableHLO as those of HLO: lists, numbers, windows, dims of lookups and
 * convolutions, groups. What HLO says in other words is put into its words, so that
 * whatever reads attributes reads one language.
 */
#include "mlir_attribute.h"
#include "hlo_attribute.h"

#include <string.h>

static ridge_status put_list(mlir_function *f, ridge_str text, const char *key,
                             const char *name, hlo_list *list)
{
    const ridge_str value = mlir_list_of(text, key);
    return value.p ? mlir_attribute_put(
                         f, list, name,
                         ridge_sprintf(f->b->arena, "{%.*s}", (int)value.n, value.p))
                   : RIDGE_OK;
}

/* key = [..] x [..] */
static ridge_status put_pair(mlir_function *f, ridge_str text, const char *key,
                             const char *const *names, hlo_list *list)
{
    const char *p = mlir_key_find(text, key), *end;
    const ridge_str first = p ? mlir_list_at(text, p, &end) : (ridge_str){NULL, 0};
    if (first.p == NULL)
        return RIDGE_OK;
    RIDGE_TRY(mlir_attribute_put(
        f, list, names[0],
        ridge_sprintf(f->b->arena, "{%.*s}", (int)first.n, first.p)));
    while (end < text.p + text.n && (*end == ' ' || *end == 'x'))
        end++;
    const ridge_str second = mlir_list_at(text, end, &end);
    return mlir_attribute_put(
        f, list, names[1],
        ridge_sprintf(f->b->arena, "{%.*s}", (int)second.n, second.p ? second.p : ""));
}

/* ---- rows -------------------------------------------------------------------------
 */

typedef enum row_form { ROW_LIST, ROW_NUMBER, ROW_ONE } row_form;

/** A key of StableHLO and HLO's: a list, a number, or a number that is a list of one.
 */
static const struct {
    ridge_hlo_opcode code;
    const char *mlir, *hlo;
    row_form form;
} rows[] = {
    {RIDGE_HLO_OP_BROADCAST, "dims", "dimensions", ROW_LIST},
    {RIDGE_HLO_OP_BROADCAST, "broadcast_dimensions", "dimensions", ROW_LIST},
    {RIDGE_HLO_OP_TRANSPOSE, "dims", "dimensions", ROW_LIST},
    {RIDGE_HLO_OP_TRANSPOSE, "permutation", "dimensions", ROW_LIST},
    {RIDGE_HLO_OP_REVERSE, "dims", "dimensions", ROW_LIST},
    {RIDGE_HLO_OP_REVERSE, "dimensions", "dimensions", ROW_LIST},
    {RIDGE_HLO_OP_REDUCE, "dimensions", "dimensions", ROW_LIST},
    {RIDGE_HLO_OP_DYNAMIC_SLICE, "sizes", "dynamic_slice_sizes", ROW_LIST},
    {RIDGE_HLO_OP_DYNAMIC_SLICE, "slice_sizes", "dynamic_slice_sizes", ROW_LIST},
    {RIDGE_HLO_OP_CONCATENATE, "dim", "dimensions", ROW_ONE},
    {RIDGE_HLO_OP_CONCATENATE, "dimension", "dimensions", ROW_ONE},
    {RIDGE_HLO_OP_IOTA, "dim", "iota_dimension", ROW_NUMBER},
    {RIDGE_HLO_OP_IOTA, "iota_dimension", "iota_dimension", ROW_NUMBER},
    {RIDGE_HLO_OP_SORT, "dimension", "dimensions", ROW_ONE},
    {RIDGE_HLO_OP_GATHER, "offset_dims", "offset_dims", ROW_LIST},
    {RIDGE_HLO_OP_GATHER, "collapsed_slice_dims", "collapsed_slice_dims", ROW_LIST},
    {RIDGE_HLO_OP_GATHER, "start_index_map", "start_index_map", ROW_LIST},
    {RIDGE_HLO_OP_GATHER, "operand_batching_dims", "operand_batching_dims", ROW_LIST},
    {RIDGE_HLO_OP_GATHER, "start_indices_batching_dims", "start_indices_batching_dims",
     ROW_LIST},
    {RIDGE_HLO_OP_GATHER, "index_vector_dim", "index_vector_dim", ROW_NUMBER},
    {RIDGE_HLO_OP_GATHER, "slice_sizes", "slice_sizes", ROW_LIST},
    {RIDGE_HLO_OP_SCATTER, "update_window_dims", "update_window_dims", ROW_LIST},
    {RIDGE_HLO_OP_SCATTER, "inserted_window_dims", "inserted_window_dims", ROW_LIST},
    {RIDGE_HLO_OP_SCATTER, "scatter_dims_to_operand_dims",
     "scatter_dims_to_operand_dims", ROW_LIST},
    {RIDGE_HLO_OP_SCATTER, "input_batching_dims", "input_batching_dims", ROW_LIST},
    {RIDGE_HLO_OP_SCATTER, "scatter_indices_batching_dims",
     "scatter_indices_batching_dims", ROW_LIST},
    {RIDGE_HLO_OP_SCATTER, "index_vector_dim", "index_vector_dim", ROW_NUMBER},
    {RIDGE_HLO_OP_CONVOLUTION, "feature_group_count", "feature_group_count",
     ROW_NUMBER},
    {RIDGE_HLO_OP_CONVOLUTION, "batch_group_count", "batch_group_count", ROW_NUMBER},
    {RIDGE_HLO_OP_BATCH_NORM_GRAD, "feature_index", "feature_index", ROW_NUMBER},
    {RIDGE_HLO_OP_BATCH_NORM_INFERENCE, "feature_index", "feature_index", ROW_NUMBER},
    {RIDGE_HLO_OP_BATCH_NORM_TRAINING, "feature_index", "feature_index", ROW_NUMBER},
    {RIDGE_HLO_OP_FFT, "length", "fft_length", ROW_LIST},
    {RIDGE_HLO_OP_FFT, "fft_length", "fft_length", ROW_LIST},
    {RIDGE_HLO_OP_TOPK, "k", "k", ROW_NUMBER},
    {RIDGE_HLO_OP_ALL_GATHER, "all_gather_dim", "dimensions", ROW_ONE},
    {RIDGE_HLO_OP_ALL_TO_ALL, "split_dimension", "dimensions", ROW_ONE},
    {RIDGE_HLO_OP_REDUCE_SCATTER, "scatter_dimension", "dimensions", ROW_ONE},
};

static ridge_status put_rows(mlir_function *f, ridge_str text, ridge_hlo_opcode code,
                             hlo_list *list)
{
    int64_t number;
    for (size_t k = 0; k < RIDGE_COUNT_OF(rows); k++) {
        if (rows[k].code != code)
            continue;
        if (rows[k].form == ROW_LIST)
            RIDGE_TRY(put_list(f, text, rows[k].mlir, rows[k].hlo, list));
        else if (mlir_number_of(text, rows[k].mlir, &number))
            RIDGE_TRY(mlir_attribute_put(
                f, list, rows[k].hlo,
                ridge_sprintf(f->b->arena, rows[k].form == ROW_ONE ? "{%lld}" : "%lld",
                              (long long)number)));
    }
    return RIDGE_OK;
}

/* ---- products ---------------------------------------------------------------------
 */

static ridge_status put_precision(mlir_function *f, ridge_str text, hlo_list *list)
{
    ridge_buf b;
    ridge_str words = mlir_list_of(text, "precision");
    if (words.p == NULL)
        words = mlir_list_of(text, "precision_config");
    if (words.p == NULL || (!hlo_text_has(words, "HIGH") && !hlo_text_has(words, "_X")))
        return RIDGE_OK;
    ridge_buf_init(&b, f->b->arena);
    for (const char *comma = "{"; words.p; comma = ",") {
        const ridge_str one = ridge_str_cut(&words, ',');
        ridge_buf_printf(&b, "%s%s", comma,
                         hlo_text_has(one, "HIGHEST") ? "highest"
                         : hlo_text_has(one, "HIGH")  ? "high"
                                                      : "default");
    }
    ridge_buf_puts(&b, "}");
    return mlir_attribute_put(f, list, "operand_precision", ridge_buf_text(&b));
}

static ridge_status put_dot(mlir_function *f, const mlir_statement *s, hlo_list *list,
                            const ridge_hlo_shape *lhs)
{
    static const char *const generic[][2] = {
        {"lhs_batching_dimensions", "lhs_batch_dims"},
        {"rhs_batching_dimensions", "rhs_batch_dims"},
        {"lhs_contracting_dimensions", "lhs_contracting_dims"},
        {"rhs_contracting_dimensions", "rhs_contracting_dims"}};
    static const char *const batch[] = {"lhs_batch_dims", "rhs_batch_dims"};
    static const char *const contracting[] = {"lhs_contracting_dims",
                                              "rhs_contracting_dims"};
    RIDGE_TRY(put_precision(f, s->rest, list));
    if (hlo_text_has(s->op, "dot_general")) {
        RIDGE_TRY(put_pair(f, s->rest, "batching_dims", batch, list));
        RIDGE_TRY(put_pair(f, s->rest, "contracting_dims", contracting, list));
        for (size_t k = 0; k < RIDGE_COUNT_OF(generic); k++)
            RIDGE_TRY(put_list(f, s->rest, generic[k][0], generic[k][1], list));
        return RIDGE_OK;
    }
    /* stablehlo.dot: the last dim of the left with the first of the right */
    RIDGE_TRY(mlir_attribute_put(
        f, list, "lhs_contracting_dims",
        ridge_sprintf(f->b->arena, "{%d}", lhs->n > 0 ? lhs->n - 1 : 0)));
    return mlir_attribute_put(f, list, "rhs_contracting_dims", "{0}");
}

/* ---- windows ----------------------------------------------------------------------
 */

/** One line of a window: "stride=2x2", pairs as "pad=0_1x0_1". */
static void put_window_part(ridge_buf *b, const char *key, const int64_t *x, int n,
                            bool is_pair)
{
    if (n < 1)
        return;
    ridge_buf_printf(b, "%s%s=", b->n > 1 ? " " : "", key);
    for (int k = 0; k < n; k += is_pair ? 2 : 1) {
        ridge_buf_printf(b, "%s%lld", k ? "x" : "", (long long)x[k]);
        if (is_pair)
            ridge_buf_printf(b, "_%lld", (long long)(k + 1 < n ? x[k + 1] : 0));
    }
}

static int any_of(ridge_str text, const char *const *keys, int64_t *out)
{
    for (; *keys; keys++) {
        const ridge_str list = mlir_list_of(text, *keys);
        if (list.p)
            return mlir_numbers_of(list, out, 2 * RIDGE_HLO_RANK_MAX);
    }
    return 0;
}

static ridge_status put_window(mlir_function *f, ridge_str text, const int64_t *size,
                               int n, hlo_list *list)
{
    static const char *const strides[] = {"stride", "window_strides", NULL};
    static const char *const pads[] = {"pad", "padding", NULL};
    static const char *const bases[] = {"lhs_dilate", "lhs_dilation", "lhs_dilations",
                                        "base_dilations", NULL};
    static const char *const steps[] = {"rhs_dilate", "rhs_dilation", "rhs_dilations",
                                        "window_dilations", NULL};
    int64_t x[2 * RIDGE_HLO_RANK_MAX];
    ridge_buf b;
    ridge_buf_init(&b, f->b->arena);
    ridge_buf_puts(&b, "{");
    put_window_part(&b, "size", size, n, false);
    int count = any_of(text, strides, x);
    put_window_part(&b, "stride", x, count == n ? n : 0, false);
    count = any_of(text, pads, x);
    put_window_part(&b, "pad", x, count == 2 * n ? count : 0, true);
    count = any_of(text, bases, x);
    put_window_part(&b, "lhs_dilate", x, count == n ? n : 0, false);
    count = any_of(text, steps, x);
    put_window_part(&b, "rhs_dilate", x, count == n ? n : 0, false);
    ridge_buf_puts(&b, "}");
    return mlir_attribute_put(f, list, "window", ridge_buf_text(&b));
}

/* "[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]" without blanks, commas and brackets. */
static ridge_status put_convolution(mlir_function *f, ridge_str text, hlo_list *list,
                                    const ridge_hlo_shape *rhs)
{
    const char *p = mlir_key_find(text, "dim_numbers"), *stop = text.p + text.n;
    ridge_buf b;
    int64_t size[RIDGE_HLO_RANK_MAX];
    int groups = 0, at = 0, n = 0;
    ridge_buf_init(&b, f->b->arena);
    RIDGE_TRY(put_precision(f, text, list));
    for (; p && p < stop && groups < 3; p++) {
        if (*p == '[' && groups > 0)
            ridge_buf_puts(&b, groups == 1 ? "_" : "->");
        groups += *p == ']';
        if ((*p < '0' || *p > '9') && *p != 'b' && *p != 'f' && *p != 'i' && *p != 'o')
            continue;
        if (groups == 1 && at < rhs->n && *p != 'i' && *p != 'o' &&
            *p - '0' < RIDGE_HLO_RANK_MAX) {
            size[*p - '0'] = rhs->dims[at];
            n++;
        }
        at += groups == 1;
        ridge_buf_add(&b, (ridge_str){p, 1});
    }
    if (groups < 3)
        return RIDGE_OK;
    RIDGE_TRY(mlir_attribute_put(f, list, "dim_labels", ridge_buf_text(&b)));
    return put_window(f, text, size, n, list);
}

/* ---- parts ------------------------------------------------------------------------
 */

/* "%0 [0:8, 1:4:2]", or three lists. */
static ridge_status put_slice(mlir_function *f, ridge_str text, hlo_list *list)
{
    ridge_buf b;
    int64_t from[RIDGE_HLO_RANK_MAX], to[RIDGE_HLO_RANK_MAX], by[RIDGE_HLO_RANK_MAX];
    ridge_buf_init(&b, f->b->arena);
    ridge_buf_puts(&b, "{");
    const int n =
        mlir_numbers_of(mlir_list_of(text, "start_indices"), from, RIDGE_HLO_RANK_MAX);
    if (n > 0 && mlir_numbers_of(mlir_list_of(text, "limit_indices"), to,
                                 RIDGE_HLO_RANK_MAX) == n) {
        const bool has_by =
            mlir_numbers_of(mlir_list_of(text, "strides"), by, RIDGE_HLO_RANK_MAX) == n;
        for (int k = 0; k < n; k++)
            ridge_buf_printf(&b, "%s[%lld:%lld:%lld]", k ? ", " : "",
                             (long long)from[k], (long long)to[k],
                             (long long)(has_by ? by[k] : 1));
    } else {
        ridge_str rest = text;
        ridge_str_cut(&rest, '[');
        ridge_str all = ridge_str_cut(&rest, ']');
        for (const char *comma = ""; all.p; comma = ", ") {
            const ridge_str one = ridge_str_trim(ridge_str_cut(&all, ','));
            ridge_buf_printf(&b, "%s[%.*s]", comma, (int)one.n, one.p);
        }
    }
    ridge_buf_puts(&b, "}");
    return mlir_attribute_put(f, list, "slice", ridge_buf_text(&b));
}

static ridge_status put_padding(mlir_function *f, ridge_str text, hlo_list *list)
{
    static const char *const lows[] = {"low", "edge_padding_low", NULL};
    static const char *const highs[] = {"high", "edge_padding_high", NULL};
    static const char *const inners[] = {"interior", "interior_padding", NULL};
    int64_t low[2 * RIDGE_HLO_RANK_MAX], high[2 * RIDGE_HLO_RANK_MAX],
        inner[2 * RIDGE_HLO_RANK_MAX];
    ridge_buf b;
    const int n = any_of(text, lows, low);
    if (any_of(text, highs, high) != n)
        return RIDGE_OK;
    const bool has_inner = any_of(text, inners, inner) == n;
    ridge_buf_init(&b, f->b->arena);
    for (int k = 0; k < n; k++) {
        ridge_buf_printf(&b, "%s%lld_%lld", k ? "x" : "", (long long)low[k],
                         (long long)high[k]);
        if (has_inner && inner[k] != 0)
            ridge_buf_printf(&b, "_%lld", (long long)inner[k]);
    }
    return mlir_attribute_put(f, list, "padding", ridge_buf_text(&b));
}

/* sdy.sharding_constraint %0 <@mesh, [..]>; a collective of that dialect says how its
 * result lies: out_sharding=<@mesh, [..]>. */
static ridge_status put_constraint(mlir_function *f, const mlir_statement *s,
                                   hlo_list *list)
{
    if (s->op.n < 4 || memcmp(s->op.p, "sdy.", 4) != 0)
        return RIDGE_OK;
    for (size_t at = 0; at + 1 < s->rest.n; at++) {
        if (s->rest.p[at] == '<' && s->rest.p[at + 1] == '@')
            return mlir_attribute_put(f, list, "sdy.sharding",
                                      ridge_sprintf(f->b->arena, "%.*s",
                                                    (int)(s->rest.n - at),
                                                    s->rest.p + at));
    }
    return RIDGE_OK;
}

/* ---- all --------------------------------------------------------------------------
 */

/* allowed_direction=NONE: what propagation may not cross. */
static ridge_status put_barrier(mlir_function *f, ridge_str text, hlo_list *list)
{
    static const char *const words[] = {"FORWARD", "BACKWARD", "BOTH", "NONE"};
    const char *p = mlir_key_find(text, "allowed_direction");
    RIDGE_TRY(mlir_attribute_put(f, list, "custom_call_target",
                                 "\"xla.sdy.PropagationBarrier\""));
    for (size_t k = 0; p && k < RIDGE_COUNT_OF(words); k++) {
        if (hlo_text_has((ridge_str){p, (size_t)(text.p + text.n - p)}, words[k]))
            return mlir_attribute_put(f, list, "allowed_direction", words[k]);
    }
    return RIDGE_OK;
}

static ridge_status put_call(mlir_function *f, ridge_str text, hlo_list *list)
{
    text_cursor c = text_cursor_within(f->c, text);
    text_cursor_take(&c, "@");
    ridge_str target = text_cursor_word(&c), config;
    const char *p = mlir_key_find(text, "backend_config");
    const char *named = target.n == 0 ? mlir_key_find(text, "call_target_name") : NULL;
    if (named) {
        c.p = named;
        text_cursor_skip(&c);
        if (!text_cursor_quoted(&c, &target))
            target.n = 0;
    }
    RIDGE_TRY(mlir_attribute_put(
        f, list, "custom_call_target",
        ridge_sprintf(f->b->arena, "\"%.*s\"", (int)target.n, target.p)));
    c.p = p ? p : c.p;
    text_cursor_skip(&c);
    if (p && text_cursor_peek(&c) == '"' && text_cursor_quoted(&c, &config) &&
        config.n > 0)
        return mlir_attribute_put(
            f, list, "backend_config",
            ridge_sprintf(f->b->arena, "\"%.*s\"", (int)config.n, config.p));
    return RIDGE_OK;
}

static ridge_status put_compare(mlir_function *f, ridge_str text, hlo_list *list)
{
    const char *p = mlir_key_find(text, "comparison_direction");
    static const char *const words[] = {"EQ", "NE", "GE", "GT", "LE", "LT"};
    const ridge_str piece =
        p ? (ridge_str){p, (size_t)(text.p + text.n - p)} : ridge_str_trim(text);
    const ridge_str near = {piece.p, piece.n < 64 ? piece.n : 64};
    for (size_t k = 0; k < RIDGE_COUNT_OF(words); k++) {
        if (hlo_text_has(p ? near : (ridge_str){piece.p, piece.n < 2 ? 0 : 2},
                         words[k]))
            return mlir_attribute_put(f, list, "direction", words[k]);
    }
    return RIDGE_OK;
}

ridge_status mlir_attributes_take(mlir_function *f, const mlir_statement *s,
                                  const ridge_hlo_instruction *i, hlo_list *list)
{
    const ridge_hlo_instruction *all =
        (const ridge_hlo_instruction *)(const void *)f->b->instructions.items;
    const int n = i->n_operands;
    int64_t size[RIDGE_HLO_RANK_MAX];
    RIDGE_TRY(put_rows(f, s->rest, i->code, list));
    if (i->code == RIDGE_HLO_OP_DOT && n >= 2)
        RIDGE_TRY(put_dot(f, s, list, &all[i->operands[0]].shape));
    else if (i->code == RIDGE_HLO_OP_CONVOLUTION && n >= 2)
        RIDGE_TRY(put_convolution(f, s->rest, list, &all[i->operands[1]].shape));
    else if (i->code == RIDGE_HLO_OP_SLICE)
        RIDGE_TRY(put_slice(f, s->rest, list));
    else if (i->code == RIDGE_HLO_OP_PAD)
        RIDGE_TRY(put_padding(f, s->rest, list));
    else if (i->code == RIDGE_HLO_OP_COMPARE)
        RIDGE_TRY(put_compare(f, s->rest, list));
    else if (hlo_text_has(s->op, "propagation_barrier"))
        RIDGE_TRY(put_barrier(f, s->rest, list));
    else if (i->code == RIDGE_HLO_OP_CUSTOM_CALL)
        RIDGE_TRY(put_call(f, s->rest, list));
    else if (ridge_hlo_opcode_kind(i->code) == RIDGE_HLO_KIND_NETWORK)
        RIDGE_TRY(mlir_groups_put(f, s->rest, list));
    else if (i->code == RIDGE_HLO_OP_REDUCE_WINDOW ||
             i->code == RIDGE_HLO_OP_SELECT_AND_SCATTER)
        RIDGE_TRY(put_window(f, s->rest, size,
                             mlir_numbers_of(mlir_list_of(s->rest, "window_dimensions"),
                                             size, RIDGE_HLO_RANK_MAX),
                             list));
    RIDGE_TRY(put_constraint(f, s, list));
    RIDGE_TRY(mlir_shardings_put(f, s->rest, list));
    if (i->code == RIDGE_HLO_OP_WHILE) { /* "attributes {..}" stands behind its types */
        size_t at = 0;
        while (at + 4 < s->types.n && memcmp(s->types.p + at, "cond", 4) != 0)
            at++;
        return mlir_shardings_put(f, (ridge_str){s->types.p, at}, list);
    }
    return RIDGE_OK;
}
