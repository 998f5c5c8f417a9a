/* Norms, elementwise operations and look-ups as kernels. */
#include "gradient_sums.h"
#include "group_norm.h"
#include "rows_bias.h"

#include <string.h>

/* ---- norm -------------------------------------------------------------------------
 */

/* Where the gradient of the bias goes, which a backward norm does not read: to the
 * output of none of its inputs. */
static int bias_output(const ridge__call *c)
{
    const int x = ridge__gradient_output(c, 0), w = ridge__gradient_output(c, 1);
    for (int i = 0; i < c->op->n_outputs; i++) {
        if (i != x && i != w)
            return i;
    }
    return -1;
}

static ridge_status norm_backward(ridge__call *c, ridge__norm *n)
{
    const int last = c->op->n_inputs - 1;
    ridge__gradient_sums s = {.n = 0};
    n->d_y = ridge__in_array(c, last);
    RIDGE_TRY(ridge__gradient_array(c, ridge__gradient_output(c, 0), &s, &n->d_x));
    if (last > 1) {
        RIDGE_TRY(ridge__gradient_array(c, ridge__gradient_output(c, 1), &s, &n->d_w));
        RIDGE_TRY(ridge__gradient_array(c, bias_output(c), &s, &n->d_b));
    }
    if (n->d_x.p == NULL)
        return ridge_fail(c->m->cx, RIDGE_E_ARG,
                          "%s has a weight's gradient alone: this cannot be run",
                          c->op->name);
    RIDGE_TRY(c->m->device->ops->norm_backward(c->m->device, n));
    return ridge__gradient_sums_finish(c, &s);
}

ridge_status ridge__call_norm(ridge__call *c)
{
    if (c->op->norm_groups > 1)
        return ridge__call_group_norm(c);
    const ridge__tensor_part *x = ridge__in_part(c, 0);
    const int n_weights = c->op->n_inputs - (c->op->is_backward ? 1 : 0);
    const int normed = n_weights > 1 ? ridge__in_part(c, 1)->n_dims : 1;
    ridge__norm n = {.rows = ridge__tensor_part_product(x, 0, x->n_dims - normed),
                     .d = ridge__tensor_part_product(x, x->n_dims - normed, x->n_dims),
                     .kind = c->op->norm,
                     .epsilon = c->m->options.numbers.norm_epsilon,
                     .x = ridge__in_array(c, 0)};
    if (n_weights > 1)
        n.w = ridge__in_array(c, 1);
    if (n_weights > 2)
        n.b = ridge__in_array(c, 2);
    if (c->op->is_backward)
        return norm_backward(c, &n);
    n.y = ridge__out_array(c, 0);
    return c->m->device->ops->norm(c->m->device, &n);
}

/* ---- elementwise ------------------------------------------------------------------
 */

/* Strides of the output's dims in an input, 0 where it lacks one. @return where its
 * part begins in the input's array, if that holds more (a slice) */
static int64_t strides_of(const ridge__call *c, int input, int64_t *strides)
{
    const ridge_tensor *out = ridge__out_tensor(c, 0), *in = ridge__in_tensor(c, input);
    const ridge__tensor_part *to = ridge__out_part(c, 0),
                             *from = ridge__in_part(c, input);
    int64_t first = 0;
    for (int i = 0; i < out->n_dims; i++) {
        const int at = ridge__tensor_position(in, out->dims[i]);
        strides[i] =
            at < 0 ? 0 : ridge__tensor_part_product(from, at + 1, from->n_dims);
        if (at >= 0)
            first += (to->spans[i].start - from->spans[at].start) * strides[i];
    }
    return first;
}

/* Padding stays zero: behind a slice the input goes on with what others have. */
static void clip(const ridge__call *c, int64_t *sizes)
{
    const ridge_tensor *out = ridge__out_tensor(c, 0), *in = ridge__in_tensor(c, 0);
    const ridge__tensor_part *to = ridge__out_part(c, 0);
    for (int i = 0; i < out->n_dims; i++) {
        if (ridge__tensor_position(in, out->dims[i]) >= 0)
            sizes[i] = to->spans[i].valid;
    }
}

static ridge__array behind(ridge__array a, int64_t elements)
{
    a.p = (char *)a.p + elements * (int64_t)ridge_dtype_bytes(a.dtype);
    return a;
}

