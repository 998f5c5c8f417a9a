/* Recipes of 8 bits by name; @source megatron-lm-2025, fp8-recipe. */
#include "launch_recipes.h"

#include "ridge/base.h"

#include <string.h>

static const struct {
    const char *name;
    ridge_precision precision;
} recipes[] = {{"tensorwise", RIDGE_PRECISION_FP8_CURRENT},
               {"blockwise", RIDGE_PRECISION_FP8_BLOCKS},
               {"mxfp8", RIDGE_PRECISION_MXFP8}};

ridge_precision launch_fp8_recipe(const char *name)
{
    for (size_t i = 0; i < RIDGE_COUNT_OF(recipes); i++) {
        if (strcmp(name, recipes[i].name) == 0)
            return recipes[i].precision;
    }
    return RIDGE_PRECISION_FP8;
}

const char *launch_fp8_recipe_name(ridge_precision precision)
{
    for (size_t i = 0; i < RIDGE_COUNT_OF(recipes); i++) {
        if (precision == recipes[i].precision)
            return recipes[i].name;
    }
    return NULL;
}
