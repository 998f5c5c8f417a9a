/*
 * What to do, each with its evidence and what it is worth in a run of the module.
 * Worths are what a part now takes beyond what it would take: an upper limit, for parts
 * that wait for the same thing. Below a share of the run they are left out.
 */
#include "hlo_pricing.h"
#include "hlo_product.h"

#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

/* Worth that is worth saying, of the run. */
#define SAID_SHARE 0.005

/** Advice while it is collected. */
typedef struct adviser {
    hlo_pricing *p;
    ridge_hlo_study *out;
} adviser;

static RIDGE_PRINTF(4, 5) void say(adviser *y, double worth_s, const char *what,
                                   const char *fmt, ...)
{
    char text[400];
    va_list args;
    if (y->out->n_advice == RIDGE_HLO_ADVICE_MAX)
        return;
    va_start(args, fmt);
    vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    const char *kept = ridge_str_dup(ridge_ctx_arena(y->p->cx), ridge_str_of(text));
    y->out->advice[y->out->n_advice++] =
        (ridge_hlo_advice){what, kept ? kept : "", worth_s};
}

static bool is_worth(const adviser *y, double worth_s)
{
    return worth_s > SAID_SHARE * y->out->expected_s;
}

/** A sum over ops, and the largest of them. */
typedef struct tally {
    double s;      /* worth */
    int64_t n;     /* kernels run */
    double most_s; /* of one op */
    const ridge_hlo_op *most;
} tally;

static void count(tally *t, const ridge_hlo_op *op, double worth_s)
{
    t->s += worth_s;
    t->n += (int64_t)op->times;
    if (worth_s > t->most_s) {
        t->most_s = worth_s;
        t->most = op;
    }
}

/* ---- collectives ------------------------------------------------------------------
 */

static void exposed(adviser *y, ridge_collective kind, const char *what)
{
    tally t = {0, 0, 0, NULL};
    for (int k = 0; k < y->out->n_ops; k++) {
        const ridge_hlo_op *op = &y->out->ops[k];
        if (op->collective && op->collective->kind == kind && op->exposed_s > 0)
            count(&t, op, op->times * op->exposed_s);
    }
    if (t.most && is_worth(y, t.s))
        say(y, t.s, what, "%lld run exposed; the most: %s, %s of %s a run of it%s",
            (long long)t.n, t.most->name, ridge_format_seconds(t.most->exposed_s).s,
            ridge_format_seconds(t.most->expected_s).s,
            t.most->collective->is_async || !y->p->module->is_scheduled
                ? ""
                : ": it blocks, no start and done pair");
}

static bool is_alike(const ridge_hlo_op *a, const ridge_hlo_op *b)
{
    return a->computation == b->computation && b->collective &&
           a->collective->kind == b->collective->kind &&
           a->collective->ranks == b->collective->ranks &&
           a->collective->stride == b->collective->stride && a->times == b->times;
}

/* Collectives of one kind over one group, side by side, that are mostly latency. */
static void combine(adviser *y)
{
    const ridge_hlo_study *s = y->out;
    double worth = 0, bytes = 0;
    int64_t n = 0;
    const ridge_hlo_op *example = NULL;
    for (int k = 0; k < s->n_ops; k++) {
        const ridge_hlo_op *op = &s->ops[k];
        const bool is_small = op->collective && op->collective->ranks > 1 &&
                              op->collective->latency_s > 0.5 * op->expected_s;
        bool has_mate = false;
        for (int j = k - 1; is_small && j >= 0 && j > k - 64; j--)
            has_mate |= is_alike(op, &s->ops[j]);
        if (!has_mate)
            continue;
        worth += op->times * op->collective->latency_s;
        bytes += op->times * op->collective->bytes;
        n += (int64_t)op->times;
        example = op;
    }
    if (example && is_worth(y, worth))
        say(y, worth, "combine small collectives",
            "%lld runs carry %s each on average and are mostly latency, such as %s %s",
            (long long)n, ridge_format_bytes(bytes / (double)n).s,
            example->collective->kind_text, example->name);
}

static void scatter(adviser *y)
{
    tally t = {0, 0, 0, NULL};
    for (int k = 0; k + 1 < y->out->n_ops; k++) {
        const ridge_hlo_op *op = &y->out->ops[k], *next = &y->out->ops[k + 1];
        const bool is_cut = op->collective &&
                            op->collective->kind == RIDGE_COLLECTIVE_ALL_REDUCE &&
                            strcmp(next->code, "dynamic-slice") == 0;
        if (y->out->is_compiled && is_cut)
            count(&t, op, op->times * op->expected_s / 2);
    }
    if (t.most && is_worth(y, t.s))
        say(y, t.s, "reduce-scatter in place of all-reduce and slice",
            "%lld all-reduces are cut right after, such as %s", (long long)t.n,
            t.most->name);
}

/* ---- the chip ---------------------------------------------------------------------
 */

