/* Products in wide formats, of odd shapes, of few rows; attention in pieces; streams
 * that could be one. */
#include "advice_list.h"

#include "json_scan.h"

#include <math.h>
#include <string.h>

static double seconds(int64_t ns)
{
    return 1e-9 * (double)ns;
}

static bool is_product(const ridge_profile_op *op)
{
    return op->class == RIDGE_CLASS_MATMUL && op->has_flops && op->time_ns > 0;
}

/* ---- formats --------------------------------------------------------------------- */

static void wide_add(advice_list *list)
{
    const ridge_profile *p = list->p;
    double time_s = 0;
    double narrow_s = 0;
    double count = 0;
    for (int i = 0; p->chip != NULL && i < p->n_ops; i++) {
        const ridge_profile_op *op = &p->ops[i];
        if (!is_product(op) || !op->has_dtype || op->dtype != RIDGE_DTYPE_FP32)
            continue;
        /* At the share of the peak that 16-bit products reach, and half the bytes. */
        const double share = p->chip->achievable.matmul[RIDGE_DTYPE_BF16];
        const double peak =
            ridge_chip_peak(p->chip, RIDGE_DTYPE_BF16, NULL) / p->chip_devices;
        const double op_s = seconds(op->time_ns);
        const double compute_s = op->flops / (peak * (share > 0 ? share : 0.7));
        const double memory_s =
            op->bytes / 2 * p->chip_devices / p->chip->hbm_bytes_per_s;
        time_s += op_s;
        narrow_s += fmin(op_s, fmax(compute_s, memory_s));
        count += (double)op->count / list->steps;
    }
    advice_add(
        list, "fp32_matmul",
        "compute products in 16 bits (autocast, bf16 weights), or at least in TF32",
        time_s - narrow_s, "%.0f products a step in fp32 take %s; in bf16 %s.", count,
        advice_step_text(list, time_s).s, advice_step_text(list, narrow_s).s);
}

/* ---- shapes ---------------------------------------------------------------------- */

/* Whether a dim of a tensor of two or more is no multiple of 8: the last one of any. */
static bool has_odd_dim(const char *shapes)
{
    json_scan all = {shapes, shapes + strlen(shapes)};
    bool is_end = false;
    scan_value shape;
    if (scan_mark(&all, '[') != SCAN_OK)
        return false;
    while (scan_item(&all, &is_end, &shape) == SCAN_OK && !is_end) {
        json_scan one = {shape.raw.p, shape.raw.p + shape.raw.n};
        bool is_last = false;
        scan_value dim;
        int64_t last = 0;
        int dims = 0;
        if (shape.kind != '[' || scan_mark(&one, '[') != SCAN_OK)
            continue;
        for (; scan_item(&one, &is_last, &dim) == SCAN_OK && !is_last; dims++) {
            if (!scan_i64(&dim, &last))
                break;
        }
        if (dims >= 2 && last % 8 != 0)
            return true;
    }
    return false;
}

static void odd_add(advice_list *list)
{
    const ridge_profile *p = list->p;
    double even_flops = 0;
    double even_s = 0;
    const ridge_profile_op *longest = NULL;
    double odd_s = 0;
    double odd_flops = 0;
    for (int i = 0; i < p->n_ops; i++) {
        const ridge_profile_op *op = &p->ops[i];
        if (!is_product(op) || *op->shapes == 0)
            continue;
        const bool is_odd = has_odd_dim(op->shapes);
        *(is_odd ? &odd_flops : &even_flops) += op->flops;
        *(is_odd ? &odd_s : &even_s) += seconds(op->time_ns);
        if (is_odd && longest == NULL)
            longest = op;
    }
    if (longest == NULL || even_s <= 0 || odd_flops / odd_s >= even_flops / even_s)
        return;
    advice_add(
        list, "padding",
        "pad inner dims to multiples of 8, better 64 or 128: the vocabulary first",
        odd_s - odd_flops / (even_flops / even_s),
        "Products with an inner dim that is no multiple of 8 take %s a step at %s, "
        "others run at %s; the longest: %.100s.",
        advice_step_text(list, odd_s).s, ridge_format_si(odd_flops / odd_s, "FLOP/s").s,
        ridge_format_si(even_flops / even_s, "FLOP/s").s, longest->shapes);
}

