/*
 * What a whole training run costs in days, dollars and energy once failures,
 * checkpoints and the building around the machines count: goodput in closed form, the
 * interval of checkpoints that wastes least, and the sums of a run.
 */
#ifndef RIDGE_PLAN_MONEY_H
#define RIDGE_PLAN_MONEY_H

#include "ridge/hardware_site.h"
#include "ridge/plan.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- goodput --------------------------------------------------------------------- */

/** A job that fails at random (times between failures are exponential), starts again
 *  and goes on from its last checkpoint. All in seconds. */
typedef struct ridge_reliability {
    double mtbf_s;    /* of the whole job, > 0; INFINITY: it does not fail */
    double restart_s; /* from a failure until work goes on, >= 0; may fail itself */
    double blocked_s; /* for which a checkpoint stops the work, >= 0 */
    double lag_s; /* from its end until it can be restored, >= 0: 0 when synchronous,
                   * the time of writing when that goes on beside the work */
    double interval_s; /* work between two checkpoints, > 0 */
} ridge_reliability;

/** Where the wall time of a job goes; the shares sum to 1. */
typedef struct ridge_goodput {
    double useful; /* work that counts: the goodput */
    double checkpoint;
    double lost;    /* work done again, and checkpoints that did not end */
    double restart; /* detection, rescheduling, loading */
} ridge_goodput;

/**
 * Shares of the wall time in the long run.
 *
 *     useful = interval / (M e^((R + lag) / M) (e^((interval + blocked) / M) - 1))
 *
 * exactly, for exponential times between failures, failures while restarting among
 * them. An asynchronous checkpoint that ends lag_s after its snapshot costs as a
 * restart longer by lag_s: work since the snapshot before it is lost until then
 * (derived in docs/design/failures.md).
 * @note  leaves out repair (nodes come from a pool) and failures of the storage
 * @source daly2006, equation 20
 */
ridge_goodput ridge_goodput_of(const ridge_reliability *job);

/**
 * The interval of most goodput: the root of (1 - x) e^x = e^(-blocked / M), x =
 * interval / M, by Newton's method; never below lag_s - blocked_s, as one checkpoint is
 * written before the next. INFINITY for a job that does not fail.
 * @source daly2006, equation 20 minimised without approximation
 */
double ridge_checkpoint_interval(const ridge_reliability *job);
/** sqrt(2 blocked M). @source young1974 */
double ridge_checkpoint_interval_young(double blocked_s, double mtbf_s);
/** sqrt(2 d M) (1 + sqrt(d / 2M) / 3 + (d / 2M) / 9) - d below d = 2 M, M above, d the
 * blocked time. @source daly2006, equation 37 */
double ridge_checkpoint_interval_daly(double blocked_s, double mtbf_s);

/** Chance that no more than @p spares of the nodes are down at once, each down for
 * repair_s: Poisson of mean repair_s / mtbf_s. */
double ridge_spares_availability(double mtbf_s, double repair_s, int64_t spares);

/* ---- what is asked --------------------------------------------------------------- */

/** What a mean time between failures is of. */
typedef enum ridge_mtbf_scope {
    RIDGE_MTBF_JOB,
    RIDGE_MTBF_NODE,
    RIDGE_MTBF_CHIP
} ridge_mtbf_scope;

/** Where a run takes place; has_ says whether the user told a number, which then stands
 *  for that of the site. Borrowed pointers must outlive the result. */
typedef struct ridge_money_request {
    bool has_price;
    ridge_price price;
    const ridge_site *site;
    bool is_reliable;                     /* failures and checkpoints are left out */
    const ridge_failure_record *failures; /* NULL: none is published */
    bool has_mtbf;
    ridge_mtbf_scope mtbf_scope;
    double mtbf_s;
    bool is_async;
    bool has_interval, has_restart, has_repair;
    double interval_s, restart_s, repair_s;
    double storage_bytes_per_s; /* of all nodes, both ways; 0: the site's */
    int64_t spare_nodes;
    double pue;            /* 0: the site's */
    double watts_per_chip; /* host and network among it; 0: the data's */
    double usd_per_kwh;    /* 0: not known */
} ridge_money_request;

/** "30m", "2.5h", "90" (seconds), "4d", "5y". @errors E_ARG */
RIDGE_NODISCARD ridge_status ridge_duration_parse(ridge_ctx *cx, const char *text,
                                                  double *seconds);
/** "2.8h" or "job:2.8h", "node:4000h", "chip:5y". @errors E_ARG */
RIDGE_NODISCARD ridge_status ridge_mtbf_parse(ridge_ctx *cx, const char *text,
                                              ridge_money_request *out);
/** "sync", "async", "30m", "async:30m". @errors E_ARG */
RIDGE_NODISCARD ridge_status ridge_checkpoint_parse(ridge_ctx *cx, const char *text,
                                                    ridge_money_request *out);

/* ---- the run --------------------------------------------------------------------- */

