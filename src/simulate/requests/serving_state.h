/*
 * A deployment in the course of a play: sequences, batches of a lane on a rank, lanes,
 * ranks, replicas. One file for the types; those that change them include it.
 */
#ifndef RIDGE_SERVING_STATE_H
#define RIDGE_SERVING_STATE_H

#include "ridge/simulate_chance.h"
#include "ridge/simulate_engine.h"

#include "index_heap.h"
#include "page_cache.h"
#include "serving_tally.h"

typedef enum sequence_state {
    SEQUENCE_FREE,
    SEQUENCE_WAITING,
    SEQUENCE_CHUNKED, /* in a batch, its prompt partly in the cache */
    SEQUENCE_DECODING,
    SEQUENCE_MOVING, /* its cache on the way to another pool */
    SEQUENCE_SWAPPED /* waiting, its cache on the host */
} sequence_state;

/** A request in the deployment. Token counts of a decoding one hold for the step at
 *  which it joined its batch; later ones follow. */
typedef struct play_sequence {
    ridge_request what; /* its hashes are a copy */
    int64_t number;     /* of arrival */
    sequence_state state;
    int unit, rank, lane; /* where it waits or runs */
    int from_unit,
        from_rank; /* whose blocks it holds beside, while it moves; -1: none */
    int32_t heap_at;

    int64_t wanted;       /* tokens whose cache its prompt's passes make */
    double cached;        /* tokens in the cache */
    double made;          /* tokens of output */
    double rate;          /* tokens an iteration of decoding */
    int64_t joined, ends; /* steps of its batch */
    int64_t blocks;       /* in use, named ones with them */
    int64_t moved_blocks, moved_pieces; /* of the replica that it comes from */
    int64_t pieces;                     /* of these, named */
    int64_t full_blocks; /* what it may come to take, where admission asks for it */
    int64_t admitted;    /* in which order */
    int64_t hit_tokens;  /* at first */
    int preemptions;
    bool has_own_names; /* its session is a name for its own blocks alone */

    double start_s, first_s;       /* < 0: not yet */
    double since_s;                /* until when the time is accounted for */
    double gave_way_s;             /* < 0: it did not, or is where it was again */
    double at_others_s, at_host_s; /* of its lane, when it joined */
    double last_token_s;           /* when it joined */
    double parts_s[RIDGE_LATENCY_PART_COUNT];
    double ttft_parts_s[RIDGE_LATENCY_PART_COUNT];
} play_sequence;

/** What decoding sequences read of one kind of cache. */
typedef struct batch_cache {
    double read;       /* tokens, of all */
    double rising;     /* by which it grows each step */
    int64_t full_step; /* at which the next of them fills its window */
} batch_cache;

/** A sequence that ended, but whose slot is computed on (static batches). */
typedef struct batch_ghost {
    double tokens; /* in the cache at step joined */
    double rate;
    int64_t joined;
} batch_ghost;

/** Sequences of a lane on a rank. */
typedef struct play_batch {
    index_heap decoding; /* by the step at which they end */
    batch_ghost *ghost_of;
    int n_ghosts, room_ghosts;
    int32_t *chunked; /* in order of admission */
    int n_chunked, room_chunked;
    int64_t step;      /* iterations of decoding so far */
    double context;    /* tokens in the cache, of decoding ones */
    double rates;      /* sum */
    double ends;       /* sum of steps at which they end */
    int64_t most_left; /* bound on what any has to make yet */
    int64_t *residue;  /* [block_tokens] of sequences by where their last block fills */
    batch_cache caches[RIDGE_SERVING_CACHE_MAX];
} play_batch;

/** A chunk of a prompt in an iteration. */
typedef struct play_chunk {
    int32_t sequence;
    int rank;
    int64_t tokens; /* that it brings into the cache */
    int64_t priced; /* with padding */
    double before;  /* tokens in the cache */
    bool is_last;
    double own_s; /* of the chip, if it were alone */
} play_chunk;

/** Steps whose time is linear: first_s, first_s + slope_s, … */
typedef struct walk_piece {
    int64_t steps;
    double first_s, slope_s;
    double device_s, device_slope_s; /* of the chip; the rest waits for the host */
} walk_piece;

enum { WALK_PIECES_MAX = 24 };

typedef enum lane_state { LANE_IDLE, LANE_READY, LANE_BUSY } lane_state;

