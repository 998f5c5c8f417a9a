/* Small programs, meshes and rules drawn from a seed. */
#ifndef RIDGE_TEST_SEEDED_PROGRAM_H
#define RIDGE_TEST_SEEDED_PROGRAM_H

#include "seeded.h"

#include "ridge/shard.h"

/** Legend of dims: B sequences, T tokens, D width, F inner width, N heads, K KV heads,
 *  H head dim, V words, E experts, C rows of an expert (enough for every token). */
enum seeded_dim {
    SEEDED_B,
    SEEDED_T,
    SEEDED_D,
    SEEDED_F,
    SEEDED_N,
    SEEDED_K,
    SEEDED_H,
    SEEDED_V,
    SEEDED_E,
    SEEDED_C,
    SEEDED_DIM_COUNT
};

/**
 * A forward program: tokens looked up, then a few of: matmul, feed-forward, attention,
 * experts, norm, sums and products; at last a loss, or whatever came out.
 * @param is_whole  only operations that keep whole numbers whole; no loss
 */
const ridge_program *seeded_program(ridge_arena *arena, seeded *at, bool is_whole);

/** 1 to 3 axes of size 1 to 3, 12 ranks at most. Names are static. */
ridge_mesh seeded_mesh(seeded *at);

/** Up to @p most rules by role or by name; @return how many. */
int seeded_rules(seeded *at, const ridge_program *program, const ridge_mesh *mesh,
                 int most, ridge_rule *out);

/** Values for what no operation makes: ids and labels within V, the rest small. */
void seeded_values(seeded *at, const ridge_program *program, int tensor, bool is_whole,
                   double *out);

#endif
