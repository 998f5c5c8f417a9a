/*
 * Ranks that are threads: what they share and how a collective goes.
 *
 * Each group has a ring of slots, one for each collective under way, with an entry for
 * each rank. To start is to write the call into the own entry and to post it. Whoever
 * waits moves the data once the ranks that it needs have posted: it reads their sources
 * (and, in an all-reduce, writes its slice of the sum to all destinations), then says
 * that it is done. A call is over when the ranks that need this one are done. While a
 * rank waits for one call it advances all of its calls, in every group, so that ranks
 * may wait in different orders. Sends lie in the receiver's letter box instead.
 *
 * Orders between threads: what is posted or done is stored after the data it speaks of,
 * and read before; both sequentially consistent, as a rank that falls asleep and one
 * that wakes it each write one flag and read the other's.
 */
#ifndef RIDGE_EXECUTE_COMM_THREADS_H
#define RIDGE_EXECUTE_COMM_THREADS_H

#include "comm_combine.h"
#include "comm_engine.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>

typedef struct ridge__thread_world ridge__thread_world;
typedef struct ridge__thread_comm ridge__thread_comm;

enum { RIDGE__LINE_BYTES = 64 }; /* of a cache */

/* ---- what ranks share ------------------------------------------------------------ */

/** A rank's call in a slot, on cache lines of its own: those that others still read of
 * its call are not those in which it says that it is done. Tickets count from 1 here.
 */
typedef struct ridge__entry {
    _Atomic int64_t posted; /* the ticket whose call stands below */
    ridge__comm_call call;  /* changed only when nobody needs it any more */
    char apart[2 * RIDGE__LINE_BYTES - sizeof(int64_t) - sizeof(ridge__comm_call)];
    _Atomic int64_t done; /* the ticket of which this rank has moved all it moves */
    char apart_done[RIDGE__LINE_BYTES - sizeof(int64_t)];
} ridge__entry;

_Static_assert(offsetof(ridge__entry, call.send) <= RIDGE__LINE_BYTES,
               "a call without rows of its own takes one line");

/** Ranks that make collectives together. */
typedef struct ridge__thread_group {
    int size;
    int *members;          /* [size] */
    ridge__entry *entries; /* [RIDGE_PENDING_MAX, size] */
    int64_t number;        /* of the call that made it */
    struct ridge__thread_group *next;
} ridge__thread_group;

/* ---- a rank ---------------------------------------------------------------------- */

typedef enum ridge__operation_stage {
    RIDGE__STAGE_FREE,   /* nothing is under way here */
    RIDGE__STAGE_POSTED, /* waits for what it needs */
    RIDGE__STAGE_MOVED   /* waits for those that need it */
} ridge__operation_stage;

/** The ranks of a group that a call waits for: first, first + 1, ... around. */
typedef struct ridge__peers {
    int first, count;
} ridge__peers;

/** A call of this rank that is under way. */
typedef struct ridge__operation {
    ridge__thread_comm *comm;
    ridge__operation_stage stage;
    int64_t ticket;
    ridge__comm_call call;
    int seen;       /* how many of its peers have come */
    int64_t looked; /* a receive: the letters when it last looked */
    struct ridge__operation *previous, *next; /* of the rank's list */
    /* of a send: */
    _Atomic bool is_taken;
    struct ridge__operation *next_letter;
} ridge__operation;

typedef enum ridge__rank_state {
    RIDGE__RANK_RUNS,
    RIDGE__RANK_ENDED /* its function has returned */
} ridge__rank_state;

/** What a rank writes in every call lies on other cache lines than what others read in
 * every call: neither waits for the other's line. */
typedef struct ridge__thread_rank {
    ridge__thread_world *world;
    int index;
    ridge_ctx *cx;
    pthread_t thread;
    ridge__thread_comm *comm; /* on the world */
    ridge_status status;      /* of its function, once ended */
    _Atomic int state;

    /* written by itself in every call: */
    char apart_own[RIDGE__LINE_BYTES];
    ridge__operation *first, *last; /* what is under way, oldest first */
    int64_t groups;                 /* made so far */
    int crowded_waits;              /* in which it does not yield, but sleeps */
    _Atomic bool is_moving;         /* reads or writes other ranks' arrays */
    _Atomic int64_t calls;          /* starts so far */
    _Atomic int waits_for;          /* a rank of the world; -1: for none */
    _Atomic int waits_in;           /* a ridge__call_kind */

    /* read by others in every call: */
    char apart_others[RIDGE__LINE_BYTES];
    _Atomic bool is_asleep;

    char apart_box[RIDGE__LINE_BYTES];
    pthread_mutex_t mutex; /* guards the sleep and the letter box */
    pthread_cond_t wake;
    _Atomic int64_t letters;      /* ever put into the box */
    ridge__operation *letter_box; /* sends to this rank, oldest first */
    char apart_next[RIDGE__LINE_BYTES];
} ridge__thread_rank;

