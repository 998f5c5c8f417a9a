/* A derivation of a model's number being told. Layer-internal. */
#ifndef RIDGE_PLAN_MODEL_STORY_H
#define RIDGE_PLAN_MODEL_STORY_H

#include "ridge/plan.h"

typedef struct model_story {
    ridge_ctx *cx;
    const ridge_model *model;
    double seq_tokens;
    ridge_params params;
    ridge_flops flops; /* forward, with the causal half of scores */
    ridge_explanation *out;
} model_story;

/** Append a line; texts are copied. */
void model_story_add(model_story *s, int depth, const char *name, const char *formula,
                     const char *result, const char *values_fmt, ...)
    RIDGE_PRINTF(6, 7);

/** The model with one kind of its layers alone. */
ridge_model model_story_kind(const model_story *s, int kind);

/* One function a quantity; they add its lines from depth on. */
void model_story_parameters(model_story *s, int depth);
void model_story_active(model_story *s, int depth);
void model_story_part(model_story *s, int depth, ridge_part part);
void model_story_embedding(model_story *s, int depth);
void model_story_unembedding(model_story *s, int depth);
void model_story_aside(model_story *s, int depth, bool is_vision);

void model_story_flops(model_story *s, int depth);
void model_story_flops_part(model_story *s, int depth, ridge_part part);
void model_story_scores(model_story *s, int depth);
void model_story_head(model_story *s, int depth);
void model_story_train(model_story *s, int depth);
void model_story_conventions(model_story *s, int depth);

void model_story_weights(model_story *s, int depth);
void model_story_training(model_story *s, int depth);
void model_story_activations(model_story *s, int depth);
void model_story_kv(model_story *s, int depth);

#endif
