#include "new_weights.h"

#include "counter_bits.h"
#include "device_cpu.h"

uint64_t ridge__new_weight_key(const char *name, int64_t layer, uint64_t seed)
{
    uint64_t key = ridge__counter_bits(seed + (uint64_t)(layer + 1));
    for (const char *p = name; *p; p++)
        key = ridge__counter_bits(key ^ (uint64_t)(unsigned char)*p);
    return key;
}

/* Place in the whole array of the region's element i. */
static int64_t whole_place(const ridge_region *region, int64_t i)
{
    int64_t at[RIDGE_TENSOR_DIM_MAX], place = 0;
    for (int d = region->n_dims - 1; d >= 0; d--) {
        at[d] = region->start[d] + i % region->count[d];
        i /= region->count[d];
    }
    for (int d = 0; d < region->n_dims; d++)
        place = place * region->shape[d] + at[d];
    return place;
}

void ridge__new_weight_uniform(const ridge__new_weight *weight, float *out)
{
    const int64_t n = ridge_region_elements(weight->region);
    for (int64_t i = 0; i < n; i++) {
        const uint64_t at = (uint64_t)whole_place(weight->region, i);
        out[i] = (float)(((double)(ridge__counter_bits(weight->key + at) >> 11) + 0.5) *
                         0x1p-53);
    }
}

typedef struct filling {
    const ridge__new_weight *weight;
    const ridge__kernel_table *kernels;
    float *out;
} filling;

/* Row by row: a row's elements follow each other in the whole array too. */
static void fill_part(void *payload, int worker, int workers)
{
    const filling *f = payload;
    const ridge__new_weight *w = f->weight;
    const int64_t length = w->region->count[w->region->n_dims - 1];
    const ridge__part part =
        ridge__part_of(ridge_region_elements(w->region), 1, worker, workers);
    for (int64_t i = part.first; i < part.end;) {
        const int64_t row_end = (i / length + 1) * length;
        const int64_t n = (row_end < part.end ? row_end : part.end) - i;
        f->kernels->normals(w->key, whole_place(w->region, i), n, w->scale, f->out + i);
        i += n;
    }
}

void ridge__new_weight_fill(ridge__team *team, const ridge__new_weight *weight,
                            float *out)
{
    filling f = {weight, ridge__kernel_choose(0), out};
    ridge__team_run(team, fill_part, &f);
}
