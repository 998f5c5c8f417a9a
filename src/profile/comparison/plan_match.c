/*
 * Rows of predicted and measured. Ridge's own traces have the plan's names. Others have
 * kernels: products are known by their FLOPs, all else only by kind, for frameworks
 * fuse and split it as they please.
 */
#include "plan_match.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { ROWS_MOST = 4096 };

typedef struct matching {
    ridge_ctx *cx;
    const ridge_profile *p;
    predicted_ops *predicted;
    double steps;     /* of all devices */
    bool *is_matched; /* by measured operation */
    ridge_plan_row *rows;
    int n;
} matching;

static void measured_add(matching *m, ridge_plan_row *row, int op)
{
    row->has_measured = true;
    row->measured_s += 1e-9 * (double)m->p->ops[op].time_ns / m->steps;
    row->measured_count += (double)m->p->ops[op].count / m->steps;
    m->is_matched[op] = true;
}

static void predicted_add(ridge_plan_row *row, predicted_op *op)
{
    row->has_predicted = true;
    row->predicted_s += op->time_s;
    row->predicted_count += op->count;
    op->is_matched = true;
}

/* Rows beyond the most are dropped; a plan has some hundreds. */
static ridge_plan_row *row_new(matching *m, const char *name, const char *how)
{
    ridge_plan_row *row = &m->rows[m->n < ROWS_MOST ? m->n++ : ROWS_MOST];
    *row = (ridge_plan_row){.name = name, .how = how};
    return row;
}

/* ---- by name --------------------------------------------------------------------- */

static void by_name(matching *m)
{
    for (int i = 0; i < m->predicted->n; i++) {
        predicted_op *op = &m->predicted->ops[i];
        const char *name =
            ridge_sprintf(ridge_ctx_arena(m->cx), "%s.%s", op->block, op->name);
        ridge_plan_row *row = row_new(m, name == NULL ? op->name : name, "by name");
        predicted_add(row, op);
        for (int k = 0; k < m->p->n_ops; k++) {
            if (!m->is_matched[k] && strcmp(m->p->ops[k].name, op->name) == 0 &&
                strcmp(m->p->ops[k].call, op->block) == 0)
                measured_add(m, row, k);
        }
    }
    for (int k = 0; k < m->p->n_ops; k++) {
        if (!m->is_matched[k])
            measured_add(m, row_new(m, m->p->ops[k].name, "not in the plan"), k);
    }
}

/* ---- by FLOPs -------------------------------------------------------------------- */

static bool is_near(double a, double b)
{
    return fabs(a - b) <= 0.01 * fmax(a, b);
}

static bool has_product(const matching *m)
{
    for (int k = 0; k < m->p->n_ops; k++) {
        const ridge_profile_op *op = &m->p->ops[k];
        if (op->class == RIDGE_CLASS_MATMUL && op->has_flops && op->count > 0)
            return true;
    }
    return false;
}

static void names_join(ridge_buf *b, const predicted_op *op, int *n)
{
    enum { NAMED = 4 };
    if (*n < NAMED)
        ridge_buf_printf(b, "%s%s", *n > 0 ? ", " : "", op->name);
    else if (*n == NAMED)
        ridge_buf_puts(b, ", ...");
    ++*n;
}

/* All products of the plan with as many FLOPs, and all measured ones. */
static void products_match(matching *m, double flops)
{
    ridge_buf names;
    int n = 0;
    ridge_buf_init(&names, ridge_ctx_arena(m->cx));
    ridge_plan_row *row = row_new(m, "", "products by their FLOPs");
    for (int i = 0; i < m->predicted->n; i++) {
        predicted_op *op = &m->predicted->ops[i];
        if (op->is_matched || op->class != RIDGE_CLASS_MATMUL ||
            !is_near(op->flops, flops))
            continue;
        names_join(&names, op, &n);
        predicted_add(row, op);
    }
    for (int k = 0; k < m->p->n_ops; k++) {
        const ridge_profile_op *op = &m->p->ops[k];
        if (!m->is_matched[k] && op->class == RIDGE_CLASS_MATMUL && op->has_flops &&
            op->count > 0 && is_near(op->flops / (double)op->count, flops))
            measured_add(m, row, k);
    }
    row->name = ridge_buf_text(&names);
}

static void products_add(matching *m)
{
    if (!has_product(m))
        return;
    for (int i = 0; i < m->predicted->n; i++) {
        const predicted_op *op = &m->predicted->ops[i];
        if (!op->is_matched && op->class == RIDGE_CLASS_MATMUL)
            products_match(m, op->flops);
    }
}

/* ---- by kind --------------------------------------------------------------------- */

