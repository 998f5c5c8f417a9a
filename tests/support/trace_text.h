/* Profiles of Chrome traces written as text, each in a file of its test alone. */
#ifndef RIDGE_TEST_TRACE_TEXT_H
#define RIDGE_TEST_TRACE_TEXT_H

#include "own_folder.h"

#include "ridge/profile.h"

/** One test's ctx, and the profile of what it wrote. */
typedef struct trace_fixture {
    ridge_ctx *cx;
    const char *folder;
    ridge_profile profile;
} trace_fixture;

/** @param name  of the folder, the test's own */
void trace_fixture_open(trace_fixture *f, const char *name);
void trace_fixture_close(trace_fixture *f);
/** The profile of a document; the test fails when it cannot be read. */
void trace_profile(trace_fixture *f, const char *document);
/** The same of events alone: what stands between the brackets of traceEvents. */
void trace_profile_events(trace_fixture *f, const char *events);

/** Append a kernel of device 0. Times in nanoseconds; args: further members of the
 * event, or "". */
void trace_kernel(ridge_buf *out, const char *name, int stream, long long start_ns,
                  long long length_ns, const char *args);
/** Seconds of a part over all steps, in nanoseconds. */
long long trace_part(const trace_fixture *f, ridge_profile_part part);
/** Fail unless each step's parts sum to it. */
void assert_parts_sum(const ridge_profile *profile);

#endif
