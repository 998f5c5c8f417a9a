/* Safetensors files of counting numbers. */
#include "near.h"

#include "own_folder.h"
#include "weights_build.h"

#include <string.h>

static int64_t elements_of(const built_weight *w)
{
    int64_t n = 1;
    for (int i = 0; i < w->n_dims; i++)
        n *= w->shape[i];
    return n;
}

static int64_t bytes_of(const built_weight *w)
{
    return elements_of(w) * (strcmp(w->dtype, "F32") == 0 ? 4 : 2);
}

/* fp16 of a whole number below 2048. */
static uint16_t half_of(int v)
{
    int exponent = 0;
    if (v == 0)
        return 0;
    while (v >> (exponent + 1) != 0)
        exponent++;
    const int fraction = (v << 10 >> exponent) & 0x3FF;
    return (uint16_t)((exponent + 15) << 10 | fraction);
}

static void add_number(ridge_buf *b, const char *dtype, int v)
{
    const float f = (float)v;
    uint32_t bits;
    memcpy(&bits, &f, sizeof bits);
    uint16_t two = (uint16_t)(bits >> 16);
    if (strcmp(dtype, "F16") == 0)
        two = half_of(v);
    if (strcmp(dtype, "F32") == 0)
        ridge_buf_add(b, (ridge_str){(const char *)&f, 4});
    else
        ridge_buf_add(b, (ridge_str){(const char *)&two, 2});
}

static void add_header(ridge_buf *b, const built_weight *weights, size_t n)
{
    int64_t at = 0;
    ridge_buf_puts(b, "{\"__metadata__\": {\"format\": \"pt\"}");
    for (size_t i = 0; i < n; i++) {
        const built_weight *w = &weights[i];
        ridge_buf_printf(b, ", \"%s\": {\"dtype\": \"%s\", \"shape\": [", w->name,
                         w->dtype);
        for (int d = 0; d < w->n_dims; d++)
            ridge_buf_printf(b, "%s%d", d == 0 ? "" : ", ", (int)w->shape[d]);
        ridge_buf_printf(b, "], \"data_offsets\": [%d, %d]}", (int)at,
                         (int)(at + bytes_of(w)));
        at += bytes_of(w);
    }
    ridge_buf_puts(b, "}");
}

static void add_length(ridge_buf *b, size_t n)
{
    for (int i = 0; i < 8; i++) {
        const char byte = (char)(n >> (8 * i) & 0xFF);
        ridge_buf_add(b, (ridge_str){&byte, 1});
    }
}

const char *weights_file(ridge_ctx *cx, const char *folder, const char *name,
                         const built_weight *weights, size_t n)
{
    ridge_buf head, all;
    ridge_buf_init(&head, ridge_ctx_arena(cx));
    ridge_buf_init(&all, ridge_ctx_arena(cx));
    add_header(&head, weights, n);
    add_length(&all, head.n);
    ridge_buf_add(&all, (ridge_str){head.p, head.n});
    for (size_t i = 0; i < n; i++) {
        for (int64_t k = 0; k < elements_of(&weights[i]); k++)
            add_number(&all, weights[i].dtype, weights[i].first + (int)k);
    }
    return own_file(cx, folder, name, all.p, all.n);
}

const char *weights_raw_file(ridge_ctx *cx, const char *folder, const char *name,
                             const char *header, size_t data_bytes)
{
    ridge_buf all;
    ridge_buf_init(&all, ridge_ctx_arena(cx));
    add_length(&all, strlen(header));
    ridge_buf_puts(&all, header);
    ridge_buf_pad(&all, '\0', data_bytes);
    return own_file(cx, folder, name, all.p, all.n);
}

const char *weights_bytes_file(ridge_ctx *cx, const char *folder, const char *name,
                               const char *header, ridge_str data)
{
    ridge_buf all;
    ridge_buf_init(&all, ridge_ctx_arena(cx));
    add_length(&all, strlen(header));
    ridge_buf_puts(&all, header);
    ridge_buf_add(&all, data);
    return own_file(cx, folder, name, all.p, all.n);
}

/* ---- random ones ----------------------------------------------------------------- */

random_weights random_weights_of(ridge_ctx *cx, void *model, uint64_t seed)
{
    random_weights w = {.at = model, .random = seed};
    ridge_buf_init(&w.header, ridge_ctx_arena(cx));
    return w;
}

static float next_number(random_weights *w)
{
    w->random = w->random * 6364136223846793005ULL + 1442695040888963407ULL;
    return (float)(w->random >> 40) / (float)(1 << 23) - 1.0F;
}

void random_weights_add(random_weights *w, const char *prefix, const random_part *p,
                        float centre, float size)
{
    const int n = (p->rows > 0 ? p->rows : 1) * p->columns;
    ridge_buf_printf(&w->header, "%s\"%s%s\": {\"dtype\": \"F32\", \"shape\": [",
                     w->offset > 0 ? ", " : "{", prefix, p->name);
    if (p->rows > 0)
        ridge_buf_printf(&w->header, "%d, ", p->rows);
    ridge_buf_printf(&w->header, "%d], \"data_offsets\": [%d, %d]}", p->columns,
                     (int)w->offset, (int)w->offset + 4 * n);
    for (int i = 0; i < n; i++)
        *w->at++ = centre + size * next_number(w);
    w->offset += (int64_t)4 * n;
}

const char *random_weights_write(ridge_ctx *cx, const char *folder, random_weights *w,
                                 const void *model, size_t bytes)
{
    ridge_buf_puts(&w->header, "}");
    assert_int_equal(w->offset, bytes);
    return weights_bytes_file(cx, folder, "model.safetensors",
                              ridge_buf_text(&w->header),
                              (ridge_str){(const char *)model, bytes});
}
