/*
 * Reasons of a service: what holds a larger batch back, why other deployments come
 * after, what changed hardware makes of it, which limit costs most, and derivations.
 */
#ifndef RIDGE_PLAN_SERVICE_REASONS_H
#define RIDGE_PLAN_SERVICE_REASONS_H

#include "ridge/plan_reasons.h"
#include "ridge/plan_service.h"

#ifdef __cplusplus
extern "C" {
#endif

/** What the next larger batch runs into: RIDGE_SERVICE_FIT_OK when nothing does, but
 *  the aim. @errors E_NOMEM */
RIDGE_NODISCARD ridge_status ridge_service_binding(ridge_ctx *cx,
                                                   const ridge_service_request *request,
                                                   const ridge_service_price *price,
                                                   ridge_service_fit *out);

/* ---- the others ------------------------------------------------------------------ */

enum { RIDGE_SERVICE_DIFFERENCE_MAX = 4 };

/** A factor of the tokens a second of a chip, in which two deployments differ. */
typedef struct ridge_service_difference {
    int part; /* of the time between tokens; -1: sequences in flight */
    double
        change; /* seconds of a part; factor of sequences, the other's over the best's
                 */
} ridge_service_difference;

/** Where a deployment loses against the best: sequences that decode a paid chip, and
 *  the parts of the time between tokens that differ most.
 * @return how many; those of a hundredth and more */
int ridge_service_differences(const ridge_service_price *best,
                              const ridge_service_price *other,
                              ridge_service_difference *out);

/* ---- what if --------------------------------------------------------------------- */

/** What changed hardware makes of an answer. */
typedef struct ridge_service_what_if {
    bool has_same; /* the layout of before does, at its best batch */
    ridge_service_price same;
    bool has_best; /* of the changed hardware */
    ridge_service_price best;
} ridge_service_what_if;

/** @param best  of the request as it is. @errors E_NOMEM, E_CANCELLED */
RIDGE_NODISCARD ridge_status
ridge_service_what_if_find(ridge_ctx *cx, const ridge_service_request *request,
                           const ridge_service_price *best, const ridge_what_if *what,
                           ridge_service_what_if *out);

/** Changes of a deployment when one number of the hardware, the engine or the work is a
 *  tenth larger (of latencies: smaller), at the same batch; relative. */
typedef struct ridge_service_sensitivity {
    const char *name;
    double ttft, tpot, throughput; /* tokens/s of a chip at the same batch */
    bool has_best;
    double best; /* the same at the layout's then best batch */
} ridge_service_sensitivity;

enum { RIDGE_SERVICE_SENSITIVITY_MAX = 16 };

/** @param out  room for RIDGE_SERVICE_SENSITIVITY_MAX. @errors E_NOMEM, E_CANCELLED */
RIDGE_NODISCARD ridge_status ridge_service_sensitivity_find(
    ridge_ctx *cx, const ridge_service_request *request,
    const ridge_service_price *best, ridge_service_sensitivity *out, int *n);

/* ---- limits ---------------------------------------------------------------------- */

/** A limit taken away, and what the best deployment then is. */
typedef struct ridge_service_relaxation {
    const char *name; /* "tpot=60ms", "hbm_bytes=1.25x", "v5e:8x8" */
    const char *what; /* for people */
    ridge_service_price best;
    double change; /* of tokens/s a paid chip (aim latency: of the time to the last
                      token), relative; 0 where nothing did before */
} ridge_service_relaxation;

enum { RIDGE_SERVICE_RELAXATION_MAX = 32 };

/**
 * Each limit taken away by itself, the one that helps most first: goals, knobs that the
 * user fixed, formats, memory, network, the engine's budget. Where nothing does (best
 * NULL) only those that then have an answer: goals at what is nearest, formats, faster
 * hardware, larger slices.
 * @param out  room for RIDGE_SERVICE_RELAXATION_MAX. @errors E_NOMEM, E_CANCELLED
 */
RIDGE_NODISCARD ridge_status ridge_service_relax(ridge_ctx *cx,
                                                 const ridge_catalog *catalog,
                                                 const ridge_service_request *request,
                                                 const ridge_service_result *result,
                                                 ridge_service_relaxation *out, int *n);

/* ---- derivations ----------------------------------------------------------------- */

/** Quantities of a service that can be explained; NULL-terminated: ttft, tpot, e2e,
 *  throughput, usd, blocks, memory, batch and the parts of an iteration. */
const char *const *ridge_service_quantities(void);

/** The derivation of a quantity of a detailed price down to facts of the chip.
 * @owner the ctx. @errors E_NOTFOUND with the nearest quantity; E_NOMEM */
RIDGE_NODISCARD ridge_status ridge_service_explain(ridge_ctx *cx,
                                                   const ridge_service_request *request,
                                                   const ridge_service_price *price,
                                                   const char *quantity,
                                                   ridge_explanation *out);

#ifdef __cplusplus
}
#endif

#endif