static void wide_products(adviser *y)
{
    tally t = {0, 0, 0, NULL};
    const ridge_chip *chip = y->p->chip;
    const double bf16 = ridge_chip_peak(chip, RIDGE_DTYPE_BF16, NULL);
    for (int k = 0; k < y->out->n_ops; k++) {
        const ridge_hlo_op *op = &y->out->ops[k];
        if (!op->is_wide || op->matmul_flops <= 0)
            continue;
        const double saved =
            op->expected_s -
            fmax(op->matmul_flops / bf16, op->bytes / 2 / chip->hbm_bytes_per_s);
        if (saved > 0)
            count(&t, op, op->times * saved);
    }
    if (t.most && is_worth(y, t.s))
        say(y, t.s, "products in bf16 instead of fp32",
            "%lld products have fp32 operands, such as %s: bf16 has half the bytes and "
            "%s times the peak",
            (long long)t.n, t.most->name,
            ridge_format_double(bf16 / ridge_chip_peak(chip, RIDGE_DTYPE_FP32, NULL))
                .s);
}

/* Kernels that only change the format of large arrays that stay the same: weights. */
static void stored_wide(adviser *y)
{
    enum { LARGE_BYTES = 1 << 20 };
    tally t = {0, 0, 0, NULL};
    for (int k = 0; k < y->out->n_ops; k++) {
        const ridge_hlo_op *op = &y->out->ops[k];
        const double flops = op->vector_flops + op->transcendentals;
        /* one conversion of each element of the result, and four bytes in for two out
         */
        if (strcmp(op->code, "convert") == 0 && op->bytes > LARGE_BYTES &&
            op->matmul_flops == 0 && flops * 5.5 < op->bytes)
            count(&t, op, op->times * op->expected_s);
    }
    if (t.most && is_worth(y, t.s))
        say(y, t.s, "keep arrays in the format that they are used in",
            "%lld kernels only convert, such as %s to %s", (long long)t.n, t.most->name,
            t.most->shape);
}

static void moved_data(adviser *y)
{
    tally t = {0, 0, 0, NULL};
    for (int k = 0; k < y->out->n_ops; k++) {
        const ridge_hlo_op *op = &y->out->ops[k];
        const bool is_layout = strcmp(op->code, "copy") == 0 ||
                               strcmp(op->code, "transpose") == 0 ||
                               strcmp(op->code, "reshape") == 0;
        if (op->category == RIDGE_HLO_CATEGORY_DATA && is_layout &&
            op->hidden_s + op->exposed_s == 0)
            count(&t, op, op->times * op->expected_s);
    }
    if (t.most && is_worth(y, t.s))
        say(y, t.s, "avoid copies that only lay data out anew",
            "%lld kernels, such as %s of %s", (long long)t.n, t.most->name,
            t.most->shape);
}

static void padding(adviser *y)
{
    tally t = {0, 0, 0, NULL};
    for (int k = 0; k < y->out->n_ops; k++) {
        const ridge_hlo_op *op = &y->out->ops[k];
        const double waste = op->padded_bytes - op->bytes;
        if (waste > 0.05 * op->bytes)
            count(&t, op, op->times * waste / y->p->chip->hbm_bytes_per_s);
    }
    if (t.most && is_worth(y, t.s))
        say(y, t.s, "sizes that fill the tiles",
            "%s of HBM traffic is padding, most in %s of %s",
            ridge_format_bytes(y->out->padded_bytes - y->out->bytes).s, t.most->name,
            t.most->shape);
}

static void waiting_copies(adviser *y)
{
    tally t = {0, 0, 0, NULL};
    for (int k = 0; k < y->out->n_ops; k++) {
        const ridge_hlo_op *op = &y->out->ops[k];
        if (!op->collective && op->exposed_s > 0)
            count(&t, op, op->times * op->exposed_s);
    }
    if (t.most && is_worth(y, t.s))
        say(y, t.s, "start copies earlier",
            "%lld runs wait for an asynchronous copy, the most for %s, %s of %s",
            (long long)t.n, t.most->name, ridge_format_seconds(t.most->exposed_s).s,
            ridge_format_seconds(t.most->expected_s).s);
}

static void launches(adviser *y)
{
    tally t = {0, 0, 0, NULL};
    for (int k = 0; k < y->out->n_ops; k++) {
        const ridge_hlo_op *op = &y->out->ops[k];
        if (!op->collective && op->expected_s > 4 * op->bound_s && op->hidden_s == 0 &&
            op->expected_s < 20 * y->p->chip->achievable.launch_s + 20e-6)
            count(&t, op, op->times * (op->expected_s - op->bound_s));
    }
    if (t.most && t.s > 0.05 * y->out->expected_s)
        say(y, t.s, "fewer, larger kernels",
            "%lld runs of kernels are mostly start-up: fuse them, or raise the batch",
            (long long)t.n);
}

