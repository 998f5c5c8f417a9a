/* How a layout is made to fit: what is computed again, and what lies on the host. */
#ifndef RIDGE_PLAN_SEARCH_MEMORY_H
#define RIDGE_PLAN_SEARCH_MEMORY_H

#include "train_price.h"

typedef struct memory_choice {
    ridge_remat remat;
    ridge_remat_ops remat_ops;
    int64_t remat_layers; /* of a stage; 0: all */
    unsigned offload;
    ridge_memory_parts memory;
    double host_bytes;
    int fullest_stage;
} memory_choice;

typedef struct memory_search {
    const ridge_knobs *knobs;
    bool is_front_wanted; /* slower ways that take less memory as well */
    bool is_whole_wanted; /* a policy on all layers as well: launchers may know no other
                           */
    bool is_nearest_wanted; /* nothing is known to fit */
} memory_search;

enum {
    MEMORY_CHOICE_MOST = (RIDGE_OFFLOAD_ALL + 1) * (RIDGE_REMAT_COUNT + NAMED_MOST) * 2
};

typedef struct memory_choices {
    int n;
    memory_choice choices[MEMORY_CHOICE_MOST];
    int64_t covered, refused;
    bool is_host_short;        /* the hosts hold less than one would keep there */
    bool has_nearest;          /* something did not fit */
    ridge_train_price nearest; /* the least over of what did not */
} memory_choices;

/** Take the policy, and its layers, of which nothing that the knobs allow takes less
 *  memory: what it computes again at once is no more than a layer keeps otherwise. */
void memory_take_smallest(const train_case *tc, const ridge_knobs *knobs,
                          ridge_layout *layout);

/** Sets of what is offloaded times remat policies that the knobs allow. */
int64_t memory_choice_count(const train_case *tc, const ridge_knobs *knobs);

/** The choices that fit and of which none is better in every case, for a layout whose
 *  remat and offload are open. */
void memory_choices_find(const train_case *tc, const train_terms *terms,
                         const ridge_layout *layout, const memory_search *how,
                         memory_choices *out);

#endif