/* Products whose time the weights' bytes decide: more rows are nearly free. */
static void few_rows_add(advice_list *list)
{
    const ridge_profile *p = list->p;
    double all_s = 0;
    double bound_s = 0;
    double compute_s = 0;
    for (int i = 0; i < p->n_ops; i++) {
        const ridge_profile_op *op = &p->ops[i];
        if (!is_product(op) || !op->has_roofline)
            continue;
        all_s += seconds(op->time_ns);
        if (!op->is_memory_bound)
            continue;
        bound_s += seconds(op->time_ns);
        compute_s +=
            op->flops * p->chip_devices / ridge_chip_peak(p->chip, op->dtype, NULL);
    }
    if (all_s <= 0 || bound_s < 0.5 * all_s)
        return;
    advice_add(
        list, "small_batch",
        "give products more rows (a larger batch): they are bound by memory, and "
        "more rows cost little until the critical batch",
        bound_s - compute_s,
        "Memory-bound products take %s of %s a step; their FLOPs alone would take "
        "%s. The ridge point of %s is %.0f FLOPs a byte.",
        advice_step_text(list, bound_s).s, advice_step_text(list, all_s).s,
        advice_step_text(list, compute_s).s, p->chip->name,
        ridge_chip_ridge_point(p->chip, RIDGE_DTYPE_BF16));
}

/* ---- kernels that could be one
 * ------------------------------------------------------- */

static double class_time(const ridge_profile *p, ridge_profile_class class,
                         double *count)
{
    double time_s = 0;
    for (int i = 0; i < p->n_ops; i++) {
        if (p->ops[i].class != class)
            continue;
        time_s += seconds(p->ops[i].time_ns);
        *count += (double)p->ops[i].count;
    }
    return time_s;
}

/* Softmax kernels beside batched products: scores that go through memory. */
static void unfused_add(advice_list *list)
{
    const ridge_profile *p = list->p;
    double softmaxes = 0;
    double scores_s = 0;
    double products = 0;
    double softmax_s = class_time(p, RIDGE_CLASS_SOFTMAX, &softmaxes);
    for (int i = 0; i < p->n_ops; i++) {
        const ridge_profile_op *op = &p->ops[i];
        if (strcmp(op->call, "aten::bmm") == 0 ||
            strcmp(op->call, "aten::baddbmm") == 0) {
            products += (double)op->count;
            scores_s += op->has_roofline ? op->gap_s : 0;
        }
    }
    if (softmaxes < 1 || products < 2 * softmaxes)
        return;
    advice_add(list, "unfused_attention",
               "use a fused attention kernel (scaled_dot_product_attention, "
               "FlashAttention, splash attention)",
               softmax_s + scores_s,
               "%.0f softmax kernels a step beside %.0f batched products: scores go "
               "through memory, %s in softmax alone.",
               softmaxes / list->steps, products / list->steps,
               advice_step_text(list, softmax_s).s);
}

static void streams_add(advice_list *list)
{
    const ridge_profile *p = list->p;
    double count = 0;
    const double time_s = class_time(p, RIDGE_CLASS_ELEMENTWISE, &count) +
                          class_time(p, RIDGE_CLASS_NORM, &count) +
                          class_time(p, RIDGE_CLASS_REDUCTION, &count) +
                          class_time(p, RIDGE_CLASS_ROTARY, &count);
    double moved = 0;
    const double relayout_s = class_time(p, RIDGE_CLASS_RELAYOUT, &moved);
    /* XLA has fused what it could. */
    if (p->format == RIDGE_TRACE_KINETO || p->format == RIDGE_TRACE_NSYS)
        advice_add(
            list, "unfused_elementwise",
            "fuse elementwise kernels, norms and rotary (torch.compile, fused "
            "kernels): each reads and writes memory anew",
            time_s / 2,
            "%.0f kernels a step take %s, %.0f %% of it. The worth is for half of "
            "their bytes.",
            count / list->steps, advice_step_text(list, time_s).s,
            100 * time_s / p->work_s);
    advice_add(list, "relayout",
               "avoid copies that only change the layout: contiguous tensors, layouts "
               "that operations share",
               relayout_s, "%.0f transposes, concatenations and copies a step take %s.",
               moved / list->steps, advice_step_text(list, relayout_s).s);
}

void advice_compute(advice_list *list)
{
    wide_add(list);
    odd_add(list);
    few_rows_add(list);
    unfused_add(list);
    streams_add(list);
}
