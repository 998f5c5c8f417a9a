/*
 * How an engine's own kernels differ from those of tuned libraries: narrow weights that
 * are written out before they multiply, loads that leave the memory idle, activations
 * that move once for every step. All of it is facts of data/engines; an engine without
 * them pays nothing.
 */
#include "serving_bench.h"

#include <math.h>

/* Most rows that kernels without matrix units take. @source llama-cpp-2025 */
enum { FEW_ROWS = 8 };

double serving_own_share(const serving_bench *b, double rows)
{
    const double share = b->desk->about.engine->matmul_share;
    return share > 0 && rows > FEW_ROWS ? share : 1;
}

/* Sums in 16 bits, where the engine asks cuBLAS for them. Cards that are sold for games
 * have half of their rate with sums in 32, and half of that of 8 bits without, as all
 * others have.
 * @source llama-cpp-2025; nvidia-ada-2022 */
static void sum_in_16_bits(const serving_bench *b, ridge_matmul *p)
{
    const ridge_chip *chip = b->desk->chip;
    enum { GAMES = 3 };
    const double whole = chip->peak_flops_per_s[RIDGE_DTYPE_FP16];
    if (!b->desk->about.engine->sums_in_fp16 || !chip->has_peak[RIDGE_DTYPE_INT8] ||
        chip->peak_flops_per_s[RIDGE_DTYPE_INT8] < GAMES * whole)
        return;
    const double share = chip->achievable.matmul[RIDGE_DTYPE_FP16];
    p->compute = RIDGE_DTYPE_INT8;
    p->rate_share = (share > 0 ? share : 1) / 2;
}

/* Of all cores together; infinite where they are not known. */
static double cycles_per_s(const ridge_chip *chip)
{
    const double clock =
        chip->boost_clock_hz > 0 ? chip->boost_clock_hz : chip->clock_hz;
    return chip->cores > 0 && clock > 0 ? chip->cores * clock : HUGE_VAL;
}

/* Weights read narrow, written in 16 bits, and multiplied from there. */
static double unpacked_s(const serving_bench *b, ridge_matmul p)
{
    const ridge_chip *chip = b->desk->chip;
    const double weights = p.batch * p.k * p.n;
    const double wide = ridge_dtype_bytes(RIDGE_DTYPE_BF16);
    const double bytes = weights * (ridge_dtype_bytes(p.weight) + p.scale_bytes + wide);
    const double written_s =
        weights / cycles_per_s(chip) / b->desk->about.engine->unpack_cycle_weights;
    p.weight = p.compute = RIDGE_DTYPE_FP16;
    p.scaling = RIDGE_SCALING_NONE;
    p.scale_bytes = 0;
    sum_in_16_bits(b, &p);
    return fmax(written_s, ridge_stream_cost(chip, 0, bytes).expected_s) +
           ridge_matmul_cost(chip, &p, RIDGE_MEMORY_HBM).expected_s;
}

/* What the cores draw together. */
static double drawn_s(const serving_bench *b, const ridge_matmul *p)
{
    const double cycle = b->desk->about.engine->cycle_bytes;
    const double bytes =
        p->batch * p->k * p->n * (ridge_dtype_bytes(p->weight) + p->scale_bytes);
    return cycle > 0 ? bytes / (cycles_per_s(b->desk->chip) * cycle) : 0;
}

double serving_product_s(const serving_bench *b, const ridge_matmul *p)
{
    const ridge_chip *chip = b->desk->chip;
    const ridge_engine *e = b->desk->about.engine;
    const bool is_few = p->m <= FEW_ROWS && e->cycle_bytes > 0;
    if (e->unpack_cycle_weights > 0 && !is_few &&
        ridge_dtype_bytes(p->weight) < ridge_dtype_bytes(RIDGE_DTYPE_BF16))
        return unpacked_s(b, *p);
    ridge_matmul own = *p;
    if (p->m > FEW_ROWS && ridge_dtype_bytes(p->compute) == 2)
        sum_in_16_bits(b, &own);
    const double s = ridge_matmul_cost(chip, &own, RIDGE_MEMORY_HBM).expected_s;
    return is_few ? fmax(s, chip->achievable.launch_s + drawn_s(b, p)) : s;
}

/* Elements of a row that a layer works on beside its scores: its width and those of its
 * feed-forward. */
static double widths(const serving_bench *b)
{
    const ridge_model *m = b->desk->model;
    const double tp = (double)b->layout->tp;
    double sum = 0;
    for (int i = 0; i < m->n_layers; i++) {
        const ridge_ffn *f = &m->layers[i].ffn;
        const double hidden = f->kind == RIDGE_FFN_MOE
                                  ? (double)(f->experts_per_token * f->expert_d_ff)
                                  : (double)f->d_ff;
        sum += (double)m->layers[i].count * ((double)m->d_model + hidden / tp);
    }
    return sum;
}

double serving_unfused_s(const serving_bench *b, double rows)
{
    const double bytes = b->desk->about.engine->stream_bytes;
    if (bytes <= 0)
        return 0;
    return ridge_stream_cost(b->desk->chip, 0, bytes * rows * widths(b)).expected_s;
}

double serving_stored_scores_s(const serving_bench *b, const ridge_attention *a)
{
    const double bytes = b->desk->about.engine->score_bytes;
    const double scores = a->batch * a->heads * a->query_tokens * a->context_tokens;
    return bytes > 0 ? ridge_stream_cost(b->desk->chip, 0, bytes * scores).expected_s
                     : 0;
}
