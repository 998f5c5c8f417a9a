/*
 * The door of the library to JavaScript.
 */
#ifndef RIDGE_WEB_BRIDGE_H
#define RIDGE_WEB_BRIDGE_H

#include "ridge/cli_answer.h"

/** What the program said to one command line. */
typedef struct bridge_reply bridge_reply;

/**
 * Answer a command line. Files that it names are in Emscripten's memory file system.
 * @param request  a JSON array of the words behind "ridge", UTF-8:
 *                 ["train","llama-3-8b","--on","h100:4x8","--batch","1M","--json"]
 * @return NULL when out of memory
 * @owner the caller, who ends it with bridge_close
 */
bridge_reply *bridge_ask(const char *request);

/** @return the exit code: 0, 1 (the answer is no), 2 (bad input: bridge_err says why)
 */
int bridge_code(const bridge_reply *reply);
/** What went to stdout and to stderr. Borrowed until bridge_close. */
const char *bridge_out(const bridge_reply *reply);
const char *bridge_err(const bridge_reply *reply);

void bridge_close(bridge_reply *reply);

/**
 * A number as the program writes it.
 * @param kind  seconds, bytes, si, count, exact, percent, usd or double; another:
 * double
 * @param out   written; borrowed
 */
void bridge_format(const char *kind, double value, ridge_text *out);

#endif
