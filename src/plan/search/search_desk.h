/* A worker of the search, and the terms that it keeps for the present task. */
#ifndef RIDGE_PLAN_SEARCH_DESK_H
#define RIDGE_PLAN_SEARCH_DESK_H

#include "exchange_memo.h"
#include "search_task.h"
#include "train_price.h"

enum { MEMO_SLOTS = 512 };

typedef struct memo_entry memo_entry;

struct memo_entry {
    int64_t microbatch_seqs; /* 0: free */
    const layer_time *layers;
    double *least_s;    /* [kinds + 1] both passes of a layer, nothing computed again */
    double model_s;     /* the same of the whole model */
    double imbalance;   /* of experts */
    bool has_exchanges; /* least_s has what the layers' exchanges expose */
};

struct search_desk {
    ridge_ctx *cx;
    ridge_ctx *keeper; /* where what outlives a task stays */
    ridge_mark mark;   /* what a task takes goes from here on */
    train_case tc;
    const ridge_knobs *knobs;
    /* of the present task */
    search_answer *answer;
    memo_entry *memo; /* [MEMO_SLOTS] open addressing over microbatches */
    exchange_memo *exchanges;
    int places_most; /* room of: */
    int *place_index;
    train_groups *place_groups;
    train_load load;
    int64_t memory_choices; /* of a layout */
    bool is_quick;
    double bound_s;
    const layout_ranking *known; /* layouts that there are */
    const layout_front *known_front;
    bool is_any_known; /* before the task */
    bool is_short;     /* memory ran out */
};

/* What a placement of a mesh gives, each found when first wanted. */
typedef struct placed {
    const shard_time *shards;        /* [kinds] */
    const step_sync **syncs;         /* [pipelines x ZERO_STAGES], each [stages] */
    const layer_time *of;            /* the layers of: */
    const layer_exchange *exchanges; /* [kinds + 1] where too many are known */
    int64_t send_seqs;               /* of the microbatch that send is for; 0: none */
    ridge_time send;
    bool is_tp_apart; /* of the least of all placements */
} placed;

/* A mesh on the network. */
typedef struct mesh_places {
    int n;                      /* placements; below 0: not yet found */
    const int *index;           /* [n] as ridge_layout.placement */
    const train_groups *groups; /* [n] */
    placed *placed;             /* [n] */
    placed least;               /* of all of them, for the layers that it is of */
} mesh_places;

enum { ZERO_STAGES = 4 };

/* A layout but for its placement. */
typedef struct candidate {
    const train_stages *stages;
    memo_entry *times;
    mesh_places *places;
    int64_t microbatches;
    int pipeline, n_pipelines;
    double least_bytes;         /* of a front's layouts; 0: not looked at */
    const double *sharded_s[2]; /* of dualpipe, which hides more, or not: [kinds + 1]
                                   both passes of a layer under the ZeRO stage, wherever
                                   the mesh lies; NULL: not yet found */
} candidate;

/** Find the placements of a mesh. @return false: memory ran out */
bool search_find_places(search_desk *d, const ridge_layout *l, mesh_places *out);

/** Times of a microbatch's layers that are known already. @return NULL: not yet */
memo_entry *search_known_times(search_desk *d, const ridge_layout *l);

/** Times of a microbatch's layers. @return NULL: memory ran out, or the case's status
 *  says why */
memo_entry *search_layer_times(search_desk *d, const ridge_layout *l);

/** Take into a memo what a network of one order adds to every layout of these layers:
 *  their exchanges lie innermost, wherever the rest does. @param g  of a placement */
void search_learn_exchanges(search_desk *d, const train_terms *x, const train_groups *g,
                            const ridge_layout *l, memo_entry *e);

/** The terms that placement i of a candidate decides. @return false when memory ran out
 */
bool search_place_terms(search_desk *d, const candidate *c, int i,
                        const ridge_layout *l, train_terms *x);
/** The same without what comes once a step. */
bool search_place_layers(search_desk *d, const candidate *c, int i,
                         const ridge_layout *l, train_terms *x);
/** What comes once a step, and where it stands in a placement's memo.
 *  @return NULL when memory ran out */
const step_sync *search_place_syncs(search_desk *d, const candidate *c, int i,
                                    const ridge_layout *l);
const step_sync **search_syncs_at(search_desk *d, const candidate *c,
                                  const ridge_layout *l, placed *p);

/** Layer times into a book, out of the memory that the next task takes.
 *  @return false when memory ran out */
bool search_write_book(search_desk *d, layer_book *book);
void search_read_book(search_desk *d, const layer_book *book);

#endif
