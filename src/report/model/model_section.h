/*
 * The parts that a model's report is put together from. Layer-internal.
 */
#ifndef RIDGE_REPORT_MODEL_SECTION_H
#define RIDGE_REPORT_MODEL_SECTION_H

#include "section.h"

#include "ridge/report.h"

/** "64 heads, 8 KV, head 128" and the like of one kind of layer; "" without memory. */
const char *ridge__mixer_text(ridge_ctx *cx, const ridge_mixer *mixer);
const char *ridge__ffn_text(ridge_ctx *cx, const ridge_ffn *ffn);

/** Weights, training state, KV cache, activations, tensor parallelism. */
void ridge__model_add_memory(ridge_ctx *cx, const ridge_model_view *view,
                             ridge_sections *out);

/** MFU of the run that a view has, if it has one. */
void ridge__model_add_past_run(ridge_ctx *cx, const ridge_model_view *view,
                               ridge_sections *out);
void ridge__model_past_run_to_json(ridge_ctx *cx, const ridge_model_view *view,
                                   ridge_json *object);

/** Activation bytes of a token over all layers under a remat policy. */
double ridge__model_activation_bytes(const ridge_model *model, ridge_remat remat);

/** Bytes of weights, gradients and optimizer state in training. @param precision  index
 *  of ridge_precision */
double ridge__model_state_bytes(const ridge_model *model, int precision);

/** Formats that weights are shown in. */
enum { RIDGE_SHOWN_DTYPES = 5 };
extern const ridge_dtype ridge__shown_dtypes[RIDGE_SHOWN_DTYPES];

/** The largest degree that tensor parallelism is judged for. */
enum { RIDGE_SHOWN_TP_MOST = 64 };

#endif
