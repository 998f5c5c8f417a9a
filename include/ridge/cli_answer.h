/*
 * The program as a function: a command line in, its answer in memory. What a browser, a
 * notebook or a service calls.
 */
#ifndef RIDGE_CLI_ANSWER_H
#define RIDGE_CLI_ANSWER_H

#include "ridge/base.h"

#ifdef __cplusplus
extern "C" {
#endif

/** What the program says to a command line. */
typedef struct ridge_answer {
    int code; /* exit code: 0 the answer, 1 the answer is no, 2 bad usage or input */
    ridge_str out; /* what goes to stdout; a 0 stands behind it */
    ridge_str err; /* complaints and notes, a line each; a 0 stands behind it */
} ridge_answer;

/**
 * Answer a command line as the program does, without printing. Files that it names are
 * read and written; there is no colour and no progress bar.
 * @param argv  the words after "ridge": "train", "llama-3-70b", "--on", …; borrowed
 * until the ctx is closed
 * @owner cx
 * @errors E_NOMEM; E_ARG for a verb that prints while it works (run, calibrate). A
 *         complaint about the words is an answer with code 2
 */
RIDGE_NODISCARD ridge_status ridge_answer_line(ridge_ctx *cx, int argc,
                                               const char *const *argv,
                                               ridge_answer *out);

#ifdef __cplusplus
}
#endif

#endif
