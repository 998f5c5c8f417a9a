/* Programs for tests: lowered from models, or read from a few lines of text. */
#ifndef RIDGE_TEST_PROGRAM_FIXTURE_H
#define RIDGE_TEST_PROGRAM_FIXTURE_H

#include "model_fixture.h"

#include "ridge/program.h"

/** The model with B sequences of T tokens, all in bf16; decode: one token, context T.
 */
const ridge_program *fixture_lower(ridge_ctx *cx, const ridge_model *model,
                                   ridge_phase phase, int64_t sequences,
                                   int64_t tokens);

/** Parse; fails the test if it cannot be read. */
const ridge_program *fixture_parse(ridge_ctx *cx, const char *text);

/** The program's text. */
const char *fixture_text(ridge_ctx *cx, const ridge_program *program);

/** Fail unless the program's text holds that part. */
#define assert_holds(cx, program, part)                                                \
    fixture_assert_holds((cx), (program), (part), __FILE__, __LINE__)
void fixture_assert_holds(ridge_ctx *cx, const ridge_program *program, const char *part,
                          const char *file, int line);

/** An operation by "block.name"; fails the test if there is none. */
const ridge_operation *fixture_op(const ridge_program *program, const char *name);

/** Bytes of all tensors of a role, with repeats. */
double fixture_bytes(const ridge_program *program, ridge_role role);

#endif
