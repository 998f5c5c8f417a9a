/*
 * A row of measured training runs, as in JSON Lines files of published measurements:
 * id, source {title}, model {dimensions}, hardware {chip, n_chips, ...}, plan {degrees,
 * ...}, measured {step_time_s, tokens_per_s_per_chip, ...}. null: the source is silent.
 */
#ifndef RIDGE_PLAN_MEASURED_ROW_H
#define RIDGE_PLAN_MEASURED_ROW_H

#include "ridge/plan.h"

/** What a row says; a 0 or NULL stands for null. */
typedef struct measured_row {
    const char *id, *source, *chip, *model_name;
    ridge_node model; /* the row's own objects; their parent is root */
    ridge_node hardware;
    ridge_node plan;
    ridge_node measured;
    ridge_node root;
    int64_t heads_elsewhere; /* of the same model in the last row of its source that
                              * states them, else of one as wide; 0: none does */
} measured_row;

/** @param out  must stay where it is: its nodes point into it
 *  @errors E_PARSE with file:line for text that is no such row */
RIDGE_NODISCARD ridge_status measured_row_read(ridge_ctx *cx, ridge_str line,
                                               const char *file, int number,
                                               measured_row *out);

/** Members that may be null. @return false then */
bool measured_count(const ridge_node *object, const char *key, int64_t *out);
bool measured_number(const ridge_node *object, const char *key, double *out);
const char *measured_text(const ridge_node *object, const char *key);

/** What had to be assumed, as text "remat, sharding". */
typedef struct measured_gaps {
    ridge_buf text;
} measured_gaps;

void measured_assume(measured_gaps *gaps, const char *what);

/** The slice of a row. @errors E_ARG, E_NOTFOUND: why it cannot be told */
RIDGE_NODISCARD ridge_status measured_slice(ridge_ctx *cx, const ridge_catalog *catalog,
                                            const measured_row *row,
                                            measured_gaps *gaps,
                                            const ridge_slice **out);

/** The model of a row, from its dimensions or by its name. @errors as above */
RIDGE_NODISCARD ridge_status measured_model(ridge_ctx *cx, const ridge_library *library,
                                            const measured_row *row,
                                            measured_gaps *gaps,
                                            const ridge_model **out);

/** Positions that the published model which a row names was made for; 0: none is known.
 */
double measured_context(ridge_ctx *cx, const ridge_library *library,
                        const measured_row *row);

/** Prediction layers of the published model that a row names; 0: none is known. */
int64_t measured_mtp_depth(ridge_ctx *cx, const ridge_library *library,
                           const measured_row *row);

/** Train them where the stack does and the row does not say "w/o MTP". */
void measured_mtp(ridge_ctx *cx, const ridge_library *library, const measured_row *row,
                  ridge_train_request *request);

/** The request of a row: batch, sequence and the knobs that it states.
 *  @param out  its model, slice and, for rows that do not say, seq_tokens; 0: not known
 */
RIDGE_NODISCARD ridge_status measured_request(ridge_ctx *cx, const measured_row *row,
                                              measured_gaps *gaps,
                                              ridge_train_request *out);

/** Ranks of data that degrees leave of the chips, at least one: of degrees beyond the
 * chips the plan is not legal, which its price says. Degrees of 0 count as 1. */
int64_t measured_data_ranks(const ridge_knobs *knobs, const ridge_slice *slice);

/** What a row's plan says in words. @owner the ctx; NULL when memory ran out */
const char *measured_plan_words(ridge_ctx *cx, const measured_row *row);

/** The format of a plan: of one word what Ridge reads it as, so that "fp8" and "fp8-cs"
 * are one; of more words those, which say more. */
const char *measured_format(const measured_row *row);

/** Whether the rates that a row states agree with its step time.
 * @errors E_ARG: the contradiction */
RIDGE_NODISCARD ridge_status measured_check(ridge_ctx *cx, const measured_row *row,
                                            const ridge_train_request *request);

/** The software of a row: what it states, what its source is known to have used, or
 *  what most runs on its chips use. A knob that the stack settles is set with it.
 * @errors E_NOTFOUND, E_PARSE */
RIDGE_NODISCARD ridge_status measured_stack(ridge_ctx *cx, const ridge_catalog *catalog,
                                            const measured_row *row,
                                            measured_gaps *gaps,
                                            ridge_train_request *request);

#endif
