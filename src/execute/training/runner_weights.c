/*
 * Weights and optimizer states of a rank: new ones by counter, from files and to files.
 */
#include "block_moments.h"
#include "host_memory.h"
#include "new_decays.h"
#include "new_weights.h"
#include "runner.h"
#include "weight_scale.h"

#include <math.h>
#include <string.h>

/* ---- parts -------------------------------------------------------------------------
 */

/* The dense elements of a region -> a value with padding, or back. */
static ridge_status copy_region(ridge__machine *m, int tensor, const ridge__value *v,
                                ridge__array dense, bool is_out)
{
    const ridge__tensor_part *part = &m->parts[tensor];
    ridge__copy copy = {.n_dims = part->n_dims};
    int64_t inner = 1;
    for (int i = part->n_dims - 1; i >= 0; i--) {
        int64_t *padded = is_out ? copy.x_strides : copy.y_strides;
        int64_t *packed = is_out ? copy.y_strides : copy.x_strides;
        copy.sizes[i] = part->spans[i].valid;
        padded[i] = ridge__tensor_part_product(part, i + 1, part->n_dims);
        packed[i] = inner;
        inner *= part->spans[i].valid;
    }
    const ridge__array value = {v->p, v->dtype};
    copy.x = is_out ? value : dense;
    copy.y = is_out ? dense : value;
    return m->device->ops->copy(m->device, &copy);
}

/* Dense fp32 -> a value of 8 bits: all ranks of a stage come here, also those whose
 * part has no elements, since blocks may be shared. */
static ridge_status pack(ridge__machine *m, int tensor, const ridge__value *v,
                         ridge__array dense)
{
    const ridge__blocks b = ridge__moment_blocks(m, tensor, v);
    ridge__value wide = {.elements = v->elements, .dtype = RIDGE_DTYPE_FP32};
    const size_t bytes = (size_t)v->elements * sizeof(float);
    RIDGE_TRY(m->device->ops->alloc(m->device, bytes, &wide.p));
    RIDGE_TRY(m->device->ops->zero(m->device, wide.p, bytes));
    if (dense.p != NULL)
        RIDGE_TRY(copy_region(m, tensor, &wide, dense, false));
    RIDGE_TRY(ridge__blocks_pack(m, tensor, &b, 0, b.rows, wide.p));
    m->device->ops->release(m->device, wide.p);
    return RIDGE_OK;
}

/* A value of 8 bits -> dense fp32. */
static ridge_status unpack(ridge__machine *m, int tensor, const ridge__value *v,
                           ridge__array dense)
{
    const ridge__blocks b = ridge__moment_blocks(m, tensor, v);
    ridge__value wide = {.elements = v->elements, .dtype = RIDGE_DTYPE_FP32};
    RIDGE_TRY(
        m->device->ops->alloc(m->device, (size_t)v->elements * sizeof(float), &wide.p));
    RIDGE_TRY(ridge__blocks_unpack(m, &b, 0, b.rows, wide.p));
    RIDGE_TRY(copy_region(m, tensor, &wide, dense, true));
    m->device->ops->release(m->device, wide.p);
    return RIDGE_OK;
}

/* Dense fp32 in host memory -> a value. */
static ridge_status store(ridge__machine *m, int tensor, const ridge__value *v,
                          const float *from, int64_t n)
{
    ridge__array dense = {.dtype = RIDGE_DTYPE_FP32};
    ridge__device *d = m->device;
    if (n == 0)
        return v->dtype == RIDGE_DTYPE_INT8 ? pack(m, tensor, v, dense) : RIDGE_OK;
    RIDGE_TRY(d->ops->alloc(d, (size_t)n * sizeof(float), &dense.p));
    RIDGE_TRY(d->ops->upload(d, dense.p, from, (size_t)n * sizeof(float)));
    RIDGE_TRY(v->dtype == RIDGE_DTYPE_INT8 ? pack(m, tensor, v, dense)
                                           : copy_region(m, tensor, v, dense, false));
    RIDGE_TRY(d->ops->finish(d));
    d->ops->release(d, dense.p);
    return RIDGE_OK;
}

/* ---- every weight and state --------------------------------------------------------
 */

typedef struct held {
    ridge__runner *r;
    ridge__chunk *chunk;
    int tensor;
    const char *base;
    int64_t layer;
    ridge__value *value;
    ridge_region region;
} held;