static ridge_status run_copy(ridge__call *c)
{
    const ridge__tensor_part *to = ridge__out_part(c, 0);
    ridge__copy copy = {
        .n_dims = to->n_dims, .y = ridge__out_array(c, 0), .is_added = c->adds[0]};
    for (int i = 0; i < to->n_dims; i++) {
        copy.sizes[i] = to->spans[i].length;
        copy.y_strides[i] = ridge__tensor_part_product(to, i + 1, to->n_dims);
    }
    const int64_t first = strides_of(c, 0, copy.x_strides);
    copy.x = behind(ridge__in_array(c, 0), first);
    const int64_t whole = ridge__tensor_part_product(to, 0, to->n_dims);
    clip(c, copy.sizes);
    int64_t n = 1;
    for (int i = 0; i < to->n_dims; i++)
        n *= copy.sizes[i];
    if (n < whole && !c->adds[0])
        RIDGE_TRY(c->m->device->ops->zero(c->m->device, copy.y.p,
                                          (size_t)whole *
                                              (size_t)ridge_dtype_bytes(copy.y.dtype)));
    return c->m->device->ops->copy(c->m->device, &copy);
}

/* Add, multiply, copy and scale compute the same in a backward block. */
static bool is_derivative(const ridge_operation *op)
{
    switch ((int)op->function) {
    case RIDGE_FUNCTION_ADD:
    case RIDGE_FUNCTION_MULTIPLY:
    case RIDGE_FUNCTION_COPY:
    case RIDGE_FUNCTION_SCALE:
        return false;
    default:
        return op->is_backward;
    }
}

static void make_dense(const ridge__call *c, ridge__elementwise *e)
{
    int64_t sizes[RIDGE_TENSOR_DIM_MAX];
    const int n = ridge__call_sizes(c, false, 0, sizes);
    e->n_dims = 1;
    e->sizes[0] = 1;
    for (int i = 0; i < n; i++)
        e->sizes[0] *= sizes[i];
    e->a_strides[0] = e->b_strides[0] = 1;
}

static ridge_status run_derivative(ridge__call *c)
{
    const int factors = ridge_function_inputs(c->op->function);
    ridge__gradient_sums s = {.n = 0};
    ridge__elementwise e = {.function = c->op->function,
                            .scale = (float)c->op->scale,
                            .a = ridge__in_array(c, 0),
                            .d_y = ridge__in_array(c, c->op->n_inputs - 1)};
    if (factors > 1)
        e.b = ridge__in_array(c, 1);
    make_dense(c, &e);
    RIDGE_TRY(ridge__gradient_array(c, ridge__gradient_output(c, 0), &s, &e.d_a));
    if (factors > 1)
        RIDGE_TRY(ridge__gradient_array(c, ridge__gradient_output(c, 1), &s, &e.d_b));
    RIDGE_TRY(c->m->device->ops->elementwise_backward(c->m->device, &e));
    return ridge__gradient_sums_finish(c, &s);
}

static ridge_status run_dense(const ridge__call *c, ridge__elementwise *e)
{
    make_dense(c, e);
    return c->m->device->ops->elementwise(c->m->device, e);
}

static bool is_alike(const ridge__call *c)
{
    const ridge__tensor_part *out = ridge__out_part(c, 0);
    for (int i = 0; i < c->op->n_inputs; i++) {
        if (ridge__in_part(c, i)->n_dims != out->n_dims ||
            ridge__in_part(c, i)->elements != out->elements ||
            memcmp(ridge__in_tensor(c, i)->dims, ridge__out_tensor(c, 0)->dims,
                   (size_t)out->n_dims * sizeof(int)) != 0)
            return false;
    }
    return true;
}

/* An operand that lacks dims is repeated. */
static ridge_status run_repeated(ridge__call *c, ridge__elementwise *e)
{
    const ridge__tensor_part *out = ridge__out_part(c, 0);
    e->n_dims = out->n_dims;
    for (int i = 0; i < out->n_dims; i++)
        e->sizes[i] = out->spans[i].length;
    e->a = behind(e->a, strides_of(c, 0, e->a_strides));
    if (e->b.p)
        e->b = behind(e->b, strides_of(c, 1, e->b_strides));
    return c->m->device->ops->elementwise(c->m->device, e);
}

