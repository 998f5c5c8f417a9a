/* An operation against the roofline of a chip: its cost, ridge and critical size, and
 * the costs over a range of sizes. */
#include "bound.h"

#include "ridge/cost_roofline.h"

#include <math.h>
#include <string.h>

/* The matmul that an operation is, if it is one. */
static bool matmul_of(const ridge_op *op, ridge_matmul *out)
{
    if (op->kind == RIDGE_OP_MATMUL) {
        *out = op->matmul;
        return true;
    }
    if (op->kind == RIDGE_OP_EINSUM && ridge_einsum_is_matmul(&op->einsum)) {
        *out = ridge_einsum_matmul(&op->einsum, &op->formats);
        return true;
    }
    return false;
}

/* Without the additions to zero. @source scaling-book-2025, chapter 1 */
static double exact_flops(const ridge_op *op, double flops)
{
    const ridge_matmul *m = &op->matmul;
    switch (op->kind) {
    case RIDGE_OP_MATMUL:
        return flops - m->batch * m->m * m->n;
    case RIDGE_OP_EINSUM:
        return ridge_einsum_flops_exact(&op->einsum);
    case RIDGE_OP_STREAM:
        return op->flops_each > 1 ? flops - 1 : flops; /* one sum: a dot product */
    case RIDGE_OP_ATTENTION:
    case RIDGE_OP_WORK:
        break;
    }
    return flops;
}

static ridge_status check_memory(ridge_ctx *cx, const ridge_chip *chip,
                                 const ridge_op *op)
{
    if (op->memory == RIDGE_MEMORY_HBM)
        return RIDGE_OK;
    if (op->kind == RIDGE_OP_ATTENTION) {
        return ridge_fail(cx, RIDGE_E_ARG,
                          "attention is priced from hbm alone: leave --memory out");
    }
    if (ridge_memory_bytes_per_s(chip, op->memory) > 0)
        return RIDGE_OK;
    return ridge_fail(
        cx, RIDGE_E_ARG,
        "the %s bandwidth of %s is not known: take --memory hbm, or add it "
        "to the chip's file",
        ridge_memory_text(op->memory), chip->name);
}

/* "b x t": the free dims of one input, or NULL where it has none. */
static const char *free_dims(ridge_ctx *cx, const ridge_einsum *e, int input)
{
    ridge_buf b;
    ridge_buf_init(&b, ridge_ctx_arena(cx));
    for (int i = 0; i < e->n_dims; i++) {
        if ((e->inputs[input] & (1u << i)) && ridge_einsum_role(e, i) == RIDGE_DIM_FREE)
            ridge_buf_printf(&b, "%s%c", b.n ? " x " : "", e->letters[i]);
    }
    return b.n ? ridge_buf_text(&b) : NULL;
}

static const char *contracting_dims(ridge_ctx *cx, const ridge_einsum *e)
{
    ridge_buf b;
    ridge_buf_init(&b, ridge_ctx_arena(cx));
    for (int i = 0; i < e->n_dims; i++) {
        if (ridge_einsum_role(e, i) == RIDGE_DIM_CONTRACTING)
            ridge_buf_printf(&b, "%s%c", b.n ? " x " : "", e->letters[i]);
    }
    return ridge_buf_text(&b);
}

/* What a product calls its rows, and the dims beside them. An einsum without free dims
 * in both inputs has none: its intensity stays however large its other dims are. */
static void name_rows(ridge_ctx *cx, ridge_roofline *r)
{
    r->critical_dim = "m";
    r->critical_others = "k and n";
    if (r->op.kind != RIDGE_OP_EINSUM)
        return;
    const char *columns = free_dims(cx, &r->op.einsum, 1);
    r->critical_dim = columns ? free_dims(cx, &r->op.einsum, 0) : NULL;
    r->critical_others =
        ridge_sprintf(ridge_ctx_arena(cx), "%s and %s",
                      contracting_dims(cx, &r->op.einsum), columns ? columns : "");
}

static void find_critical(ridge_ctx *cx, const ridge_chip *chip, ridge_roofline *r)
{
    ridge_matmul matmul;
    if (r->op.kind == RIDGE_OP_WORK) {
        if (r->op.work_flops > 0 && r->op.work_bytes > 0) {
            r->critical_dim = "flops";
            r->critical_size = r->ridge_flops_per_byte * r->op.work_bytes;
        }
    } else if (matmul_of(&r->op, &matmul)) {
        name_rows(cx, r);
        if (!r->critical_dim)
            return;
        r->critical_size = ridge_matmul_critical_rows(chip, &matmul, r->op.memory);
        r->critical_limit =
            ridge_matmul_critical_rows_limit(chip, &matmul, r->op.memory);
    } else if (r->op.kind == RIDGE_OP_ATTENTION && !r->op.is_decode) {
        r->critical_dim = "t";
        r->critical_size = ridge_attention_critical_tokens(chip, &r->op.attention);
    }
}