/* Dense fp32 elements of the region to be stored. */
typedef ridge_status fill_fn(const held *h, void *payload, float *out);

static bool is_held(const ridge__machine *m, int value)
{
    const int tensor = m->unrolled.tensor_of[value];
    return m->unrolled.kind[value] == RIDGE__VALUE_FIXED &&
           m->program->tensors[tensor].role != RIDGE_ROLE_CACHE;
}

static held held_of(ridge__runner *r, ridge__chunk *chunk, int value)
{
    ridge__machine *m = chunk->m;
    const int tensor = m->unrolled.tensor_of[value];
    return (held){
        .r = r,
        .chunk = chunk,
        .tensor = tensor,
        .base = ridge_tensor_base(&m->program->tensors[tensor]),
        .layer = ridge__value_layer(chunk, tensor, m->unrolled.repetition_of[value]),
        .value = &m->fixed[value],
        .region = ridge__tensor_region(m, tensor)};
}

static bool starts_with(const char *text, const char *prefix)
{
    return strncmp(text, prefix, strlen(prefix)) == 0;
}

static bool ends_with(const char *text, const char *tail)
{
    const size_t n = strlen(text), m = strlen(tail);
    return n >= m && strcmp(text + n - m, tail) == 0;
}

/* The name of the weight that a master copy or a moment is of. */
static const char *weight_name(const held *h, bool *is_moment)
{
    const bool is_state =
        h->chunk->m->program->tensors[h->tensor].role == RIDGE_ROLE_STATE;
    *is_moment = is_state && !starts_with(h->base, "master_");
    return is_state && !*is_moment ? h->base + strlen("master_") : h->base;
}

static ridge_status fill_one(const held *h, fill_fn *fill, void *payload)
{
    const int64_t n = ridge_region_elements(&h->region);
    float *dense = ridge__host_new((size_t)n, sizeof *dense);
    if (dense == NULL)
        return ridge_fail_nomem(h->r->cx);
    ridge_status st = fill(h, payload, dense);
    st = st == RIDGE_OK ? store(h->chunk->m, h->tensor, h->value, dense, n) : st;
    ridge__host_free(dense);
    return st;
}

/* What of a rank is filled; the rest is zero. */
typedef enum fill_what {
    FILL_WEIGHTS,
    FILL_MASTERS, /* and master copies: no moments */
    FILL_STATES   /* and moments */
} fill_what;

static bool is_filled(const held *h, fill_what what)
{
    bool is_moment;
    weight_name(h, &is_moment);
    return what == FILL_STATES || (what == FILL_MASTERS && !is_moment) ||
           h->chunk->m->program->tensors[h->tensor].role != RIDGE_ROLE_STATE;
}

static ridge_status fill_all(ridge__runner *r, fill_what what, fill_fn *fill,
                             void *payload)
{
    for (int i = 0; i < r->n_chunks; i++) {
        ridge__machine *m = r->chunks[i].m;
        for (int v = 0; v < m->unrolled.n_values; v++) {
            if (!is_held(m, v))
                continue;
            const held h = held_of(r, &r->chunks[i], v);
            if (is_filled(&h, what))
                RIDGE_TRY(fill_one(&h, fill, payload));
        }
    }
    return RIDGE_OK;
}

/* ---- new weights -------------------------------------------------------------------
 */

typedef struct newness {
    uint64_t seed;
    double scale;
    ridge__team *team;
} newness;

/* Norms multiply by 1; what is one vector otherwise is a bias. */
static bool is_norm(const held *h)
{
    return ends_with(h->base, "weight") || ends_with(h->base, "norm");
}

/* Outputs onto the residual stream are smaller, by the number that add up there.
 * @source radford2019 section 2.3 */
static double scale_of(const held *h, double scale)
{
    const ridge_program *full = h->chunk->full;
    const bool is_output = strcmp(h->base, "wo") == 0 || ends_with(h->base, "w_down") ||
                           ends_with(h->base, "expert_down");
    const int64_t layers = ridge__layers_before(full, full->n_blocks);
    return is_output && layers > 0 ? scale / sqrt(2.0 * (double)layers) : scale;
}