typedef enum match_kind {
    MATCH_PRODUCTS,
    MATCH_ATTENTION,
    MATCH_OPTIMIZER,
    MATCH_STREAMS,
    MATCH_ALL_GATHER,
    MATCH_REDUCE_SCATTER,
    MATCH_ALL_REDUCE,
    MATCH_ALL_TO_ALL,
    MATCH_SEND_RECV,
    MATCH_OTHER_NETWORK,
    MATCH_COPIES,
    MATCH_COUNT
} match_kind;

static const char *const kind_names[] = {
    [MATCH_PRODUCTS] = "other products",
    [MATCH_ATTENTION] = "attention",
    [MATCH_OPTIMIZER] = "optimizer",
    [MATCH_STREAMS] = "norms, activations, loss and other streams",
    [MATCH_ALL_GATHER] = "all-gathers",
    [MATCH_REDUCE_SCATTER] = "reduce-scatters",
    [MATCH_ALL_REDUCE] = "all-reduces",
    [MATCH_ALL_TO_ALL] = "all-to-alls",
    [MATCH_SEND_RECV] = "sends and receives",
    [MATCH_OTHER_NETWORK] = "other collectives",
    [MATCH_COPIES] = "copies",
};
_Static_assert(RIDGE_COUNT_OF(kind_names) == MATCH_COUNT, "one row per enum value");

static match_kind kind_of(ridge_profile_class class)
{
    static const match_kind by_part[] = {
        [RIDGE_PROFILE_PART_MATMUL] = MATCH_PRODUCTS,
        [RIDGE_PROFILE_PART_ATTENTION] = MATCH_ATTENTION,
        [RIDGE_PROFILE_PART_COMPUTE] = MATCH_STREAMS,
        [RIDGE_PROFILE_PART_ALL_GATHER] = MATCH_ALL_GATHER,
        [RIDGE_PROFILE_PART_REDUCE_SCATTER] = MATCH_REDUCE_SCATTER,
        [RIDGE_PROFILE_PART_ALL_REDUCE] = MATCH_ALL_REDUCE,
        [RIDGE_PROFILE_PART_ALL_TO_ALL] = MATCH_ALL_TO_ALL,
        [RIDGE_PROFILE_PART_SEND_RECV] = MATCH_SEND_RECV,
        [RIDGE_PROFILE_PART_BROADCAST] = MATCH_OTHER_NETWORK,
        [RIDGE_PROFILE_PART_COLLECTIVE] = MATCH_OTHER_NETWORK,
        [RIDGE_PROFILE_PART_COPY] = MATCH_COPIES,
        [RIDGE_PROFILE_PART_INPUT] = MATCH_COPIES,
    };
    if (class == RIDGE_CLASS_OPTIMIZER)
        return MATCH_OPTIMIZER;
    return by_part[ridge_profile_class_part(class)];
}

static void kind_add(matching *m, match_kind kind)
{
    ridge_plan_row row = {.name = kind_names[kind], .how = "by kind"};
    for (int i = 0; i < m->predicted->n; i++) {
        predicted_op *op = &m->predicted->ops[i];
        if (!op->is_matched && kind_of(op->class) == kind)
            predicted_add(&row, op);
    }
    for (int k = 0; k < m->p->n_ops; k++) {
        if (!m->is_matched[k] && kind_of(m->p->ops[k].class) == kind)
            measured_add(m, &row, k);
    }
    if (row.has_predicted || row.has_measured)
        *row_new(m, "", "") = row;
}

/* ---- all ------------------------------------------------------------------------- */

static double disagreement(const ridge_plan_row *row)
{
    return fabs(row->predicted_s - row->measured_s);
}

static int compare_rows(const void *a, const void *b)
{
    const double x = disagreement(a);
    const double y = disagreement(b);
    if (x != y)
        return x > y ? -1 : 1;
    const ridge_plan_row *r = a;
    const ridge_plan_row *s = b;
    return strcmp(r->name, s->name);
}

ridge_status plan_match_rows(ridge_ctx *cx, const ridge_profile *profile,
                             predicted_ops *predicted, ridge_plan_row **rows, int *n)
{
    matching m = {.cx = cx,
                  .p = profile,
                  .predicted = predicted,
                  .steps = profile->steps > 0 ? (double)profile->steps : 1};
    m.is_matched = ridge_new(ridge_ctx_arena(cx), bool, (size_t)profile->n_ops);
    m.rows = ridge_new(ridge_ctx_arena(cx), ridge_plan_row, ROWS_MOST + 1);
    if (m.is_matched == NULL || m.rows == NULL)
        return ridge_fail_nomem(cx);
    if (profile->format == RIDGE_TRACE_RIDGE) {
        by_name(&m);
    } else {
        products_add(&m);
        for (int kind = 0; kind < MATCH_COUNT; kind++)
            kind_add(&m, (match_kind)kind);
    }
    qsort(m.rows, (size_t)m.n, sizeof *m.rows, compare_rows);
    *rows = m.rows;
    *n = m.n;
    return RIDGE_OK;
}