/* Products of few rows stream their weights. */
static void small_batch(adviser *y)
{
    double s = 0, all = 0;
    int64_t n = 0;
    for (int k = 0; k < y->out->n_ops; k++) {
        const ridge_hlo_op *op = &y->out->ops[k];
        if (op->category != RIDGE_HLO_CATEGORY_MATMUL)
            continue;
        all += op->times * op->expected_s;
        if (op->bound_by == RIDGE_BOUND_MEMORY &&
            op->matmul_flops / fmax(1, op->bytes) <
                ridge_chip_ridge_point(y->p->chip, RIDGE_DTYPE_BF16) / 2) {
            s += op->times * op->expected_s;
            n += (int64_t)op->times;
        }
    }
    if (n > 0 && s > 0.5 * all && is_worth(y, s))
        say(y, 0, "a larger batch costs little",
            "%lld products, %s of the run, read weights for too few rows: below half "
            "of "
            "the %.0f FLOPs/byte at which %s is fully used",
            (long long)n, ridge_format_percent(s / y->out->expected_s).s,
            ridge_chip_ridge_point(y->p->chip, RIDGE_DTYPE_BF16), y->p->chip->name);
}

/* ---- attention --------------------------------------------------------------------
 */

static double fused_s(const adviser *y, int piece)
{
    const hlo_attention_pieces *a = &y->p->pieces[piece];
    const hlo_graph *g = &y->p->graphs.graphs[y->p->piece_graphs[piece]];
    const ridge_hlo_instruction *i = g->nodes[a->scores].i;
    const ridge_hlo_shape *operands[2];
    hlo_product product;
    for (int k = 0; k < 2; k++)
        operands[k] = &g->nodes[g->nodes[a->scores].inputs[k]].i->shape;
    if (!hlo_product_find(y->p->cx, i, operands, false, &product))
        return 0;
    const double heads =
        a->score_elements / (double)(a->query_tokens * a->context_tokens);
    const ridge_attention attention = {.batch = 1,
                                       .query_tokens = (double)a->query_tokens,
                                       .context_tokens = (double)a->context_tokens,
                                       .heads = heads,
                                       .kv_heads = product.batch,
                                       .head_dim = product.k,
                                       .v_head_dim = product.k,
                                       .activation = RIDGE_DTYPE_BF16,
                                       .cache = RIDGE_DTYPE_BF16,
                                       .compute = RIDGE_DTYPE_BF16};
    return ridge_attention_cost(y->p->chip, &attention).expected_s * g->times;
}

static void unfused_attention(adviser *y)
{
    double now = 0, then = 0;
    if (y->p->n_pieces == 0)
        return;
    for (int k = 0; k < y->out->n_ops; k++) {
        const ridge_hlo_op *op = &y->out->ops[k];
        if (op->category == RIDGE_HLO_CATEGORY_ATTENTION &&
            strstr(op->code, "attn") == NULL)
            now += op->times * op->expected_s;
    }
    for (int piece = 0; piece < y->p->n_pieces; piece++)
        then += fused_s(y, piece);
    const hlo_attention_pieces *a = &y->p->pieces[0];
    if (then > 0 && is_worth(y, now - then))
        say(y, now - then, "a fused attention kernel",
            "scores of %lld x %lld pass through HBM between separate products: %s now, "
            "about %s fused",
            (long long)a->query_tokens, (long long)a->context_tokens,
            ridge_format_seconds(now).s, ridge_format_seconds(then).s);
}

/* ---- all --------------------------------------------------------------------------
 */

static int by_worth(const void *a, const void *b)
{
    const ridge_hlo_advice *x = a, *y = b;
    if (x->worth_s != y->worth_s)
        return x->worth_s > y->worth_s ? -1 : 1;
    return strcmp(x->what, y->what);
}

static void not_fitting(adviser *y)
{
    const double hbm = y->p->chip->hbm_bytes;
    if (y->out->memory.peak_bytes > hbm)
        say(y, 0, "it does not fit",
            "%s at the peak, %s of HBM: more devices, remat, or "
            "donated arguments",
            ridge_format_bytes(y->out->memory.peak_bytes).s, ridge_format_bytes(hbm).s);
}

ridge_status hlo_advice_find(hlo_pricing *p, ridge_hlo_study *out)
{
    adviser y = {p, out};
    out->n_advice = 0;
    if (p->slice == NULL)
        return RIDGE_OK;
    exposed(&y, RIDGE_COLLECTIVE_ALL_GATHER, "prefetch exposed all-gathers");
    exposed(&y, RIDGE_COLLECTIVE_REDUCE_SCATTER, "hide exposed reduce-scatters");
    exposed(&y, RIDGE_COLLECTIVE_ALL_REDUCE, "hide exposed all-reduces");
    exposed(&y, RIDGE_COLLECTIVE_ALL_TO_ALL, "hide exposed all-to-alls");
    exposed(&y, RIDGE_COLLECTIVE_SEND_RECV, "hide exposed sends");
    combine(&y);
    scatter(&y);
    wide_products(&y);
    stored_wide(&y);
    moved_data(&y);
    padding(&y);
    waiting_copies(&y);
    launches(&y);
    small_batch(&y);
    unfused_attention(&y);
    not_fitting(&y);
    qsort(out->advice, (size_t)out->n_advice, sizeof *out->advice, by_worth);
    return RIDGE_OK;
}
