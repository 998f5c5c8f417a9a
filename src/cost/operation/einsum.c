/* Einsums over named dims: what each dim does, FLOPs and bytes, and the matmul that
 * the matrix unit sees. Input is hostile: every complaint names its column. */
#include "ridge/cost.h"
#include "word.h"

#include <string.h>

const char *ridge_dim_role_text(ridge_dim_role role)
{
    switch (role) {
    case RIDGE_DIM_BATCHING:
        return "batching";
    case RIDGE_DIM_CONTRACTING:
        return "contracting";
    case RIDGE_DIM_FREE:
        return "free";
    case RIDGE_DIM_SUMMED:
        return "summed";
    }
    return "unknown";
}

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

/* ---- notation -------------------------------------------------------------------- */

static ridge_status fail_at(ridge_ctx *cx, const char *text, size_t at,
                            const char *what)
{
    return ridge_fail(cx, RIDGE_E_PARSE, "einsum '%.80s', column %zu: %s", text, at + 1,
                      what);
}

static int dim_of(const ridge_einsum *e, char letter)
{
    const char *found = memchr(e->letters, letter, (size_t)e->n_dims);
    return found ? (int)(found - e->letters) : -1;
}

/* One letter of an input (part 0, 1) or of the output (part 2). */
static ridge_status read_letter(ridge_ctx *cx, const char *text, size_t at, int part,
                                ridge_einsum *e)
{
    const char c = text[at];
    int dim = dim_of(e, c);
    if (dim < 0 && part == 2)
        return fail_at(cx, text, at, "this output dim is in no input");
    if (dim < 0 && e->n_dims == RIDGE_EINSUM_DIM_MAX)
        return fail_at(cx, text, at, "more than 32 different dims");
    if (dim < 0) {
        dim = e->n_dims++;
        e->letters[dim] = c;
        e->sizes[dim] = 1;
    }
    uint32_t *mask = part == 2 ? &e->output : &e->inputs[part];
    if (*mask & (1u << dim)) {
        return fail_at(cx, text, at,
                       "a dim twice in one array: diagonals are not taken");
    }
    *mask |= 1u << dim;
    return RIDGE_OK;
}

/* "btd,df->btd": part counts 0, 1 for the inputs and jumps to 2 behind the arrow. */
static ridge_status read_notation(ridge_ctx *cx, const char *text, ridge_einsum *e)
{
    int part = 0;
    size_t at = 0;
    for (; text[at]; at++) {
        const char c = text[at];
        if (c == ' ')
            continue;
        if (is_letter(c)) {
            RIDGE_TRY(read_letter(cx, text, at, part, e));
        } else if (c == ',' && part == 0) {
            part = 1;
        } else if (c == ',') {
            return fail_at(cx, text, at, "at most two inputs: contract two at a time");
        } else if (c == '-' && text[at + 1] == '>' && part < 2) {
            e->n_inputs = part + 1;
            part = 2;
            at++;
        } else {
            return fail_at(cx, text, at,
                           "expected dim letters a-z A-Z, one comma and one ->, as in "
                           "btd,df->btf");
        }
    }
    if (part != 2) {
        return fail_at(cx, text, at,
                       "the output is missing: write ->, as in ij,jk->ik");
    }
    if (e->n_dims == 0)
        return fail_at(cx, text, 0, "no dims");
    return RIDGE_OK;
}

/* ---- sizes ----------------------------------------------------------------------- */

static bool product_of(const ridge_einsum *e, uint32_t mask, double *out)
{
    int64_t product = 1;
    for (int i = 0; i < e->n_dims; i++) {
        if ((mask & (1u << i)) && !ridge_mul_i64(product, e->sizes[i], &product))
            return false;
    }
    *out = (double)product;
    return true;
}

static uint32_t all_dims(const ridge_einsum *e)
{
    return e->inputs[0] | e->inputs[1] | e->output;
}

static bool measure(ridge_einsum *e)
{
    return product_of(e, all_dims(e), &e->points) &&
           product_of(e, e->inputs[0], &e->elements[0]) &&
           product_of(e, e->inputs[1], &e->elements[1]) &&
           product_of(e, e->output, &e->elements[2]);
}

/* One "d=8192" of the sizes. @param given  bit i: dim i was given before */
static ridge_status read_size(ridge_ctx *cx, ridge_str item, ridge_einsum *e,
                              uint32_t *given)
{
    ridge_str value = item;
    const ridge_str name = ridge_str_trim(ridge_str_cut(&value, '='));
    if (name.n != 1 || !is_letter(name.p[0]) || !value.p) {
        return ridge_fail(cx, RIDGE_E_ARG, "dims: '%s' is not a size: write b=4,t=4096",
                          word_of(item).s);
    }
    const int dim = dim_of(e, name.p[0]);
    if (dim < 0) {
        return ridge_fail(cx, RIDGE_E_ARG, "dims: '%c' is no dim of the einsum",
                          name.p[0]);
    }
    if (*given & (1u << dim))
        return ridge_fail(cx, RIDGE_E_ARG, "dims: '%c' is given twice", name.p[0]);
    double size = 0;
    if (!ridge_parse_count(ridge_str_trim(value), &size) || size < 1 || size > 0x1p53 ||
        size != (double)(int64_t)size) {
        return ridge_fail(cx, RIDGE_E_ARG,
                          "dims: %c=%s: a size is a whole number from 1 to 2^53",
                          name.p[0], word_of(value).s);
    }
    e->sizes[dim] = (int64_t)size;
    *given |= 1u << dim;
    return RIDGE_OK;
}

