/* A derivation of a model's number being told. */
#include "model_story.h"
#include "reason.h"

void model_story_add(model_story *s, int depth, const char *name, const char *formula,
                     const char *result, const char *values_fmt, ...)
{
    va_list values;
    va_start(values, values_fmt);
    reason_add(s->cx, s->out, depth, name, formula, result, values_fmt, values);
    va_end(values);
}

ridge_model model_story_kind(const model_story *s, int kind)
{
    ridge_model one = *s->model;
    one.layers += kind;
    one.n_layers = 1;
    return one;
}