static ridge_status fill_new(const held *h, void *payload, float *out)
{
    const newness *how = payload;
    bool is_moment;
    held named = *h;
    named.base = weight_name(h, &is_moment);
    const ridge__new_weight weight = {
        .key = ridge__new_weight_key(named.base, h->layer, how->seed),
        .scale = (float)scale_of(&named, how->scale),
        .region = &h->region};
    if (is_norm(&named)) {
        const int64_t n = ridge_region_elements(&h->region);
        for (int64_t i = 0; i < n; i++)
            out[i] = 1.0F;
    } else if (!ridge__new_decay_fill(how->team, named.base, &weight, out) &&
               h->region.n_dims > 1 && !ends_with(named.base, "bias")) {
        ridge__new_weight_fill(how->team, &weight, out);
    }
    return RIDGE_OK;
}

ridge_status ridge__runner_init(ridge__runner *r, uint64_t seed, double scale)
{
    newness how = {.seed = seed, .scale = scale > 0.0 ? scale : 0.02};
    RIDGE_TRY(ridge__team_open(r->cx, r->threads, &how.team));
    const ridge_status st = fill_all(r, FILL_MASTERS, fill_new, &how);
    ridge__team_close(how.team);
    return st;
}

/* ---- from files --------------------------------------------------------------------
 */

typedef struct reading {
    const ridge_weight_source *source;
    const ridge_numerics *numerics;
    const ridge_checkpoint_reader *reader;
} reading;

static bool is_query_normed(const held *h, const reading *from)
{
    return ridge_weight_source_has(h->r->cx, from->source,
                                   (ridge_weight_name){"q_norm_weight", h->layer});
}

/* Norms of what a recurrence gives multiply by their weight in any model. */
static ridge_status fill_source(const held *h, void *payload, float *out)
{
    const reading *from = payload;
    const int64_t n = ridge_region_elements(&h->region);
    bool is_moment;
    held named = *h;
    named.base = weight_name(h, &is_moment);
    RIDGE_TRY(ridge_weight_source_read(h->r->cx, from->source,
                                       (ridge_weight_name){named.base, h->layer},
                                       &h->region, NULL, out));
    const bool is_gated_norm = strcmp(named.base, "o_norm_weight") == 0;
    if (from->numerics->has_plus_one_norm && is_norm(&named) && !is_gated_norm) {
        for (int64_t i = 0; i < n; i++)
            out[i] += 1.0F;
    }
    const ridge__scaled_weight weight = {.base = named.base,
                                         .head_dim =
                                             h->region.shape[h->region.n_dims - 1],
                                         .is_tied = ridge__runner_is_tied(h->r),
                                         .is_query_normed = is_query_normed(h, from)};
    const float by = ridge__weight_scale(from->numerics, &weight);
    for (int64_t i = 0; i < n; i++)
        out[i] *= by;
    return RIDGE_OK;
}

ridge_status ridge__runner_read_source(ridge__runner *r,
                                       const ridge_weight_source *source,
                                       const ridge_numerics *numerics)
{
    reading from = {.source = source, .numerics = numerics};
    if (numerics->lacks != NULL)
        return ridge_fail(
            r->cx, RIDGE_E_ARG,
            "the model's arithmetic has %s, which Ridge lacks: its weights "
            "cannot be run",
            numerics->lacks);
    RIDGE_TRY(fill_all(r, FILL_MASTERS, fill_source, &from));
    return ridge__weights_are_used(r, source);
}

static ridge_checkpoint_part part_of(const held *h)
{
    return (ridge_checkpoint_part){.name = h->base,
                                   .layer = h->layer,
                                   .element = RIDGE_ELEMENT_F32,
                                   .region = h->region};
}

static ridge_status fill_checkpoint(const held *h, void *payload, float *out)
{
    const reading *from = payload;
    const ridge_checkpoint_part want = part_of(h);
    return ridge_checkpoint_reader_read(h->r->cx, from->reader, &want, out);
}

ridge_status ridge__runner_read_checkpoint(ridge__runner *r,
                                           const ridge_checkpoint_reader *reader,
                                           bool with_states)
{
    reading from = {.reader = reader};
    return fill_all(r, with_states ? FILL_STATES : FILL_WEIGHTS, fill_checkpoint,
                    &from);
}

/* ---- to files ----------------------------------------------------------------------
 */

typedef struct writing {
    int n;
    held *at;
    ridge_checkpoint_part *parts;
} writing;

