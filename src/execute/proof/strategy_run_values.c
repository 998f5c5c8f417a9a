/*
 * Numbers of an expression drawn by seed and place, so that each rank makes its own
 * part, and the product of the whole arrays in double precision, by plain loops.
 */
#include "strategy_run.h"

#include <float.h>
#include <math.h>
#include <string.h>

enum { LOOPS_MOST = 2 * RIDGE_TENSOR_DIM_MAX };

/* Multiply-adds that a check may take: a minute or two. */
static const double PRODUCTS_MOST = 2e11;

/* Whole numbers up to these are exact: 24 and 8 bits. */
static const double EXACT_FP32 = 0x1p24, EXACT_BF16 = 0x1p8;

ridge_dtype ridge__expr_format(const ridge_strategy_run *run, int operand)
{
    if (operand == run->expr->n_inputs)
        return run->formats.output;
    return operand == 0 ? run->formats.activation : run->formats.weight;
}

/* ---- numbers -----------------------------------------------------------------------
 */

/* 64 bits that look random: the end of splitmix64. */
static uint64_t mixed(uint64_t z)
{
    z += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

/* From -most to most in steps that the format has. */
double ridge__expr_value(const ridge__expr_truth *truth, int operand, int64_t place,
                         int64_t piece)
{
    const ridge_strategy_run *run = truth->run;
    const uint64_t array = mixed(run->seed + (uint64_t)operand);
    const uint64_t bits = mixed(mixed(array + (uint64_t)piece) + (uint64_t)place);
    const bool is_bf16 = ridge__expr_format(run, operand) == RIDGE_DTYPE_BF16;
    if (run->draw == RIDGE_DRAW_WHOLE) {
        return (double)((int64_t)(bits % (uint64_t)(2 * truth->most + 1)) -
                        truth->most);
    }
    const int64_t steps = is_bf16 ? 1 << 7 : 1 << 23;
    return (double)((int64_t)(bits % (uint64_t)(2 * steps + 1)) - steps) /
           (double)steps;
}

static int64_t pieces_of(const ridge_expr *e, int operand)
{
    int64_t n = 1;
    for (int a = 0; a < e->mesh.n; a++) {
        if (e->inputs[operand].sharding.partial >> a & 1u)
            n *= e->mesh.axes[a].size;
    }
    return n;
}

/* The largest whole numbers whose sums are exact in the formats of all arrays. */
static void choose_range(ridge__expr_truth *truth)
{
    const ridge_strategy_run *run = truth->run;
    const ridge_expr *e = run->expr;
    const bool is_bf16 = run->formats.output == RIDGE_DTYPE_BF16;
    double terms = 1.0, pieces = 1.0;
    for (int d = 0; d < e->n_dims; d++)
        terms *= (double)e->dims[d].size;
    for (int i = 0; i < e->output.n_dims; i++)
        terms /= (double)e->dims[e->output.dims[i]].size;
    for (int i = 0; i < e->n_inputs; i++)
        pieces *= (double)pieces_of(e, i);
    const double limit = is_bf16 ? EXACT_BF16 : EXACT_FP32;
    const double most = floor(pow(limit / (terms * pieces), 1.0 / e->n_inputs));
    truth->most = most < 1.0 ? 1 : most > 8.0 ? 8 : (int64_t)most;
    bool is_small = true; /* operands that are sums themselves */
    for (int i = 0; i < e->n_inputs; i++) {
        is_small = is_small && (ridge__expr_format(run, i) != RIDGE_DTYPE_BF16 ||
                                (double)(truth->most * pieces_of(e, i)) <= EXACT_BF16);
    }
    truth->is_exact = run->draw == RIDGE_DRAW_WHOLE && most >= 1.0 && is_small;
    const bool has_bf16 = is_bf16 || run->formats.activation == RIDGE_DTYPE_BF16 ||
                          run->formats.weight == RIDGE_DTYPE_BF16;
    truth->tolerance = truth->is_exact ? 0.0 : has_bf16 ? 3e-2 : 1e-5;
}

/* ---- whole arrays ------------------------------------------------------------------
 */

/* A whole array of some of the expression's dims, row-major. */
typedef struct whole {
    int n;
    int dims[LOOPS_MOST];
    int64_t elements;
    double *p;
} whole;

static ridge_status whole_make(ridge_ctx *cx, const ridge_expr *e, whole *w)
{
    w->elements = 1;
    for (int i = 0; i < w->n; i++)
        w->elements *= e->dims[w->dims[i]].size;
    w->p = ridge_new(ridge_ctx_arena(cx), double, (size_t)w->elements);
    return w->p ? RIDGE_OK : ridge_fail_nomem(cx);
}

/* Elements that one step along a dim is; 0 if the array lacks it. */
static int64_t stride_of(const ridge_expr *e, const whole *w, int dim)
{
    int64_t stride = 1;
    for (int i = w->n - 1; i >= 0; i--) {
        if (w->dims[i] == dim)
            return stride;
        stride *= e->dims[w->dims[i]].size;
    }
    return 0;
}

typedef struct filling {
    const ridge__expr_truth *truth;
    int operand;
    int64_t pieces, chunk;
    whole *w;
} filling;

static void fill_chunk(void *payload, int64_t item, int worker)
{
    const filling *f = payload;
    const int64_t first = item * f->chunk;
    const int64_t left = f->w->elements - first;
    (void)worker;
    for (int64_t i = first; i < first + (left < f->chunk ? left : f->chunk); i++) {
        for (int64_t k = 0; k < f->pieces; k++)
            f->w->p[i] += ridge__expr_value(f->truth, f->operand, i, k);
    }
}

static ridge_status make_operand(ridge_ctx *cx, const ridge__expr_truth *truth,
                                 int operand, whole *out)
{
    const ridge_expr *e = truth->run->expr;
    const ridge_expr_tensor *t = &e->inputs[operand];
    *out = (whole){.n = t->n_dims};
    memcpy(out->dims, t->dims, (size_t)t->n_dims * sizeof t->dims[0]);
    RIDGE_TRY(whole_make(cx, e, out));
    filling f = {.truth = truth,
                 .operand = operand,
                 .pieces = pieces_of(e, operand),
                 .chunk = 1 << 16,
                 .w = out};
    return ridge_parallel(cx, ridge_processor_count(),
                          ridge_ceil_div(out->elements, f.chunk), fill_chunk, &f);
}

/* ---- products ----------------------------------------------------------------------
 */

/* Loops of one kind: sizes, and what a step is in each array. */
typedef struct loops {
    int n;
    int64_t sizes[LOOPS_MOST], a[LOOPS_MOST], b[LOOPS_MOST];
    int64_t count;
} loops;

/* A product of two arrays: lines of the result along its last dim, several of which
 * meet the same line of b where b lacks the dim before. */
typedef struct product {
    const whole *a, *b, *out;
    loops lines, sums;
    int64_t n, a_step, b_step; /* along the line */
    int64_t inner;             /* lines that differ in the dim before alone */
    int64_t together;          /* of these in an item */
} product;

enum { LINES_TOGETHER = 8, LINE_PIECE = 2048 }; /* what a cache holds */

static void add_loop(const ridge_expr *e, const product *p, int dim, loops *l)
{
    l->sizes[l->n] = e->dims[dim].size;
    l->a[l->n] = stride_of(e, p->a, dim);
    l->b[l->n++] = stride_of(e, p->b, dim);
    l->count *= e->dims[dim].size;
}

static void offsets_at(const loops *l, int64_t index, int64_t *a, int64_t *b)
{
    *a = *b = 0;
    for (int i = l->n - 1; i >= 0; i--) {
        *a += index % l->sizes[i] * l->a[i];
        *b += index % l->sizes[i] * l->b[i];
        index /= l->sizes[i];
    }
}

/* z += x y along a line; x stands still where products are matrices'. */
static void add_line(const product *p, int64_t n, const double *x, const double *y,
                     double *z)
{
    const int64_t x_step = p->a_step, y_step = p->b_step;
    if (x_step == 0 && y_step == 1) {
        const double by = *x;
        for (int64_t i = 0; i < n; i++)
            z[i] += by * y[i];
        return;
    }
    for (int64_t i = 0; i < n; i++)
        z[i] += x[i * x_step] * y[i * y_step];
}

/* A piece of some lines, all terms of the sums. */
static void multiply_piece(const product *p, int64_t first_line, int64_t lines,
                           int64_t from, int64_t n)
{
    int64_t a0[LINES_TOGETHER], b0 = 0, a, b;
    for (int64_t r = 0; r < lines; r++)
        offsets_at(&p->lines, first_line + r, &a0[r], &b0);
    for (int64_t k = 0; k < p->sums.count; k++) {
        offsets_at(&p->sums, k, &a, &b);
        for (int64_t r = 0; r < lines; r++) {
            add_line(p, n, p->a->p + a0[r] + a + from * p->a_step,
                     p->b->p + b0 + b + from * p->b_step,
                     p->out->p + (first_line + r) * p->n + from);
        }
    }
}

static void multiply_lines(void *payload, int64_t item, int worker)
{
    const product *p = payload;
    const int64_t groups = ridge_ceil_div(p->inner, p->together);
    const int64_t first = item % groups * p->together, left = p->inner - first;
    (void)worker;
    for (int64_t from = 0; from < p->n; from += LINE_PIECE) {
        multiply_piece(p, item / groups * p->inner + first,
                       left < p->together ? left : p->together, from,
                       p->n - from < LINE_PIECE ? p->n - from : LINE_PIECE);
    }
}

static bool has_dim(const whole *w, int dim)
{
    for (int i = 0; i < w->n; i++) {
        if (w->dims[i] == dim)
            return true;
    }
    return false;
}

static void add_sums(const ridge_expr *e, product *p, const whole *from)
{
    for (int i = 0; i < from->n; i++) {
        const bool is_there = from == p->b && has_dim(p->a, from->dims[i]);
        if (!has_dim(p->out, from->dims[i]) && !is_there)
            add_loop(e, p, from->dims[i], &p->sums);
    }
}

static product product_of(const ridge_expr *e, const whole *a, const whole *b,
                          const whole *out)
{
    product p = {
        .a = a, .b = b, .out = out, .lines = {.count = 1}, .sums = {.count = 1}};
    const int last = out->n - 1;
    for (int i = 0; i < last; i++)
        add_loop(e, &p, out->dims[i], &p.lines);
    add_sums(e, &p, a);
    add_sums(e, &p, b);
    p.n = last < 0 ? 1 : e->dims[out->dims[last]].size;
    p.a_step = last < 0 ? 0 : stride_of(e, a, out->dims[last]);
    p.b_step = last < 0 ? 0 : stride_of(e, b, out->dims[last]);
    const bool is_shared = last > 0 && p.lines.b[last - 1] == 0;
    p.inner = last > 0 ? p.lines.sizes[last - 1] : 1;
    p.together = is_shared ? LINES_TOGETHER : 1;
    return p;
}

static ridge_status multiply(ridge_ctx *cx, const ridge_expr *e, const whole *a,
                             const whole *b, whole *out)
{
    RIDGE_TRY(whole_make(cx, e, out));
    product p = product_of(e, a, b, out);
    const double work = (double)out->elements * (double)p.sums.count;
    if (work > PRODUCTS_MOST) {
        return ridge_fail(cx, RIDGE_E_ARG,
                          "checking this product takes %.0e multiplications, at most "
                          "%.0e: choose smaller sizes",
                          work, PRODUCTS_MOST);
    }
    const int64_t items = p.lines.count / p.inner * ridge_ceil_div(p.inner, p.together);
    return ridge_parallel(cx, ridge_processor_count(), items, multiply_lines, &p);
}

/* Whether an operand behind @p input or the output has a dim. */
static bool is_wanted(const ridge_expr *e, int input, int dim)
{
    for (int i = input + 1; i <= e->n_inputs; i++) {
        const ridge_expr_tensor *t = ridge_expr_operand(e, i);
        for (int d = 0; d < t->n_dims; d++) {
            if (t->dims[d] == dim)
                return true;
        }
    }
    return false;
}

static void take_dims(const ridge_expr *e, int input, const whole *from, whole *to)
{
    for (int i = 0; i < from->n; i++) {
        if (!has_dim(to, from->dims[i]) && is_wanted(e, input, from->dims[i]) &&
            to->n < LOOPS_MOST)
            to->dims[to->n++] = from->dims[i];
    }
}

/* Operands from left to right. */
static ridge_status multiply_all(ridge_ctx *cx, const ridge__expr_truth *truth,
                                 whole *out)
{
    double one = 1.0;
    const ridge_expr *e = truth->run->expr;
    whole so_far = {.n = 0, .elements = 1, .p = &one}, operand, next;
    for (int i = 0; i < e->n_inputs; i++) {
        RIDGE_TRY(make_operand(cx, truth, i, &operand));
        next = (whole){.n = 0};
        if (i + 1 == e->n_inputs) {
            next.n = e->output.n_dims;
            memcpy(next.dims, e->output.dims, (size_t)next.n * sizeof next.dims[0]);
        } else {
            take_dims(e, i, &so_far, &next);
            take_dims(e, i, &operand, &next);
        }
        RIDGE_TRY(multiply(cx, e, &so_far, &operand, &next));
        so_far = next;
    }
    *out = so_far;
    return RIDGE_OK;
}

ridge_status ridge__expr_truth_make(ridge_ctx *cx, const ridge_strategy_run *run,
                                    ridge__expr_truth *out)
{
    ridge__expr_truth truth = {.run = run, .largest = DBL_MIN};
    whole result;
    choose_range(&truth);
    RIDGE_TRY(multiply_all(cx, &truth, &result));
    for (int64_t i = 0; i < result.elements; i++)
        truth.largest = fmax(truth.largest, fabs(result.p[i]));
    truth.product = result.p;
    *out = truth;
    return RIDGE_OK;
}
