/* Training problems for tests: slices and small models, fixed or drawn from a seed. */
#ifndef RIDGE_TEST_TRAIN_FIXTURE_H
#define RIDGE_TEST_TRAIN_FIXTURE_H

#include "model_fixture.h"
#include "ridge/plan.h"

/** A small generator of its own: the same numbers everywhere. State 0 is no seed. */
typedef struct dice {
    uint64_t state;
} dice;

/** A die for a case; equal seeds give equal draws. */
dice dice_of(uint64_t seed);
int64_t dice_roll(dice *d, int64_t low, int64_t high);
double dice_between(dice *d, double low, double high);

/** A slice of the built-in catalogue. Fails the test if there is none. */
const ridge_slice *train_slice(ridge_ctx *cx, const char *text);

/** 4 layers, D 1024, 16 heads and 4 KV heads, F 4096, V 32000. */
const ridge_model *train_dense_model(ridge_ctx *cx);
/** 4 layers like those, with 8 experts of width 1024, 2 a token. */
const ridge_model *train_moe_model(ridge_ctx *cx);

/** A request with every knob free: batch_seqs sequences of seq_tokens. */
ridge_train_request train_request(const ridge_model *model, const ridge_slice *slice,
                                  double batch_seqs, double seq_tokens);

/** dp, fsdp, tp, cp, pp as given, ep and vpp 1, microbatches of one, no remat. */
ridge_layout train_layout(int64_t dp, int64_t fsdp, int64_t tp, int64_t cp, int64_t pp);

/** The price of a layout; fails the test if it is refused outright. */
ridge_train_price train_price_of(ridge_ctx *cx, const ridge_train_request *request,
                                 const ridge_layout *layout);

/** A problem small enough to try every layout, drawn from a seed. */
typedef struct train_problem {
    ridge_ctx *cx;
    ridge_chip chip; /* with less memory than in the catalogue, so that it counts */
    ridge_slice slice;
    ridge_train_request request;
} train_problem;

/** @param out  holds what request points at: do not copy. Close its cx at the end. */
void train_problem_open(uint64_t seed, train_problem *out);

#endif