typedef struct play_lane {
    int unit, index;
    lane_state state;
    double at_s; /* READY: when it may begin; BUSY: when it ends */
    double start_s, last_end_s;
    play_batch *batches; /* [ranks] */

    int64_t waited_steps;   /* since prompts of all ranks were let in together */
    int64_t gathered_steps; /* since all ranks had one */
    int64_t planned_left;   /* iterations of decoding that are planned already */
    int64_t without_steps;  /* iterations of decoding since one with prompts */

    /* what it does */
    bool is_decoding; /* decoding sequences advance */
    bool has_taken;   /* blocks for it are taken already */
    int64_t steps;
    walk_piece pieces[WALK_PIECES_MAX];
    int n_pieces;
    play_chunk *chunks;
    int n_chunks, room_chunks;
    double extra_s;       /* before it begins: swaps, pieces from the host */
    double stall_s;       /* of a pipeline: in stages that the batch before it is in */
    double used_at_start; /* shares of blocks in use, summed over ranks */
    double device_s;      /* of the chip, one iteration with chunks */
    double decode_s;      /* of it without them */

    /* of what decoding sequences spent, since ever */
    double others_s, host_s;
    double last_token_s; /* of decoding sequences */
    double *fresh;       /* first tokens since then */
    int n_fresh, room_fresh;
    int32_t *silent; /* sequences whose first token the next iteration makes */
    int n_silent, room_silent;
} play_lane;

typedef struct play_rank {
    index_heap waiting; /* by the queue's policy */
    page_cache pages;
    int64_t running;     /* sequences, of all lanes */
    int64_t committed;   /* blocks that running ones may come to take */
    double reserve_from; /* share of outputs that admission keeps room for, and since */
    int64_t reserve_steps; /* how many steps of decoding it falls */
    bool is_blocked;       /* the first that waits did not fit */
    int32_t *arriving;     /* sequences whose cache has come, not yet in a batch */
    int n_arriving, room_arriving;
} play_rank;

typedef struct play_unit {
    int pool;
    const ridge_serving_speed *speed;
    const ridge_engine *rules;
    bool makes_prompts_only; /* the first of two pools */
    bool takes_caches;       /* the second */
    bool is_down;
    int n_ranks, n_lanes;
    play_rank *ranks;
    play_lane *lanes;
    double *free_s;                /* [lanes] when each stage of the pipeline is free */
    double link_s;                 /* when its link to another pool is free */
    int64_t load;                  /* requests in it */
    double *rank_s, *rank_slope_s; /* [ranks] for the walk */
    double *row_s; /* [n] rows, head and draft of n decoding sequences; < 0: not yet */
    int64_t n_row;
    double busy_until_s;
    ridge_chance chance;
} play_unit;

typedef enum play_event_kind {
    EVENT_MOVED,
    EVENT_FAILURE,
    EVENT_REPAIR
} play_event_kind;

typedef struct play_event {
    play_event_kind kind;
    double at_s;
    int64_t order;
    int32_t subject; /* a sequence, a unit */
    int64_t number;  /* of the sequence's admission: it may be elsewhere by then */
    double lasts_s;
    bool repeats; /* a failure by chance: the next is drawn when it is repaired */
} play_event;

enum { HASH_SIZES = 20 };

typedef struct serving_play {
    ridge_ctx *cx;
    const ridge_serving_deployment *deployment;
    const ridge_request_source *source;
    const ridge_serving_watch *watch;
    ridge_serving_goals goals;
    ridge_status status;

    play_sequence *sequences;
    int32_t *sequence_places; /* the first one's place in a heap */
    int32_t n_sequences, room_sequences;
    int32_t *spare;
    int32_t n_spare;
    int64_t arrived, admitted;
    int64_t waiting;

    play_unit *units;
    int n_units;
    index_heap agenda; /* lanes by at_s; lane u * lanes + l */
    int32_t *agenda_places;
    int lanes_a_unit;

    play_event *events; /* a heap by time, then order */
    int n_events, room_events;
    int64_t event_order;

    int32_t *homeless; /* sequences that no replica can take now */
    int n_homeless, room_homeless;
    int next_unit[RIDGE_SERVING_POOLS_MAX]; /* of round robin */
    double now_s;
    uint64_t *hash_spare[HASH_SIZES]; /* copies of hashes to use again, by size: the
                                         first number of each leads to the next */
    serving_tally *tally;
} serving_play;

static inline play_lane *ridge__play_lane(const serving_play *p, int32_t lane)
{
    return &p->units[lane / p->lanes_a_unit].lanes[lane % p->lanes_a_unit];
}

/** The share of outputs that admission keeps room for now. */
static inline double ridge__rank_reserve(const play_unit *u, const play_rank *r)
{
    const ridge_engine *e = u->rules;
    if (e->reserve_share == 0)
        return 0;
    const double fall = (e->reserve_share - e->reserve_share_least) / e->reserve_steps;
    const double share = r->reserve_from - fall * (double)r->reserve_steps;
    return share > e->reserve_share_least ? share : e->reserve_share_least;
}

/** Share of a rank's blocks that are in use. */
static inline double ridge__rank_used(const play_rank *r)
{
    return 1 - (double)r->pages.free / (double)r->pages.blocks;
}

static inline int64_t ridge__batch_decoding(const play_batch *b)
{
    return b->decoding.n + b->n_ghosts;
}

#endif