static bool is_written(const ridge__runner *r, const held *h)
{
    return !h->chunk->is_copy && ridge__tensor_is_mine(h->chunk->m, h->tensor) &&
           !ridge__tensor_is_tied(r, h->chunk, h->tensor) &&
           ridge_region_elements(&h->region) > 0;
}

static ridge_status list_parts(ridge__runner *r, writing *w)
{
    size_t most = 0;
    for (int i = 0; i < r->n_chunks; i++)
        most += (size_t)r->chunks[i].m->unrolled.n_values;
    w->at = ridge__host_new(most, sizeof *w->at);
    w->parts = ridge__host_new(most, sizeof *w->parts);
    if (!w->at || !w->parts)
        return ridge_fail_nomem(r->cx);
    for (int i = 0; i < r->n_chunks; i++) {
        ridge__machine *m = r->chunks[i].m;
        for (int v = 0; v < m->unrolled.n_values; v++) {
            if (!is_held(m, v))
                continue;
            const held h = held_of(r, &r->chunks[i], v);
            if (!is_written(r, &h))
                continue;
            w->at[w->n] = h;
            w->parts[w->n] = part_of(&h);
            w->parts[w->n].element = ridge__element_of(h.value->dtype);
            w->n++;
        }
    }
    return RIDGE_OK;
}

static ridge_status fetch(ridge_ctx *cx, void *payload, size_t index, void *out)
{
    const writing *w = payload;
    const held *h = &w->at[index];
    ridge__device *d = h->r->device;
    const bool is_packed = h->value->dtype == RIDGE_DTYPE_INT8;
    ridge__array dense = {.dtype = is_packed ? RIDGE_DTYPE_FP32 : h->value->dtype};
    const size_t bytes = (size_t)ridge_region_elements(&h->region) *
                         (size_t)ridge_dtype_bytes(dense.dtype);
    (void)cx;
    RIDGE_TRY(d->ops->alloc(d, bytes, &dense.p));
    RIDGE_TRY(is_packed ? unpack(h->chunk->m, h->tensor, h->value, dense)
                        : copy_region(h->chunk->m, h->tensor, h->value, dense, true));
    RIDGE_TRY(d->ops->download(d, out, dense.p, bytes));
    d->ops->release(d, dense.p);
    return RIDGE_OK;
}

/* Whether every rank has succeeded so far; the failing one keeps its message. */
static ridge_status agree(ridge__runner *r, ridge_status own)
{
    double failures;
    RIDGE_TRY(ridge__share_sum(r, own == RIDGE_OK ? 0.0 : 1.0, &failures));
    if (own != RIDGE_OK || failures == 0.0)
        return own;
    return ridge_fail(r->cx, RIDGE_E_IO,
                      "another rank could not write its part of the checkpoint");
}

ridge_status ridge__runner_write(ridge__runner *r, const ridge_checkpoint_plan *plan,
                                 const char **path)
{
    const bool is_lead = ridge_comm_rank(r->world) == 0;
    writing w = {.n = 0};
    *path = NULL;
    ridge_status st = is_lead ? ridge_checkpoint_begin(r->cx, plan) : RIDGE_OK;
    RIDGE_TRY(agree(r, st));
    st = list_parts(r, &w);
    const ridge_checkpoint_share share = {.rank = ridge_comm_rank(r->world),
                                          .n = (size_t)w.n,
                                          .parts = w.parts,
                                          .fetch = fetch,
                                          .payload = &w};
    if (st == RIDGE_OK)
        st = ridge_checkpoint_write_rank(r->cx, plan, &share);
    ridge__host_free(w.at);
    ridge__host_free(w.parts);
    st = agree(r, st);
    if (is_lead && st != RIDGE_OK)
        ridge_checkpoint_abandon(r->cx, plan);
    RIDGE_TRY(st);
    st = is_lead ? ridge_checkpoint_commit(r->cx, plan, path) : RIDGE_OK;
    return agree(r, st);
}

double ridge__runner_fixed_bytes(const ridge__runner *r)
{
    double bytes = 0.0;
    for (int i = 0; i < r->n_chunks; i++) {
        const ridge__machine *m = r->chunks[i].m;
        for (int v = 0; v < m->unrolled.n_values; v++) {
            if (is_held(m, v))
                bytes += (double)ridge__array_bytes(m, m->unrolled.tensor_of[v]);
        }
    }
    return bytes;
}
