/*
 * Copying strided elements with conversion. Where the two sides have their neighbours
 * along different dims (a transposition), it goes by tiles that stay in the cache.
 */
#include "stored_tensor.h"

#include <string.h>

enum {
    LONG = 8,
    TILE_ROWS = 64,     /* along the source */
    TILE_COLUMNS = 512, /* along the destination: of a kilobyte or more */
    PAD = 16,           /* so that rows of the buffer do not meet in the cache */
    AHEAD = 16,         /* reads that are asked for before their turn */
    BUFFER_ELEMENT_BYTES = 4
};

/* ---- numbers --------------------------------------------------------------------- */

static float float_of_bits(uint32_t bits)
{
    float f;
    memcpy(&f, &bits, sizeof f);
    return f;
}

static float load_f32(const unsigned char *p)
{
    float f;
    memcpy(&f, p, sizeof f);
    return f;
}

static float load_bf16(const unsigned char *p)
{
    uint16_t bits;
    memcpy(&bits, p, sizeof bits);
    return float_of_bits((uint32_t)bits << 16);
}

/* IEEE 754 half: subnormal ones are whole multiples of 2^-24. */
static float load_f16(const unsigned char *p)
{
    uint16_t h;
    memcpy(&h, p, sizeof h);
    const uint32_t sign = (uint32_t)(h & 0x8000u) << 16;
    const uint32_t exponent = h >> 10 & 0x1Fu, fraction = h & 0x3FFu;
    if (exponent == 0) {
        const float v = (float)fraction * 0x1p-24f;
        return sign != 0 ? -v : v;
    }
    if (exponent == 31)
        return float_of_bits(sign | 0x7F800000u | fraction << 13);
    return float_of_bits(sign | (exponent + 112) << 23 | fraction << 13);
}

static void store_f32(unsigned char *p, float f)
{
    memcpy(p, &f, sizeof f);
}

/* To the nearest, ties to even; what is no number stays so. */
static void store_bf16(unsigned char *p, float f)
{
    uint32_t bits;
    memcpy(&bits, &f, sizeof bits);
    const bool is_nan = (bits & 0x7FFFFFFFu) > 0x7F800000u;
    bits += is_nan ? 0 : 0x7FFFu + (bits >> 16 & 1u);
    const uint16_t high = (uint16_t)(bits >> 16 | (is_nan ? 0x40u : 0u));
    memcpy(p, &high, sizeof high);
}

/* ---- runs ------------------------------------------------------------------------ */

/* n elements in a row; steps in bytes. */
typedef struct run {
    unsigned char *to;
    const unsigned char *from;
    int64_t to_step, from_step, n;
} run;

typedef void run_fn(run r);

#define CONVERT(name, load, store)                                                     \
    static void name(run r)                                                            \
    {                                                                                  \
        for (int64_t i = 0; i < r.n; i++)                                              \
            store(r.to + i * r.to_step, load(r.from + i * r.from_step));               \
    }

CONVERT(bf16_to_f32, load_bf16, store_f32)
CONVERT(f16_to_f32, load_f16, store_f32)
CONVERT(f32_to_bf16, load_f32, store_bf16)
CONVERT(f16_to_bf16, load_f16, store_bf16)

#undef CONVERT

#define MOVE(name, bytes)                                                              \
    static void name(run r)                                                            \
    {                                                                                  \
        if (r.to_step == (bytes) && r.from_step == (bytes)) {                          \
            memcpy(r.to, r.from, (size_t)r.n *(bytes));                                \
            return;                                                                    \
        }                                                                              \
        for (int64_t i = 0; i < r.n; i++)                                              \
            memcpy(r.to + i * r.to_step, r.from + i * r.from_step, (bytes));           \
    }

MOVE(move_1, 1)
MOVE(move_2, 2)
MOVE(move_4, 4)
MOVE(move_8, 8)

#undef MOVE

static run_fn *run_of(ridge__stored to, ridge__stored from)
{
    if (to == from) {
        const size_t bytes = ridge__stored_bytes(to);
        return bytes == 1 ? move_1 : bytes == 2 ? move_2 : bytes == 4 ? move_4 : move_8;
    }
    if (to == RIDGE__STORED_F32 && from == RIDGE__STORED_BF16)
        return bf16_to_f32;
    if (to == RIDGE__STORED_F32 && from == RIDGE__STORED_F16)
        return f16_to_f32;
    if (to == RIDGE__STORED_BF16 && from == RIDGE__STORED_F32)
        return f32_to_bf16;
    if (to == RIDGE__STORED_BF16 && from == RIDGE__STORED_F16)
        return f16_to_bf16;
    return NULL;
}

bool ridge__stored_converts(ridge__stored to, ridge__stored from)
{
    return run_of(to, from) != NULL;
}

/* ---- loops ----------------------------------------------------------------------- */

/* Dims of more than one element, those with the largest steps first; the last is that
 * along which the destination has its neighbours, the one before it (if there is
 * another) that of the source. */
typedef struct plan {
    run_fn *run;
    run_fn *move;     /* the same without conversion */
    int64_t to_bytes; /* of an element */
    int n;
    ridge__copy_dim dims[RIDGE__COPY_DIM_MAX]; /* steps in bytes */
} plan;

