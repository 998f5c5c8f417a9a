/*
 * Models in files of llama.cpp's and ExLlama's: which part of them is held in how many
 * bits. Mixes give the matrices that matter more, half of the values and of the maps
 * down, and the head, wider blocks than the rest.
 * @source llama-cpp-2025
 */
#include "served_run.h"

#include <string.h>

/* Bits of a weight, scales of its block included. */
typedef struct file_format {
    const char *name;
    ridge_dtype dtype;
    double attention, dense, experts, head;
} file_format;

/* Q3_K 3.4375, Q4_K 4.5, Q5_K 5.5, Q6_K 6.5625, Q8_0 8.5, MXFP4 4.25 bits a weight; of
 * mixes the mean over a part, by the sizes that llama-quantize prints */
static const file_format formats[] = {
    {"Q2_K", RIDGE_DTYPE_INT4, 2.8, 3.0, 3.0, 6.5625},
    {"Q3_K_S", RIDGE_DTYPE_INT4, 3.4375, 3.4375, 3.4375, 6.5625},
    {"Q3_K_M", RIDGE_DTYPE_INT4, 3.8, 3.8, 3.8, 6.5625},
    {"Q4_K_S", RIDGE_DTYPE_INT4, 4.6, 4.55, 4.55, 6.5625},
    {"Q4_K_M", RIDGE_DTYPE_INT4, 4.75, 4.85, 4.85, 6.5625},
    {"Q5_K_M", RIDGE_DTYPE_INT4, 5.6, 5.7, 5.7, 6.5625},
    {"Q5_K_S", RIDGE_DTYPE_INT4, 5.5, 5.5, 5.5, 6.5625},
    {"Q6_K", RIDGE_DTYPE_INT4, 6.5625, 6.5625, 6.5625, 6.5625},
    {"Q4_0", RIDGE_DTYPE_INT4, 4.5, 4.5, 4.5, 6.5625},
    {"Q5_0", RIDGE_DTYPE_INT4, 5.5, 5.5, 5.5, 6.5625},
    {"Q8_0", RIDGE_DTYPE_INT8, 8.5, 8.5, 8.5, 8.5},
    {"MXFP4", RIDGE_DTYPE_FP4, 8.5, 8.5, 4.25, 8.5},
};

static void set_bits(const file_format *f, const char *method, ridge_model *m)
{
    m->quant_method = method;
    m->weight_dtype = f->dtype;
    m->quant_block = 0; /* each row of activations has scales of its own */
    m->quant_bits[RIDGE_QUANT_ATTENTION] = f->attention;
    m->quant_bits[RIDGE_QUANT_DENSE] = f->dense;
    m->quant_bits[RIDGE_QUANT_SHARED] = f->dense;
    m->quant_bits[RIDGE_QUANT_EXPERTS] = f->experts;
    m->quant_bits[RIDGE_QUANT_HEAD] = f->head;
}

/* "exl2 4.0 bpw", "4.25bpw": bits of a weight, scales included; 0: not told. */
static double bits_told(const char *format)
{
    const char *unit = strstr(format, "bpw");
    double bits;
    if (unit == NULL)
        return 0;
    while (unit > format && unit[-1] == ' ')
        unit--;
    const char *first = unit;
    while (first > format &&
           (first[-1] == '.' || (first[-1] >= '0' && first[-1] <= '9')))
        first--;
    const ridge_str number = {first, (size_t)(unit - first)};
    return ridge_parse_double(number, &bits) && bits >= 1 && bits <= 16 ? bits : 0;
}

/* Files of ExLlama's: every matrix in as many bits as fits its sensitivity, to a mean
 * that is asked for; the head in a mix about 6.3 wide.
 * @source exllamav2-2024 */
static file_format told_format(double bits)
{
    static const double HEAD_BITS = 6.3, WIDEST_NARROW = 6.5;
    return (file_format){.dtype = bits <= WIDEST_NARROW ? RIDGE_DTYPE_INT4
                                                        : RIDGE_DTYPE_INT8,
                         .attention = bits,
                         .dense = bits,
                         .experts = bits,
                         .head = HEAD_BITS};
}

static ridge_status repack(ridge_ctx *cx, const file_format *f, const char *method,
                           const ridge_model **model)
{
    ridge_model *own = ridge_new(ridge_ctx_arena(cx), ridge_model, 1);
    if (own == NULL)
        return ridge_fail_nomem(cx);
    *own = **model;
    set_bits(f, method, own);
    *model = own;
    return RIDGE_OK;
}

ridge_status served_repack(ridge_ctx *cx, const char *format, const ridge_model **model)
{
    const double bits = bits_told(format);
    if (bits > 0) {
        const file_format told = told_format(bits);
        return repack(cx, &told, "exl2", model);
    }
    for (size_t i = 0; i < RIDGE_COUNT_OF(formats); i++) {
        if (strcmp(format, formats[i].name) == 0)
            return repack(cx, &formats[i], "gguf", model);
    }
    return RIDGE_OK;
}