struct ridge__thread_comm {
    ridge_comm base;
    ridge__thread_rank *me;
    ridge__thread_group *group;
    int64_t tickets, sent; /* collectives, and sends and receives, started so far */
    ridge__operation collectives[RIDGE_PENDING_MAX]; /* by ticket */
    ridge__operation letters[RIDGE_PENDING_MAX];     /* sends and receives */
};

/* ---- the world ------------------------------------------------------------------- */

enum { RIDGE__CAUSE_MAX = 1024 };

struct ridge__thread_world {
    const ridge__comm_ops *ops; /* of all its groups */
    int size;
    double timeout_s;
    int spins; /* looks before a rank that waits lets others run */
    ridge_rank_fn *fn;
    void *payload;
    ridge__combine_fn *combine;
    ridge__thread_rank *ranks; /* [size] */
    _Atomic bool is_stopped;   /* a rank has failed, or all are to stop */

    pthread_mutex_t mutex; /* guards what follows, and the arena of cx */
    pthread_cond_t change; /* a rank has ended, or all are stopped */
    ridge_ctx *cx;         /* owns all of this */
    ridge__thread_group *groups;
    int users;  /* rank threads that have not left, and the caller of the run */
    int failed; /* the rank that failed first; -1: none */
    ridge_status status;
    char cause[RIDGE__CAUSE_MAX]; /* its message; "" until it is known */
};

extern const ridge__comm_ops ridge__thread_ops;

/** Wake a rank if it sleeps. */
void ridge__rank_wake(ridge__thread_rank *rank);
/** Stop all ranks, because of one unless another was before it. @param cause  or "" */
void ridge__world_stop(ridge__thread_world *world, int rank, ridge_status status,
                       const char *cause);
/** All that is under way is forgotten, and no other rank touches this one's arrays. */
void ridge__rank_abandon(ridge__thread_rank *me);

/** This rank fails of its own accord: its message stands in cx. All stop. */
ridge_status ridge__rank_fail_own(ridge_ctx *cx, ridge__thread_rank *me,
                                  ridge_status status);
/** Another has failed, or the caller cancelled. */
ridge_status ridge__rank_fail_told(ridge_ctx *cx, ridge__thread_rank *me);

/* ---- calls under way ------------------------------------------------------------- */

/** Move what can be moved and finish what is over, in all groups. @errors E_IO a
 * mismatch; another rank failed. Then all is abandoned */
RIDGE_NODISCARD ridge_status ridge__rank_advance(ridge_ctx *cx, ridge__thread_rank *me);
/** A send or a receive. @errors E_ARG too many are under way */
RIDGE_NODISCARD ridge_status ridge__letter_start(ridge_ctx *cx,
                                                 ridge__thread_comm *comm,
                                                 const ridge__comm_call *call,
                                                 int64_t *ticket);
/** Any other; its place in the ring is free. */
void ridge__collective_start(ridge__thread_comm *comm, const ridge__comm_call *call,
                             int64_t ticket);
/** The ranks that an operation waits for in its stage. */
ridge__peers ridge__operation_peers(const ridge__operation *op);

/** The ranks of the group whose posts @p call needs, and those that need its own. */
ridge__peers ridge__call_needs(const ridge__comm_call *call, int rank, int size);
ridge__peers ridge__call_serves(const ridge__comm_call *call, int rank, int size);
/** What stands in the ring for a rank of the group. */
ridge__entry *ridge__group_entry(const ridge__thread_group *group, int64_t ticket,
                                 int rank);
/** All ranks' calls are there: move what this rank moves between ranks. */
void ridge__collective_move(const ridge__operation *op);
/** A half of what lies in this rank's own arrays alone: the first one while its call
 * travels to the others, the second one while they learn that it is done. */
void ridge__collective_move_own(const ridge__operation *op, bool is_second);

/** The world's handles and groups. @errors E_NOMEM; E_ARG other ranks made another */
RIDGE_NODISCARD ridge_status ridge__thread_group_join(ridge_ctx *cx,
                                                      ridge__thread_rank *me,
                                                      const int *members, int n,
                                                      ridge__thread_comm **out);

#endif
