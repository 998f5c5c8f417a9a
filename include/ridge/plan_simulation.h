/*
 * A step of a training layout as passes of a pipeline: what each takes on each stage,
 * and what comes once a step, in the terms of the layout's price.
 */
#ifndef RIDGE_PLAN_SIMULATION_H
#define RIDGE_PLAN_SIMULATION_H

#include "ridge/plan_money.h"
#include "ridge/simulate.h"
#include "ridge/simulate_failure.h"
#include "ridge/simulate_step.h"

#ifdef __cplusplus
extern "C" {
#endif

/* name, text: exchanges within a pass, by the axis that they are over */
/* clang-format off */
#define RIDGE_TRAFFIC_LIST(X) \
    X(TP, "tp")               \
    X(CP, "cp")               \
    X(EP, "ep")               \
    X(FSDP, "fsdp")
/* clang-format on */

typedef enum ridge_traffic {
#define RIDGE_TRAFFIC_ENUM(name, text) RIDGE_TRAFFIC_##name,
    RIDGE_TRAFFIC_LIST(RIDGE_TRAFFIC_ENUM)
#undef RIDGE_TRAFFIC_ENUM
} ridge_traffic;

#define RIDGE_TRAFFIC_ONE(name, text) +1
enum { RIDGE_TRAFFIC_COUNT = 0 RIDGE_TRAFFIC_LIST(RIDGE_TRAFFIC_ONE) };
#undef RIDGE_TRAFFIC_ONE

/** "tp"; static. */
const char *ridge_traffic_text(ridge_traffic traffic);

/** What a pass takes for one microbatch. */
typedef struct ridge_pass_work {
    double compute_s; /* with what is done again, slowed by collectives beside it */
    double exposed_s[RIDGE_TRAFFIC_COUNT]; /* the chip waits */
    double hidden_s[RIDGE_TRAFFIC_COUNT];  /* beside compute */
} ridge_pass_work;

/** Compute and what is exposed, without sends between stages. */
double ridge_pass_work_s(const ridge_pass_work *work);

/** A virtual stage. The backward pass is both of the latter. */
typedef struct ridge_stage_work {
    ridge_pass_work forward, backward_input, backward_weight;
    double layers; /* a share of its rank's */
    bool has_embedding, has_head;
} ridge_stage_work;

/** What a rank does once a step, behind its last pass. */
typedef struct ridge_step_end {
    double reduce_exposed_s, reduce_hidden_s; /* gradients; hidden: beside the passes */
    double optimizer_s;
    double gather_exposed_s, gather_hidden_s; /* weights; hidden: in the next step */
    double slowdown_s;                        /* of passes, by what is hidden here */
    double offload_s; /* state to and from the host, beyond the update */
    double bound_sync_s, bound_update_s; /* at peak rates */
} ridge_step_end;

/** Who exchanges over which axes of which network. */
typedef struct ridge_step_network {
    const ridge_slice *slice;
    ridge_group traffic[RIDGE_TRAFFIC_COUNT]; /* FSDP: the shards */
    ridge_group reduction;
    const ridge_slice *pp_slice; /* that of pp: another one between pools */
    ridge_group pp;
} ridge_step_network;

/** A step of a layout on its slice. */
typedef struct ridge_train_step {
    const ridge_slice *slice; /* borrowed from the request */
    ridge_train_price price;  /* as told */
    ridge_pipeline pipeline;
    const ridge_stage_work *stages; /* [p v] virtual stages */
    const ridge_step_end *ends;     /* [p] */
    double send_s;                  /* an activation to the next stage */
    bool is_send_exposed;           /* a rank waits while it sends */
    /* [p v] messages that are part of a stage's passes, where stages send over unlike
     * networks; NULL: is_send_exposed says it of all */
    const ridge_stage_time *sent_s;
    bool has_barrier;       /* all wait for all before they update */
    bool is_overlapped;     /* collectives run beside compute */
    double processor_share; /* see ridge_chip_processor_share */
    /* chips of a stage that wait for each other in each pass, and such groups, which
     * meet at the end of a step alone; their product is dp x fsdp x tp x cp */
    int64_t group_chips, replicas;
    ridge_step_network network;
    /* [p] of each rank, where they lie on unlike ones; NULL: network is that of all */
    const ridge_step_network *networks;
} ridge_train_step;

/**
 * The passes of a layout's step. Stages of a rank with several chunks hold equal shares
 * of its layers; embedding and head are in the first and the last one.
 * @param out  owned by the ctx
 * @errors E_ARG a layout that is not legal, with the reason, or whose schedule there
 *         is not; E_NOMEM
 */
RIDGE_NODISCARD ridge_status ridge_train_step_of(ridge_ctx *cx,
                                                 const ridge_train_request *request,
                                                 const ridge_layout *layout,
                                                 ridge_train_step *out);

/* ---- played out ------------------------------------------------------------------ */

/** What is asked of a simulation besides its plan. */
typedef struct ridge_simulation_request {
    ridge_step_trouble trouble;
    bool has_failures;
    const ridge_money_request *money; /* where it runs, and what fails there */
    double run_tokens;                /* of the whole run, > 0 */
    int runs;                         /* played */
} ridge_simulation_request;

/** A run with failures, played, and by its closed form at the same step. */
typedef struct ridge_run_simulation {
    ridge_failure_script script;
    ridge_failure_outcome outcome;
    ridge_money closed;
} ridge_run_simulation;

typedef struct ridge_train_simulation {
    ridge_train_step step;
    ridge_pipeline_schedule schedule;
    ridge_step_script script;
    ridge_step_trouble trouble;
    ridge_step_outcome outcome;
    bool has_failures;
    ridge_run_simulation run; /* at the mean step */
} ridge_train_simulation;

/**
 * Play the step of a layout, and with failures the whole run. Sends that ranks wait for
 * are part of the passes before them; hidden reductions slow the rank's last ones.
 * @param request  with whose model, slice and batch the layout is priced
 * @owner the ctx
 * @errors as ridge_train_step_of, ridge_step_play and ridge_failure_play; E_ARG
 * failures without a rate, storage or a time of restarts
 */
RIDGE_NODISCARD ridge_status ridge_train_simulate(ridge_ctx *cx,
                                                  const ridge_train_request *request,
                                                  const ridge_layout *layout,
                                                  const ridge_simulation_request *asked,
                                                  ridge_train_simulation *out);

#ifdef __cplusplus
}
#endif

#endif
