/* Launch configurations for tests: read from text, written from a layout and read back.
 */
#ifndef RIDGE_TEST_LAUNCH_FIXTURE_H
#define RIDGE_TEST_LAUNCH_FIXTURE_H

#include "train_fixture.h"

#include "ridge/plan_launch.h"

/** Read a text as a file of that name, for a slice of the catalogue. */
ridge_status launch_fixture_parse(ridge_ctx *cx, const char *slice, const char *file,
                                  const char *text, ridge_launch *out);

bool launch_fixture_has(const ridge_launch_notes *notes, const char *part);

/** A plan to be written and read back. */
typedef struct launch_case {
    const char *model, *slice;
    ridge_layout layout;
    double batch_seqs, seq_tokens;
} launch_case;

/** Write 64 sequences of 4,096 in a layout of a model of the library. */
ridge_status launch_fixture_write(ridge_ctx *cx, ridge_launcher launcher,
                                  const char *model, const char *slice,
                                  const ridge_layout *layout, ridge_launch_text *out);

/** Fail the test unless the case comes back as the same layout at the same price.
 * @param out  what was read */
void launch_fixture_round_trip(ridge_ctx *cx, ridge_launcher launcher,
                               const launch_case *c, ridge_launch *out);

#endif
