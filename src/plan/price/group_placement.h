/*
 * How the groups of a layout lie on the network of a slice, by the number of a
 * placement.
 *
 * The usual placements come first: every order of the slice's torus axes, each with the
 * stages outside the replicas or inside them. Mesh axes lie on those from the inside
 * out: tp, cp, shards, replicas and stages. Frameworks launch ranks in these orders.
 *
 * After them every order of the five mesh axes on every order of the torus axes. Axes
 * of one rank change nothing; a number whose groups cannot be laid is no placement.
 */
#ifndef RIDGE_PLAN_GROUP_PLACEMENT_H
#define RIDGE_PLAN_GROUP_PLACEMENT_H

#include "ridge/cost_program.h"
#include "ridge/plan_layout.h"

/** The groups of a layout's axes under one placement. */
typedef struct train_groups {
    ridge_group tp, cp, shards, replicas, pp;
    ridge_group ep, expert_shards, expert_replicas;
    ridge_ep_dispatch dispatch; /* how tokens go over ep */
} train_groups;

enum { PLACEMENT_USUAL_MOST = 12 }; /* six orders of three axes, times two */

/** How many usual placements a slice offers. */
int train_placement_count(const ridge_slice *slice);

/** How many numbers of placements there are in all. Where nothing overlaps, programs
 * are priced by what runs, in the usual orders alone. */
int train_placement_most(const ridge_slice *slice);

/** Whether a placement is a usual one. */
bool train_placement_is_usual(const ridge_slice *slice, int placement);

/* Mesh axes of a dense layer, in the usual order from the innermost. */
typedef enum train_mesh_axis {
    TRAIN_AXIS_TP,
    TRAIN_AXIS_CP,
    TRAIN_AXIS_SHARDS,
    TRAIN_AXIS_REPLICAS,
    TRAIN_AXIS_PP,
    TRAIN_MESH_AXES
} train_mesh_axis;

/** The mesh axes of a placement, from the innermost. @param axes  out:
 * [TRAIN_MESH_AXES]
 */
void train_placement_axes(const ridge_slice *slice, int placement, int *axes);

/** Order in which a placement fills the slice's axes. @param order  out: [n_axes] */
void train_placement_order(const ridge_slice *slice, int placement, int *order);

/** Lay a layout on the slice. @return false if it does not factor in this order */
bool train_groups_place(const ridge_slice *slice, const ridge_layout *layout,
                        int placement, train_groups *out);

/** A hash that goes on with a value, or with a group: the same for groups that are the
 *  same, rarely for others. */
uint64_t train_hash_mix(uint64_t hash, uint64_t value);
uint64_t train_hash_group(uint64_t hash, const ridge_group *group);

/**
 * The axes of a mesh of the layout, from the innermost, and its stages among them.
 * @param order  out: [mesh->n + 1] indices into mesh->axes; mesh->n: the stages
 */
void train_mesh_order(const ridge_slice *slice, const ridge_layout *layout,
                      const ridge_mesh *mesh, int *order);

/** Lay the mesh in that order. @return false: it does not factor */
bool train_mesh_place(const ridge_slice *slice, const ridge_layout *layout,
                      const ridge_mesh *mesh, ridge_laid_mesh *out);

#endif
