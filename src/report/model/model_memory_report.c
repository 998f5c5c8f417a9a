/*
 * What a model takes: weights by format, training state, KV cache, activations by
 * remat policy, and the tensor-parallel degrees that are legal.
 */
#include "model_section.h"

#include "ridge/plan.h"

const ridge_dtype ridge__shown_dtypes[RIDGE_SHOWN_DTYPES] = {
    RIDGE_DTYPE_FP32, RIDGE_DTYPE_BF16, RIDGE_DTYPE_FP8, RIDGE_DTYPE_INT8,
    RIDGE_DTYPE_INT4};

double ridge__model_activation_bytes(const ridge_model *model, ridge_remat remat)
{
    double bytes = 0;
    for (int i = 0; i < model->n_layers; i++) {
        bytes +=
            (double)model->layers[i].count *
            ridge_layer_activation_bytes(model, &model->layers[i], remat, 1, false);
    }
    return bytes;
}

double ridge__model_state_bytes(const ridge_model *model, int precision)
{
    const ridge_policy *policy = ridge_precision_policy((ridge_precision)precision);
    double each = policy->weight_bytes + policy->gradient_bytes + policy->master_bytes +
                  policy->moment_bytes;
    return each * (double)ridge_model_params(model).total;
}

static void add_weights(ridge_ctx *cx, const ridge_model *model, ridge_sections *out)
{
    ridge_table *t = ridge__section_add(cx, out, "Weights", "format|>bytes|what");
    ridge_table_cell(t, "checkpoint");
    ridge_table_cell(t, ridge_format_bytes(ridge_model_weight_bytes(model)).s);
    ridge_table_cell(t, model->quant_method ? model->quant_method
                                            : ridge_dtype_text(model->weight_dtype));
    for (int i = 0; i < RIDGE_SHOWN_DTYPES; i++) {
        ridge_dtype dtype = ridge__shown_dtypes[i];
        ridge_table_cell(t, ridge_dtype_text(dtype));
        ridge_table_cell(
            t, ridge_format_bytes(ridge_model_weight_bytes_as(model, dtype)).s);
        ridge_table_cell(t, "every weight");
    }
}

static void add_training_state(ridge_ctx *cx, const ridge_model *model,
                               ridge_sections *out)
{
    ridge_table *t =
        ridge__section_add(cx, out, "Training state (weights, gradients, optimizer)",
                           "precision|>bytes|what it keeps");
    for (int i = 0; i < RIDGE_PRECISION_COUNT; i++) {
        const ridge_policy *policy = ridge_precision_policy((ridge_precision)i);
        ridge_table_cell(t, policy->text);
        ridge_table_cell(t, ridge_format_bytes(ridge__model_state_bytes(model, i)).s);
        ridge_table_cell(t, policy->what);
    }
}

static void add_kv(ridge_ctx *cx, const ridge_model_view *view, ridge_sections *out)
{
    const ridge_model *model = view->model;
    const char *title =
        ridge_sprintf(ridge_ctx_arena(cx), "KV cache (a sequence holds %s tokens)",
                      ridge_format_count(view->seq_tokens).s);
    ridge_table *t = ridge__section_add(
        cx, out, title ? title : "KV cache",
        "format|>a token|>a token, windows full|>state|>a sequence|>paged alike");
    static const ridge_dtype dtypes[] = {RIDGE_DTYPE_BF16, RIDGE_DTYPE_FP8};
    for (size_t i = 0; i < RIDGE_COUNT_OF(dtypes); i++) {
        ridge_kv kv = ridge_model_kv(model, dtypes[i]);
        double tokens = view->seq_tokens;
        ridge_table_cell(t, ridge_dtype_text(dtypes[i]));
        ridge_table_cell(t, ridge_format_bytes(kv.bytes_per_token).s);
        ridge_table_cell(t, ridge_format_bytes(kv.bytes_per_token_long).s);
        ridge_table_cell(t, ridge_format_bytes(kv.state_bytes_per_sequence).s);
        ridge_table_cell(
            t, ridge_format_bytes(ridge_model_kv_bytes(model, dtypes[i], tokens, false))
                   .s);
        ridge_table_cell(
            t,
            ridge_format_bytes(ridge_model_kv_bytes(model, dtypes[i], tokens, true)).s);
    }
}

static void add_remat(ridge_ctx *cx, const ridge_model_view *view, ridge_sections *out)
{
    const ridge_model *model = view->model;
    ridge_table *t = ridge__section_add(
        cx, out, "Activations and recomputation of a token",
        "remat|>kept, all layers|>kept, a layer|>recomputed|>of the forward|what");
    double forward = ridge_model_flops_forward(model, view->seq_tokens, true).total;
    double layers = model->layer_count > 0 ? (double)model->layer_count : 1;
    for (int i = 0; i < RIDGE_REMAT_COUNT; i++) {
        ridge_remat remat = (ridge_remat)i;
        double bytes = ridge__model_activation_bytes(model, remat);
        double again = ridge_model_flops_remat(model, view->seq_tokens, true, remat);
        ridge_table_cell(t, ridge_remat_text(remat));
        ridge_table_cell(t, ridge_format_bytes(bytes).s);
        ridge_table_cell(t, ridge_format_bytes(bytes / layers).s);
        ridge_table_cell(t, ridge_format_si(again, "FLOP").s);
        ridge_table_cell(t, ridge_format_percent(forward > 0 ? again / forward : 0).s);
        ridge_table_cell(t, ridge_remat_what(remat));
    }
}

static void add_tp(ridge_ctx *cx, const ridge_model *model, ridge_sections *out)
{
    ridge_buf legal;
    ridge_buf_init(&legal, ridge_ctx_arena(cx));
    ridge_table *t = ridge__section_add(cx, out, "Tensor parallelism", "");
    for (int tp = 1; tp <= RIDGE_SHOWN_TP_MOST; tp++) {
        ridge_tp_verdict verdict = ridge_model_tp(model, tp);
        bool is_power = (tp & (tp - 1)) == 0;
        if (verdict == RIDGE_TP_OK || verdict == RIDGE_TP_REPLICATES_KV)
            ridge_buf_printf(&legal, "%s%d", legal.n ? ", " : "", tp);
        if (!is_power)
            continue;
        ridge_table_cell(t, ridge_model_tp_text(ridge_ctx_arena(cx), model, tp));
    }
    ridge__section_note(out,
                        ridge_sprintf(ridge_ctx_arena(cx), "Legal up to %d: %s.",
                                      RIDGE_SHOWN_TP_MOST, ridge_buf_text(&legal)));
}

void ridge__model_add_memory(ridge_ctx *cx, const ridge_model_view *view,
                             ridge_sections *out)
{
    add_weights(cx, view->model, out);
    add_training_state(cx, view->model, out);
    add_kv(cx, view, out);
    add_remat(cx, view, out);
    add_tp(cx, view->model, out);
}