static ridge_status read_sizes(ridge_ctx *cx, const char *dims, ridge_einsum *e)
{
    uint32_t given = 0;
    ridge_str rest = ridge_str_of(dims ? dims : "");
    while (rest.p && rest.n > 0)
        RIDGE_TRY(read_size(cx, ridge_str_cut(&rest, ','), e, &given));
    for (int i = 0; i < e->n_dims; i++) {
        if (!(given & (1u << i))) {
            return ridge_fail(cx, RIDGE_E_ARG,
                              "dim '%c' has no size: give --dims %c=N with the others",
                              e->letters[i], e->letters[i]);
        }
    }
    if (!measure(e)) {
        return ridge_fail(cx, RIDGE_E_ARG,
                          "the product of the dims is beyond 2^63: make them smaller");
    }
    return RIDGE_OK;
}

ridge_status ridge_einsum_parse(ridge_ctx *cx, const char *text, const char *dims,
                                ridge_einsum *out)
{
    ridge_einsum e = {0};
    RIDGE_TRY(read_notation(cx, text, &e));
    RIDGE_TRY(read_sizes(cx, dims, &e));
    *out = e;
    return RIDGE_OK;
}

bool ridge_einsum_resize(ridge_einsum *einsum, char letter, int64_t size)
{
    ridge_einsum e = *einsum;
    const int dim = dim_of(&e, letter);
    if (dim < 0 || size < 1)
        return false;
    e.sizes[dim] = size;
    if (!measure(&e))
        return false;
    *einsum = e;
    return true;
}

/* ---- arithmetic ------------------------------------------------------------------ */

ridge_dim_role ridge_einsum_role(const ridge_einsum *einsum, int dim)
{
    const uint32_t bit = 1u << dim;
    const bool in_both = (einsum->inputs[0] & einsum->inputs[1] & bit) != 0;
    if (einsum->output & bit)
        return in_both ? RIDGE_DIM_BATCHING : RIDGE_DIM_FREE;
    return in_both ? RIDGE_DIM_CONTRACTING : RIDGE_DIM_SUMMED;
}

bool ridge_einsum_is_matmul(const ridge_einsum *einsum)
{
    return (einsum->inputs[0] & einsum->inputs[1] & ~einsum->output) != 0;
}

/*
 * A multiply and an add for each point of the iteration space when two inputs are
 * contracted; a multiply alone for a product, an add alone for a sum. A dim that is
 * summed in one input alone counts as a loop, though it could be summed beforehand.
 */
double ridge_einsum_flops(const ridge_einsum *einsum)
{
    const bool is_reduced = (all_dims(einsum) & ~einsum->output) != 0;
    if (einsum->n_inputs == 2)
        return (is_reduced ? 2 : 1) * einsum->points;
    return is_reduced ? einsum->points : 0;
}

double ridge_einsum_flops_exact(const ridge_einsum *einsum)
{
    const bool is_reduced = (all_dims(einsum) & ~einsum->output) != 0;
    return ridge_einsum_flops(einsum) - (is_reduced ? einsum->elements[2] : 0);
}

ridge_matmul ridge_einsum_matmul(const ridge_einsum *einsum,
                                 const ridge_formats *formats)
{
    ridge_matmul op = {
        .batch = 1,
        .m = 1,
        .k = 1,
        .n = 1,
        .summed = 1,
        .activation = formats->activation,
        .weight = formats->weight,
        .output = formats->output,
        .compute = formats->compute,
    };
    for (int i = 0; i < einsum->n_dims; i++) {
        const double size = (double)einsum->sizes[i];
        const bool is_first = (einsum->inputs[0] & (1u << i)) != 0;
        switch (ridge_einsum_role(einsum, i)) {
        case RIDGE_DIM_BATCHING:
            op.batch *= size;
            break;
        case RIDGE_DIM_CONTRACTING:
            op.k *= size;
            break;
        case RIDGE_DIM_SUMMED:
            op.summed *= size;
            *(is_first ? &op.m : &op.n) *= size;
            break;
        case RIDGE_DIM_FREE:
            *(is_first ? &op.m : &op.n) *= size;
            break;
        }
    }
    return op;
}

ridge_op_cost ridge_einsum_cost(const ridge_chip *chip, const ridge_einsum *einsum,
                                const ridge_formats *formats, ridge_memory memory)
{
    if (ridge_einsum_is_matmul(einsum)) {
        const ridge_matmul op = ridge_einsum_matmul(einsum, formats);
        return ridge_matmul_cost(chip, &op, memory);
    }
    double bytes = einsum->elements[0] * ridge_dtype_bytes(formats->activation) +
                   einsum->elements[2] * ridge_dtype_bytes(formats->output);
    if (einsum->n_inputs == 2)
        bytes += einsum->elements[1] * ridge_dtype_bytes(formats->weight);
    return ridge_stream_cost_from(chip, ridge_einsum_flops(einsum), bytes, memory);
}
