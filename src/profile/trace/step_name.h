/*
 * Names by which programs mark their steps. Layer-internal.
 */
#ifndef RIDGE_PROFILE_STEP_NAME_H
#define RIDGE_PROFILE_STEP_NAME_H

#include "ridge/base.h"

/** "ProfilerStep#6", "step 12", "iteration_3", "train_step": the word, then at most
 * marks and digits. */
bool step_name_is(ridge_str name);

#endif
