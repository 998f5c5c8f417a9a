/* Serving cases for tests: a desk for a model on a slice, layouts and loads. */
#ifndef RIDGE_TEST_SERVING_FIXTURE_H
#define RIDGE_TEST_SERVING_FIXTURE_H

#include "train_fixture.h"

#include "ridge/plan_serving.h"

/** An engine of the built-in catalogue. Fails the test if there is none. */
const ridge_engine *serving_engine(ridge_ctx *cx, const char *name);

/** A model of the library, or of a fixture, on a slice under vLLM; up to 16,384 tokens
 *  a sequence. */
ridge_serving_desk *serving_desk_of(ridge_ctx *cx, const ridge_model *model,
                                    const ridge_slice *slice);

/** tp ranks, all else 1, 64 sequences, budget 2048, formats of the checkpoint. */
ridge_serving_layout serving_layout_of(const ridge_model *model,
                                       const ridge_slice *slice, int64_t tp);

/** Sequences that decode at a context. */
ridge_serving_load serving_decoding(double sequences, double context);
/** A chunk of one prompt behind tokens that are cached. */
ridge_serving_load serving_chunk(double tokens, double before);

/** The price; fails the test if it is refused. */
ridge_serving_step serving_step_of(ridge_ctx *cx, ridge_serving_desk *desk,
                                   const ridge_serving_layout *layout,
                                   const ridge_serving_load *load);
/** Of its time, the seconds of a part. */
double serving_part(const ridge_serving_step *step, ridge_serving_part part);

/** A model of the library on a slice, its desk, and a layout. */
typedef struct serving_fixture {
    ridge_ctx *cx;
    const ridge_model *model;
    const ridge_slice *slice;
    ridge_serving_desk *desk;
    ridge_serving_layout layout;
} serving_fixture;

serving_fixture serving_fixture_of(ridge_ctx *cx, const char *model, const char *slice,
                                   int64_t tp);
ridge_serving_step serving_price(const serving_fixture *b, ridge_serving_load load);

/** The same from tables. */
double serving_tables_s(const ridge_serving_speed *speed,
                        const ridge_serving_load *load);

#endif
