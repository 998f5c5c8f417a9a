/* JSON documents drawn at random: any nesting, hostile keys and texts, all kinds. */
#ifndef RIDGE_TEST_RANDOM_JSON_H
#define RIDGE_TEST_RANDOM_JSON_H

#include "ridge/base.h"
#include "seeded.h"

/** A document in the ctx, at most @p depth levels below its root. Its numbers have no
 * more digits than are written. */
ridge_json *random_json(ridge_ctx *cx, seeded *at, int depth);

/** A text of at most 20 characters, of UTF-8; lives in the ctx. */
const char *random_text(ridge_ctx *cx, seeded *at);

#endif
