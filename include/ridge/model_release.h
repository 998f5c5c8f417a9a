/* What names of releases say beside the model's name. */
#ifndef RIDGE_MODEL_RELEASE_H
#define RIDGE_MODEL_RELEASE_H

#include "ridge/base.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Cut off when a release was made, and what it was tuned for before: "-2507",
 * "-Thinking-2507". Its shapes are those of the model; its context may be another.
 * @return false if there is no date; *name is then untouched */
bool ridge_model_name_undated(ridge_str *name);

#ifdef __cplusplus
}
#endif

#endif