/* ADD and the like into a sum: through scratch. */
static ridge_status run_function(ridge__call *c)
{
    if (is_derivative(c->op))
        return run_derivative(c);
    ridge__elementwise e = {.function = c->op->function,
                            .scale = (float)c->op->scale,
                            .a = ridge__in_array(c, 0),
                            .y = ridge__out_array(c, 0)};
    const bool adds = c->adds[0];
    if (ridge_function_inputs(c->op->function) > 1)
        e.b = ridge__in_array(c, 1);
    if (adds)
        RIDGE_TRY(ridge__scratch_take(c, c->out[0]->elements, e.y.dtype, &e.y));
    const bool is_dense = ridge__out_part(c, 0)->is_rows || is_alike(c);
    RIDGE_TRY(ridge__rows_have_bias(c) ? ridge__rows_bias_add(c, &e)
              : is_dense               ? run_dense(c, &e)
                                       : run_repeated(c, &e));
    if (!adds)
        return RIDGE_OK;
    RIDGE_TRY(ridge__output_add(c, 0, e.y));
    ridge__scratch_give(c, &e.y);
    return RIDGE_OK;
}

/* ---- rotary, append ----------------------------------------------------------------
 */

/* As the model's layer turns. */
static const ridge__rotation *rotation_of(const ridge__call *c)
{
    const ridge__numbers *numbers = &c->m->options.numbers;
    const ridge_program *program = c->m->program;
    if (!numbers->rotation_of || !c->m->block_layer)
        return &numbers->rotations[0];
    const int block = ridge__op_block_of(program, c->at->op);
    const int64_t layer = c->m->block_layer[block] + c->at->repetition;
    return &numbers->rotations[layer < 0 ? 0 : numbers->rotation_of[layer]];
}

static ridge_status run_rotary(ridge__call *c)
{
    const ridge__rotation *rotation = rotation_of(c);
    const int input = c->op->n_inputs - 1;
    const ridge__tensor_part *x = ridge__in_part(c, input);
    const int t =
        ridge__tensor_position(ridge__in_tensor(c, input), c->op->position_dim);
    if (t < 0)
        return ridge_fail(c->m->cx, RIDGE_E_INTERNAL, "%s has no positions",
                          c->op->name);
    const ridge__rotary r = {.outer = ridge__tensor_part_product(x, 0, t),
                             .t = x->spans[t].length,
                             .inner =
                                 ridge__tensor_part_product(x, t + 1, x->n_dims - 1),
                             .h = x->spans[x->n_dims - 1].length,
                             .start = x->spans[t].start + c->m->position,
                             .frequencies = rotation->frequencies,
                             .magnitude = rotation->magnitude,
                             .is_back = c->op->is_backward,
                             .x = ridge__in_array(c, input),
                             .y = ridge__out_array(c, 0)};
    return c->m->device->ops->rotary(c->m->device, &r);
}

/* Move what a full cache keeps to its front. */
static ridge_status shift_cache(ridge__call *c, const ridge__tensor_part *cache, int s,
                                int64_t by)
{
    const int64_t outer = ridge__tensor_part_product(cache, 0, s);
    const int64_t inner = ridge__tensor_part_product(cache, s + 1, cache->n_dims);
    const int64_t length = cache->spans[s].length, keep = length - by;
    ridge__array was = ridge__out_array(c, 0), spare;
    if (keep <= 0)
        return RIDGE_OK;
    RIDGE_TRY(ridge__scratch_take(c, outer * keep * inner, was.dtype, &spare));
    ridge__copy out = {.n_dims = 2,
                       .sizes = {outer, keep * inner},
                       .x_strides = {length * inner, 1},
                       .y_strides = {keep * inner, 1},
                       .x = behind(was, by * inner),
                       .y = spare};
    const ridge__copy back = {.n_dims = 2,
                              .sizes = {outer, keep * inner},
                              .x_strides = {keep * inner, 1},
                              .y_strides = {length * inner, 1},
                              .x = spare,
                              .y = was};
    RIDGE_TRY(c->m->device->ops->copy(c->m->device, &out));
    RIDGE_TRY(c->m->device->ops->copy(c->m->device, &back));
    ridge__scratch_give(c, &spare);
    return RIDGE_OK;
}

static int differing_dim(const ridge__call *c)
{
    const ridge_tensor *x = ridge__in_tensor(c, 0), *cache = ridge__out_tensor(c, 0);
    for (int i = 0; i < cache->n_dims; i++) {
        if (x->dims[i] != cache->dims[i])
            return i;
    }
    return -1;
}