/** Where the watts of a chip come from. */
typedef enum ridge_power_source {
    RIDGE_POWER_UNKNOWN,
    RIDGE_POWER_GIVEN,    /* by the user */
    RIDGE_POWER_MEASURED, /* of a node in training */
    RIDGE_POWER_RATED,    /* the node's rating: an upper bound */
    RIDGE_POWER_CHIP,     /* the chip's rating alone: without host and network */
    RIDGE_POWER_LOAD      /* of the chip by what a step asks of it, host beside */
} ridge_power_source;

const char *ridge_power_source_text(ridge_power_source source);

/** What a chip draws, its share of host and network among it. */
typedef struct ridge_power {
    ridge_power_source source;
    double chip_watts;    /* of machines and network; 0: not known */
    double network_watts; /* part of it; 0: not known */
    double host_watts;    /* part of it; 0: not told apart */
    double chip_load;     /* of its rating that the chip itself draws; 0: not by load */
    double idle_watts;    /* of a chip that waits, host among it; 0: as chip_watts */
    double pue;
    double meter_watts; /* chip_watts x pue */
} ridge_power;

/** At full load. */
ridge_power ridge_power_of(const ridge_slice *slice, const ridge_money_request *money);

/**
 * By the load of a step, where the chip's draw by load is known
 * (ridge_chip_draw_watts): while it computes at the FLOPs and the memory that its parts
 * ask for, else with its kernels waiting. What a node draws beyond its chips' ratings
 * stays. Otherwise as ridge_power_of.
 * @source power-fit-2026
 */
ridge_power ridge_power_of_step(const ridge_slice *slice,
                                const ridge_money_request *money,
                                const ridge_train_price *price);

/** Bytes of a checkpoint: weights, master copy and moments of every parameter, by the
 * layout's precision and optimizer. */
double ridge_checkpoint_bytes(const ridge_model *model, const ridge_layout *layout);

/** Mean time between failures of a job on a slice; INFINITY when the request leaves
 * failures out, 0: not known. */
double ridge_money_mtbf_s(const ridge_slice *slice, const ridge_money_request *money);

typedef struct ridge_money {
    double checkpoint_bytes;
    double write_s; /* of a checkpoint to storage; 0: the storage's rate is not known */
    double copy_s;  /* from chips to their hosts; 0: not known */
    double load_s;
    bool has_goodput; /* MTBF, storage and restart are known */
    bool is_stuck;    /* it fails too often to get on: goodput below 0.1 %; no totals */
    ridge_reliability job;
    double interval_steps;
    double young_s, daly_s; /* the approximations of the best interval, beside it */
    ridge_goodput share;
    double other_useful;       /* goodput of the other way to checkpoint, at its best */
    double spare_availability; /* 1 without spares */
    double goodput;            /* share.useful x spare_availability; 1: not known */
    double paid_chips;         /* spares among them */
    double usd_per_million_tokens; /* 0: no price is known */
    ridge_power power;
    double joules_per_token; /* at the meter; 0: not known */
    double joules_per_step;  /* of a step that counts, failures left out */
    /* Of the whole run, failures among it; 0 when no total of tokens was asked. */
    double failures;
    double days, chip_hours, usd;
    double kwh, energy_usd;
    double mean_watts; /* at the meter, of all chips; also without a total */
} ridge_money;

/** The sums of a run with the step time of @p price, which fits. Cannot fail. */
ridge_money ridge_train_money(const ridge_train_request *request,
                              const ridge_train_price *price,
                              const ridge_money_request *money);

/** Quantities of a run that can be explained, NULL-terminated: goodput, days, usd. */
const char *const *ridge_money_quantities(void);

/**
 * The derivation of a run's goodput, days or dollars, failures and checkpoints among
 * them, down to what is published of the chip, the site and its prices.
 * @param quantity  one of ridge_money_quantities
 * @owner the ctx
 * @errors E_NOTFOUND another quantity; E_NOMEM; those of ridge_train_explain
 */
RIDGE_NODISCARD ridge_status ridge_money_explain(
    ridge_ctx *cx, const ridge_train_request *request, const ridge_train_price *price,
    const ridge_money_request *money, const char *quantity, ridge_explanation *out);

/** The keys of one layout's "run". */
ridge_json *ridge_money_to_json(ridge_ctx *cx, const ridge_money *money);
/** The keys of "terms": price, site, failures, as they were asked and found. */
ridge_json *ridge_money_terms_to_json(ridge_ctx *cx, const ridge_slice *slice,
                                      const ridge_money_request *request);

/**
 * MFU of a whole run: FLOPs of all its tokens over what its chips could have done in
 * the hours that they were taken, waiting and restarts included.
 *
 *     MFU = FLOPs a token x tokens / (chip-hours x 3600 x peak)
 *
 * @param flops_per_token  by any convention; the book takes 6 x active parameters
 * @source scaling-book-2025, chapter 4
 */
double ridge_run_mfu(double flops_per_token, double tokens, double chip_hours,
                     double peak_flops_per_s);

#ifdef __cplusplus
}
#endif

#endif