/* The size of the swept dim at which the critical size is met; 0 if it is another. */
static double critical_of_sweep(const ridge_roofline *r, const char *dim)
{
    if (!r->critical_dim || !isfinite(r->critical_size))
        return 0;
    if (r->op.kind == RIDGE_OP_WORK && strcmp(dim, "bytes") == 0)
        return r->op.work_flops / r->ridge_flops_per_byte;
    if (r->op.kind != RIDGE_OP_EINSUM)
        return strcmp(dim, r->critical_dim) == 0 ? r->critical_size : 0;
    const ridge_einsum *e = &r->op.einsum;
    double others = 1;
    bool is_row = false;
    for (int i = 0; i < e->n_dims; i++) {
        if (!(e->inputs[0] & (1u << i)) || ridge_einsum_role(e, i) != RIDGE_DIM_FREE)
            continue;
        if (e->letters[i] == dim[0]) {
            is_row = true;
        } else {
            others *= (double)e->sizes[i];
        }
    }
    return is_row ? r->critical_size / others : 0;
}

/* The next whole size of a sweep, the end included. */
static double next_size(const ridge_sweep *s, double size)
{
    const double next = s->is_factor ? floor(size * s->step) : floor(size + s->step);
    const double risen = fmax(next, size + 1);
    return size < s->to && risen > s->to ? s->to : risen;
}

static ridge_status run_sweep(ridge_ctx *cx, const ridge_chip *chip,
                              const ridge_sweep *sweep, ridge_roofline *r)
{
    const char *dim = ridge_str_dup(ridge_ctx_arena(cx), ridge_str_of(sweep->dim));
    ridge_roofline_point *points =
        ridge_new(ridge_ctx_arena(cx), ridge_roofline_point, RIDGE_SWEEP_MAX);
    if (!dim || !points)
        return ridge_fail_nomem(cx);
    size_t n = 0;
    for (double size = floor(sweep->from); size <= sweep->to && n < RIDGE_SWEEP_MAX;
         size = next_size(sweep, size)) {
        ridge_op op = r->op;
        if (!ridge_op_resize(&op, dim, size)) {
            return ridge_fail(cx, RIDGE_E_ARG,
                              "sweep: '%s' has no dim %s that can be %.0f", r->op.text,
                              dim, size);
        }
        points[n++] = (ridge_roofline_point){size, ridge_op_price(chip, &op)};
    }
    r->sweep_dim = dim;
    r->sweep_critical = critical_of_sweep(r, dim);
    r->points = points;
    r->n_points = n;
    return RIDGE_OK;
}

ridge_status ridge_roofline_find(ridge_ctx *cx, const ridge_chip *chip,
                                 const ridge_op *op, const ridge_sweep *sweep,
                                 ridge_roofline *out)
{
    RIDGE_TRY(check_memory(cx, chip, op));
    ridge_roofline r = {
        .chip = chip,
        .op = *op,
        .cost = ridge_op_price(chip, op),
        .shape = {.tile_efficiency = 1, .wave_efficiency = 1, .efficiency = 1},
        .bytes_per_s = ridge__stream_bytes_per_s(chip, op->memory),
    };
    const double peak = ridge_chip_peak(chip, op->formats.compute, &r.compute);
    ridge_matmul matmul;
    if (matmul_of(op, &matmul))
        r.shape = ridge_matmul_shape_find(chip, &matmul);
    r.is_matmul = r.cost.matmul_flops > 0;
    if (!r.is_matmul)
        r.compute = op->formats.activation;
    r.flops = r.is_matmul ? r.cost.matmul_flops : r.cost.vector_flops;
    r.peak_flops_per_s = r.is_matmul ? peak : chip->vector_flops_per_s;
    r.ridge_flops_per_byte = r.peak_flops_per_s / r.bytes_per_s;
    r.flops_exact = exact_flops(op, r.flops);
    find_critical(cx, chip, &r);
    if (sweep)
        RIDGE_TRY(run_sweep(cx, chip, sweep, &r));
    *out = r;
    return RIDGE_OK;
}
