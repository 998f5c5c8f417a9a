/* Names that Megatron's --fp8-recipe has for ways to scale operands of 8 bits. */
#ifndef RIDGE_PLAN_LAUNCH_RECIPES_H
#define RIDGE_PLAN_LAUNCH_RECIPES_H

#include "ridge/plan_layout.h"

/** @return fp8 (delayed) for a name that is not known */
ridge_precision launch_fp8_recipe(const char *name);

/** @return NULL: the default, delayed */
const char *launch_fp8_recipe_name(ridge_precision precision);

#endif
