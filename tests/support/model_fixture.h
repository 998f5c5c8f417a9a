/* Models for tests: from a few keys of a config, or from the library. */
#ifndef RIDGE_TEST_MODEL_FIXTURE_H
#define RIDGE_TEST_MODEL_FIXTURE_H

#include "near.h"
#include "ridge/model.h"

/** A model from config keys; ' may stand for ". Fails the test if it cannot be read. */
RIDGE_PRINTF(2, 3)
const ridge_model *fixture_model(ridge_ctx *cx, const char *fmt, ...);

/** A model of the built-in library. Fails the test if there is none. */
const ridge_model *fixture_named(ridge_ctx *cx, const char *name);

/** Fail the test with the ctx's message unless @p st is success. */
#define assert_ok(cx, st) fixture_assert_ok((cx), (st), __FILE__, __LINE__)
void fixture_assert_ok(ridge_ctx *cx, ridge_status st, const char *file, int line);

/** Fail the test unless the ctx's message holds @p part. */
void fixture_assert_message(const ridge_ctx *cx, const char *part);

/** cmocka set-up and tear-down: *state is a ctx. */
int fixture_open(void **state);
int fixture_close(void **state);

#endif