static int64_t magnitude(int64_t v)
{
    return v < 0 ? -v : v;
}

static void move_to_end(plan *p, int at, int end)
{
    const ridge__copy_dim dim = p->dims[at];
    for (; at < end; at++)
        p->dims[at] = p->dims[at + 1];
    p->dims[end] = dim;
}

/* Whether dim a is better to go along than b: long enough, then by its step. */
static bool is_nearer(const plan *p, int a, int b, int64_t step_a, int64_t step_b)
{
    const bool is_long_a = p->dims[a].count >= LONG,
               is_long_b = p->dims[b].count >= LONG;
    if (is_long_a != is_long_b)
        return is_long_a;
    return magnitude(step_a) <= magnitude(step_b);
}

static void order_dims(plan *p)
{
    int to = 0, from = 0;
    for (int i = 1; i < p->n; i++) {
        if (is_nearer(p, i, to, p->dims[i].to, p->dims[to].to))
            to = i;
        if (is_nearer(p, i, from, p->dims[i].from, p->dims[from].from))
            from = i;
    }
    if (p->n < 2)
        return;
    if (from != to) {
        move_to_end(p, from, p->n - 1);
        to = to > from ? to - 1 : to;
    }
    move_to_end(p, to, p->n - 1);
}

static plan plan_of(const ridge__stored_copy *c)
{
    const int64_t to = (int64_t)ridge__stored_bytes(c->to_format);
    plan p = {.run = run_of(c->to_format, c->from_format),
              .move = run_of(c->to_format, c->to_format),
              .to_bytes = to};
    const int64_t from = (int64_t)ridge__stored_bytes(c->from_format);
    for (int i = 0; i < c->n; i++) {
        const ridge__copy_dim d = c->dims[i];
        if (d.count != 1)
            p.dims[p.n++] = (ridge__copy_dim){d.count, d.to * to, d.from * from};
    }
    order_dims(&p);
    if (p.n == 0)
        p.dims[p.n++] = (ridge__copy_dim){1, to, from};
    return p;
}

static int64_t least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* A tile of the last two dims by way of a buffer: read along the source's neighbours,
 * written along the destination's. Each read begins in another page, which no hardware
 * foresees: it is asked for ahead. */
static void cross_tile(const plan *p, unsigned char *to, const unsigned char *from,
                       int64_t n_rows, int64_t n_columns)
{
    const ridge__copy_dim rows = p->dims[p->n - 2], row = p->dims[p->n - 1];
    const int64_t bytes = p->to_bytes, pitch = (TILE_COLUMNS + PAD) * bytes;
    unsigned char buffer[TILE_ROWS * (TILE_COLUMNS + PAD) * BUFFER_ELEMENT_BYTES];
    for (int64_t c = 0; c < n_columns; c++) {
        if (c + AHEAD < n_columns)
            __builtin_prefetch(from + (c + AHEAD) * row.from);
        p->run(
            (run){buffer + c * bytes, from + c * row.from, pitch, rows.from, n_rows});
    }
    for (int64_t r = 0; r < n_rows; r++) {
        p->move((run){to + r * rows.to, buffer + r * pitch, row.to, bytes, n_columns});
    }
}

static void run_crossed(const plan *p, unsigned char *to, const unsigned char *from)
{
    const ridge__copy_dim rows = p->dims[p->n - 2], row = p->dims[p->n - 1];
    for (int64_t c = 0; c < row.count; c += TILE_COLUMNS) {
        for (int64_t r = 0; r < rows.count; r += TILE_ROWS) {
            cross_tile(
                p, to + r * rows.to + c * row.to, from + r * rows.from + c * row.from,
                least(TILE_ROWS, rows.count - r), least(TILE_COLUMNS, row.count - c));
        }
    }
}

/* The last two dims. */
static void run_plane(const plan *p, unsigned char *to, const unsigned char *from)
{
    static const ridge__copy_dim ONCE = {1, 0, 0};
    const ridge__copy_dim rows = p->n > 1 ? p->dims[p->n - 2] : ONCE;
    const ridge__copy_dim row = p->dims[p->n - 1];
    const bool is_crossed = p->n > 1 && magnitude(rows.from) < magnitude(row.from);
    if (is_crossed && p->to_bytes <= BUFFER_ELEMENT_BYTES) {
        run_crossed(p, to, from);
        return;
    }
    for (int64_t r = 0; r < rows.count; r++) {
        p->run(
            (run){to + r * rows.to, from + r * rows.from, row.to, row.from, row.count});
    }
}

/* Depth: the dims before the last two. */
static void run_dims(const plan *p, int at, unsigned char *to,
                     const unsigned char *from)
{
    if (at >= p->n - 2) {
        run_plane(p, to, from);
        return;
    }
    for (int64_t i = 0; i < p->dims[at].count; i++)
        run_dims(p, at + 1, to + i * p->dims[at].to, from + i * p->dims[at].from);
}

void ridge__stored_copy_run(const ridge__stored_copy *copy)
{
    for (int i = 0; i < copy->n; i++) {
        if (copy->dims[i].count == 0)
            return;
    }
    const plan p = plan_of(copy);
    run_dims(&p, 0, copy->to, copy->from);
}
