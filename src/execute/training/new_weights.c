#include "new_weights.h"

#include <math.h>

/* A step of a 64-bit mixer: a counter to random bits. @source steele2014 */
static uint64_t mix(uint64_t x)
{
    x += 0x9e3779b97f4a7c15ULL;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ULL;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebULL;
    return x ^ (x >> 31);
}

uint64_t ridge__new_weight_key(const char *name, int64_t layer, uint64_t seed)
{
    uint64_t key = mix(seed + (uint64_t)(layer + 1));
    for (const char *p = name; *p; p++)
        key = mix(key ^ (uint64_t)(unsigned char)*p);
    return key;
}

/* A normal number of element @p at. @source box1958 */
static float normal(uint64_t key, int64_t at)
{
    const uint64_t a = mix(key + 2 * (uint64_t)at), b = mix(key + 2 * (uint64_t)at + 1);
    const double u = ((double)(a >> 11) + 1.0) * 0x1p-53;
    const double v = (double)(b >> 11) * 0x1p-53;
    return (float)(sqrt(-2.0 * log(u)) * cos(6.283185307179586 * v));
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

typedef struct filling {
    const ridge__new_weight *weight;
    float *out;
} filling;

/* Elements of a row of the region follow each other in the whole array too. */
static void fill_part(void *payload, int worker, int workers)
{
    const filling *f = payload;
    const ridge_region *region = f->weight->region;
    const int64_t length = region->count[region->n_dims - 1];
    const ridge__part part =
        ridge__part_of(ridge_region_elements(region), 1, worker, workers);
    int64_t place = 0;
    for (int64_t i = part.first; i < part.end; i++) {
        place = i == part.first || i % length == 0 ? whole_place(region, i) : place + 1;
        f->out[i] = f->weight->scale * normal(f->weight->key, place);
    }
}

void ridge__new_weight_fill(ridge__team *team, const ridge__new_weight *weight,
                            float *out)
{
    filling f = {weight, out};
    ridge__team_run(team, fill_part, &f);
}
