/*
 * Ranks that are processes of MPI: what a process holds, and how a collective goes.
 *
 * A call is a few of MPI's own non-blocking operations, one after the other, with local
 * packing and sums between them; whoever waits advances all calls of this rank. Beside
 * each collective the ranks exchange what they called, so that a mismatch is told of
 * instead of a wrong result. All waiting is polling with a time limit. Notices go
 * between the ranks by a communicator of their own: that a rank has failed, and the
 * question to which a rank that waits answers and one that is stuck does not.
 */
#ifndef RIDGE_EXECUTE_COMM_MPI_H
#define RIDGE_EXECUTE_COMM_MPI_H

#include "comm_call.h"
#include "comm_combine.h"

#include <mpi.h>

typedef struct ridge__mpi_world ridge__mpi_world;
typedef struct ridge__mpi_comm ridge__mpi_comm;

/* ---- room ------------------------------------------------------------------------ */

/** A piece of memory that is used again; its size lies in front of what is used. */
typedef struct ridge__mpi_room {
    struct ridge__mpi_room *next;
    size_t bytes;
} ridge__mpi_room;

/* ---- calls under way ------------------------------------------------------------- */

enum { RIDGE__MPI_STEP_REQUESTS = 2, RIDGE__MPI_ROOMS = 5 };

typedef struct ridge__mpi_operation {
    ridge__mpi_comm *comm; /* NULL: nothing is under way here */
    int64_t ticket;
    ridge__comm_call call;
    int step; /* of the kind's own steps: how many have been started */
    bool is_checked;
    ridge__call_signature own;
    ridge__call_signature *others; /* [size], or of the peer */
    int32_t *rows;                 /* RAGGED: what others send */
    MPI_Request checks[2], requests[RIDGE__MPI_STEP_REQUESTS];
    int *counts, *places, *counts_back, *places_back; /* [size] each, in elements */
    void *sent, *received;                            /* staging, or NULL */
    int n_rooms;
    ridge__mpi_room *rooms[RIDGE__MPI_ROOMS];
    struct ridge__mpi_operation *previous, *next; /* of the rank's list */
} ridge__mpi_operation;

enum { RIDGE__MPI_OPERATION_MAX = 2 * RIDGE_PENDING_MAX };

/** What a rank waits in instead of a call. */
enum { RIDGE__MPI_NO_CALL = -1, RIDGE__MPI_ENDED = -2 };

struct ridge__mpi_comm {
    ridge_comm base;
    ridge__mpi_world *world;
    MPI_Comm data, checks;
    MPI_Comm
        later;      /* second steps: MPI wants the collectives of a communicator to be
                       started in one order, and when first ones end is left to chance */
    int64_t number; /* of the call that made it */
    int64_t tickets, sent; /* collectives, and sends and receives, started so far */
    ridge__mpi_comm *next;
    ridge__mpi_operation operations[RIDGE__MPI_OPERATION_MAX];
};

/* ---- notices --------------------------------------------------------------------- */

typedef enum ridge__notice_kind {
    RIDGE__NOTICE_FAILED, /* a rank has failed: all stop */
    RIDGE__NOTICE_ASK,    /* what do you wait for, and did you call this? */
    RIDGE__NOTICE_ANSWER,
    RIDGE__NOTICE_ENDED,  /* to rank 0: this rank's function has returned */
    RIDGE__NOTICE_RELEASE /* from rank 0: all have */
} ridge__notice_kind;

enum { RIDGE__NOTICE_TEXT = 1024 };

typedef struct ridge__notice {
    int kind, rank, status;
    int waits_in;           /* ANSWER: a call's kind; -1: none */
    int64_t number, ticket; /* ASK, ANSWER: of the group, of the call in it */
    int64_t tickets;        /* ANSWER: collectives that the rank has called there */
    ridge__call_signature signature; /* ANSWER: of that call, if it is under way */
    int has_signature;
    char text[RIDGE__NOTICE_TEXT]; /* FAILED: its message */
} ridge__notice;

/* ---- the world ------------------------------------------------------------------- */