/* Where tokens go in a cache: n from x's on, at the cache's place at; of this rank. */
typedef struct append_place {
    int64_t from, at, n;
} append_place;

/* A rank whose part of the positions does not hold them keeps none of the tokens. */
static append_place place_of(const ridge__span *span, int64_t at, int64_t taken,
                             int64_t t)
{
    const int64_t end = span->start + span->length;
    const int64_t first = at > span->start ? at : span->start;
    const int64_t last = at + taken < end ? at + taken : end;
    return (append_place){.from = t - taken + first - at,
                          .at = first - span->start,
                          .n = last > first ? last - first : 0};
}

/* A cache holds the tokens before, then gets those of now; what does not fit drops out
 * in front. A cache that is cut by positions stays as long as it is. */
static ridge_status run_append(ridge__call *c)
{
    const ridge__tensor_part *x = ridge__in_part(c, 0), *cache = ridge__out_part(c, 0);
    const int s = differing_dim(c);
    if (s < 0)
        return ridge_fail(c->m->cx, RIDGE_E_INTERNAL, "%s appends to itself",
                          c->op->name);
    const int dim = ridge__out_tensor(c, 0)->dims[s];
    const int64_t inner = ridge__tensor_part_product(cache, s + 1, cache->n_dims);
    const int64_t length = cache->spans[s].length, t = x->spans[s].length;
    const int64_t whole = c->m->program->dims[dim].size;
    const int64_t taken = t < whole ? t : whole;
    const bool is_decode = c->m->program->phase == RIDGE_PHASE_DECODE;
    int64_t at = is_decode ? c->m->position : whole - taken;
    if (at + taken > whole) {
        const int64_t held = at < whole ? at : whole;
        if (length < whole)
            return ridge_fail(c->m->cx, RIDGE_E_ARG,
                              "%s: the cache of %lld tokens is full, and cut by them: "
                              "make it longer",
                              c->op->name, (long long)whole);
        RIDGE_TRY(shift_cache(c, cache, s, held + taken - whole));
        at = whole - taken;
    }
    const append_place place = place_of(&cache->spans[s], at, taken, t);
    const ridge__copy copy = {
        .n_dims = 2,
        .sizes = {ridge__tensor_part_product(cache, 0, s), place.n * inner},
        .x_strides = {t * inner, 1},
        .y_strides = {length * inner, 1},
        .x = behind(ridge__in_array(c, 0), place.from * inner),
        .y = behind(ridge__out_array(c, 0), place.at * inner)};
    return place.n > 0 ? c->m->device->ops->copy(c->m->device, &copy) : RIDGE_OK;
}

ridge_status ridge__call_elementwise(ridge__call *c)
{
    switch ((int)c->op->function) {
    case RIDGE_FUNCTION_ROTARY:
        return run_rotary(c);
    case RIDGE_FUNCTION_APPEND:
        return run_append(c);
    case RIDGE_FUNCTION_COPY:
        if (!ridge__out_part(c, 0)->is_rows)
            return run_copy(c);
        if (!ridge__rows_are_alike(c, c->op->inputs[0], c->op->outputs[0]))
            return ridge__call_rows_move(c);
        RIDGE_TRY(ridge__rows_make(c, 0));
        break;
    default:
        break;
    }
    return run_function(c);
}

/* ---- look-ups ----------------------------------------------------------------------
 */

ridge_status ridge__call_gather(ridge__call *c)
{
    const bool is_back = c->op->is_backward;
    const ridge__tensor_part *table =
        is_back ? ridge__out_part(c, 0) : ridge__in_part(c, 0);
    const int ids = is_back ? 0 : 1;
    ridge__gather g = {.rows = ridge__in_part(c, ids)->elements,
                       .d = ridge__tensor_part_product(table, 1, table->n_dims),
                       .words = table->spans[0].valid,
                       .first = table->spans[0].start,
                       .ids = c->in[ids]->p,
                       .is_backward = is_back};
    g.table = is_back ? ridge__out_array(c, 0) : ridge__in_array(c, 0);
    g.y = is_back ? ridge__in_array(c, 1) : ridge__out_array(c, 0);
    if (is_back && !c->adds[0])
        RIDGE_TRY(c->m->device->ops->zero(
            c->m->device, g.table.p,
            (size_t)c->out[0]->elements * (size_t)ridge_dtype_bytes(g.table.dtype)));
    return c->m->device->ops->gather(c->m->device, &g);
}