struct ridge__mpi_world {
    ridge_ctx *own; /* owns all of this, until a run ends well; after a failure MPI may
                       still write to it */
    const ridge__comm_ops *ops; /* of all its groups */
    int rank, size;
    double timeout_s;
    int spins; /* looks before this process lets others run */
    ridge__combine_fn *combine;
    MPI_Comm notices;
    MPI_Request notice_request;
    ridge__notice incoming;
    struct ridge__mpi_letter *letters; /* on their way, the last one first */
    ridge__mpi_comm *comms;            /* all groups of this rank, the world last */
    int64_t groups;
    ridge__mpi_operation *first, *last;
    int waits_in; /* kind of the call that is waited for, or one of the above */
    ridge__mpi_room *free_rooms;

    bool is_stopped;
    bool is_told; /* by another rank */
    int failed;   /* the rank that failed; -1: none, or cancelled */
    ridge_status status;
    char cause[RIDGE__NOTICE_TEXT];

    int64_t asked_number, asked_ticket; /* the call that this rank last asked for */
    bool *has_answered;                 /* [size] */
    ridge__notice *answers;             /* [size] */
    int ended;                          /* rank 0: ranks that have ended */
    bool *has_ended;                    /* rank 0: [size] */
    bool is_released;
};

extern const ridge__comm_ops ridge__mpi_ops;

/** Fail with MPI's own words unless code is success. @return E_IO */
RIDGE_NODISCARD ridge_status ridge__mpi_check(ridge_ctx *cx, int code,
                                              const char *what);
/** Two communicators for a group that has met. */
RIDGE_NODISCARD ridge_status ridge__mpi_comm_open(ridge_ctx *cx,
                                                  ridge__mpi_world *world,
                                                  const int *members, int n,
                                                  ridge__mpi_comm **out);

/** Memory for a call until ridge__mpi_release. NULL: none is left. */
void *ridge__mpi_take(ridge__mpi_operation *op, size_t bytes);
void ridge__mpi_release(ridge__mpi_operation *op);

/** Begin a call's first step. @errors E_ARG too large for MPI; E_NOMEM; E_IO */
RIDGE_NODISCARD ridge_status ridge__mpi_begin(ridge_ctx *cx, ridge__mpi_operation *op);
/** Whether its second step has to wait for those of earlier calls in the group: all
 * ranks start them in the same order. */
bool ridge__mpi_has_to_wait(ridge__mpi_operation *op);
/** Its step's requests are done: do what follows. @param is_over  out: that was all */
RIDGE_NODISCARD ridge_status ridge__mpi_step(ridge_ctx *cx, ridge__mpi_operation *op,
                                             bool *is_over);

/** Advance all calls, and hear what others have to say. @errors E_IO, E_CANCELLED */
RIDGE_NODISCARD ridge_status ridge__mpi_advance(ridge_ctx *cx, ridge__mpi_world *world);
/** Let others run, the longer this rank has waited the longer. */
void ridge__mpi_rest(const ridge__mpi_world *world, int64_t looks);

/** Fail of its own accord, the message stands in cx: all ranks are told. */
ridge_status ridge__mpi_fail_own(ridge_ctx *cx, ridge__mpi_world *world,
                                 ridge_status status);
/** Another has failed, or the caller cancelled. */
ridge_status ridge__mpi_fail_told(ridge_ctx *cx, const ridge__mpi_world *world);

/** Listen; hear all that has come. */
RIDGE_NODISCARD ridge_status ridge__notices_open(ridge_ctx *cx,
                                                 ridge__mpi_world *world);
RIDGE_NODISCARD ridge_status ridge__notices_hear(ridge_ctx *cx,
                                                 ridge__mpi_world *world);
void ridge__notices_close(ridge__mpi_world *world);
/** To one rank; to all others. Returns at once. */
void ridge__notice_send(ridge__mpi_world *world, int rank, const ridge__notice *notice);
void ridge__notice_tell(ridge__mpi_world *world, const ridge__notice *notice);
/** Whether MPI sends a notice without the other side's help depends on the network, and
 * a rank that is stuck does not help.
 * @return whether all are sent, after a second at the latest */
bool ridge__notices_see_off(ridge__mpi_world *world);
/** Ask the ranks that a call waits for, and fail if one of them had answered that it
 * has ended: it will not come. For a call that has been waited for for a while. */
RIDGE_NODISCARD ridge_status ridge__mpi_look_for_gone(ridge_ctx *cx,
                                                      ridge__mpi_operation *op);
/** Ask the ranks that a call waits for, and fail with what they say. */
ridge_status ridge__mpi_fail_late(ridge_ctx *cx, ridge__mpi_operation *op);

#endif
