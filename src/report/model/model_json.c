/*
 * A model as JSON: the keys of `ridge model --json`.
 */
#include "model_section.h"

#include "ridge/model_length.h"

#include "ridge/plan.h"

static void set_params(ridge_ctx *cx, const ridge_model *model, ridge_json *object)
{
    ridge_params p = ridge_model_params(model);
    ridge_json *parameters = ridge_json_set_object(cx, object, "parameters");
    ridge_json_set_i64(parameters, "total", p.total);
    ridge_json_set_i64(parameters, "active", p.active);
    ridge_json_set_i64(parameters, "embedding", p.embedding);
    ridge_json_set_i64(parameters, "unembedding", p.unembedding);
    ridge_json_set_i64(parameters, "attention", p.attention);
    ridge_json_set_i64(parameters, "mlp", p.mlp);
    ridge_json_set_i64(parameters, "router", p.router);
    ridge_json_set_i64(parameters, "experts", p.experts);
    ridge_json_set_i64(parameters, "experts_active", p.experts_active);
    ridge_json_set_i64(parameters, "norm", p.norm);
    ridge_json_set_i64(parameters, "mtp", p.mtp);
    ridge_json_set_i64(parameters, "vision", p.vision);
    if (model->published_params)
        ridge_json_set_i64(parameters, "published", model->published_params);
    if (model->published_note)
        ridge_json_set_text(parameters, "published_note", model->published_note);
}

static void set_weights(ridge_ctx *cx, const ridge_model *model, ridge_json *object)
{
    ridge_json_set_double(object, "weight_bytes", ridge_model_weight_bytes(model));
    ridge_json *by = ridge_json_set_object(cx, object, "weight_bytes_by_dtype");
    for (int i = 0; i < RIDGE_SHOWN_DTYPES; i++) {
        ridge_json_set_double(
            by, ridge_dtype_text(ridge__shown_dtypes[i]),
            ridge_model_weight_bytes_as(model, ridge__shown_dtypes[i]));
    }
    ridge_json *state = ridge_json_set_object(cx, object, "training_state_bytes");
    for (int i = 0; i < RIDGE_PRECISION_COUNT; i++) {
        ridge_json_set_double(state, ridge_precision_policy((ridge_precision)i)->text,
                              ridge__model_state_bytes(model, i));
    }
}

static void set_flops(ridge_ctx *cx, const ridge_model_view *view, ridge_json *object)
{
    const ridge_model *model = view->model;
    double tokens = view->seq_tokens;
    ridge_flops f = ridge_model_flops_forward(model, tokens, true);
    ridge_json *per_token = ridge_json_set_object(cx, object, "flops_per_token");
    ridge_json_set_double(per_token, "forward", f.total);
    ridge_json_set_double(
        per_token, "train",
        ridge_model_flops_train(model, tokens, RIDGE_CONVENTION_MATMUL_CAUSAL));
    ridge_json *parts = ridge_json_set_object(cx, per_token, "forward_parts");
    ridge_json_set_double(parts, "attention_projections", f.attention_projections);
    ridge_json_set_double(parts, "attention_scores", f.attention_scores);
    ridge_json_set_double(parts, "mlp", f.mlp);
    ridge_json_set_double(parts, "router", f.router);
    ridge_json_set_double(parts, "experts", f.experts);
    ridge_json_set_double(parts, "unembedding", f.unembedding);
    ridge_json_set_double(per_token, "vector", f.vector);
    ridge_json *conventions = ridge_json_set_object(cx, object, "conventions");
    for (int i = 0; i < RIDGE_CONVENTION_COUNT; i++) {
        ridge_convention c = (ridge_convention)i;
        ridge_json_set_double(conventions, ridge_convention_text(c),
                              ridge_model_flops_train(model, tokens, c));
    }
}

static void set_lengths(ridge_ctx *cx, const ridge_model *model, ridge_json *object)
{
    static const char *const names[] = {"full_square", "causal"};
    ridge_json *lengths = ridge_json_set_object(cx, object, "scores_equal_at_tokens");
    for (int half = 0; half < 2; half++) {
        const ridge_scores_length l = ridge_model_scores_length(model, half == 1);
        ridge_json *o = ridge_json_set_object(cx, lengths, names[half]);
        ridge_json_set_double(o, "matmuls", l.matmuls);
        ridge_json_set_double(o, "projections", l.projections);
    }
}

static void set_kv(ridge_ctx *cx, const ridge_model_view *view, ridge_json *object)
{
    const ridge_model *model = view->model;
    ridge_kv kv = ridge_model_kv(model, RIDGE_DTYPE_BF16);
    ridge_json_set_double(object, "kv_bytes_per_token", kv.bytes_per_token);
    ridge_json *more = ridge_json_set_object(cx, object, "kv_bf16");
    ridge_json_set_double(more, "bytes_per_token_long", kv.bytes_per_token_long);
    ridge_json_set_double(more, "state_bytes_per_sequence",
                          kv.state_bytes_per_sequence);
    ridge_json_set_double(
        more, "bytes_per_sequence",
        ridge_model_kv_bytes(model, RIDGE_DTYPE_BF16, view->seq_tokens, false));
    ridge_json_set_double(
        more, "unified_bytes_per_sequence",
        ridge_model_kv_bytes(model, RIDGE_DTYPE_BF16, view->seq_tokens, true));
}

static void set_remat(ridge_ctx *cx, const ridge_model_view *view, ridge_json *object)
{
    ridge_json *policies = ridge_json_set_object(cx, object, "remat");
    for (int i = 0; i < RIDGE_REMAT_COUNT; i++) {
        ridge_remat remat = (ridge_remat)i;
        ridge_json *policy =
            ridge_json_set_object(cx, policies, ridge_remat_text(remat));
        ridge_json_set_double(policy, "activation_bytes_per_token",
                              ridge__model_activation_bytes(view->model, remat));
        ridge_json_set_double(
            policy, "recomputed_flops_per_token",
            ridge_model_flops_remat(view->model, view->seq_tokens, true, remat));
    }
}

static void set_layers(ridge_ctx *cx, const ridge_model *model, ridge_json *object)
{
    ridge_json *kinds = ridge_json_set_array(cx, object, "layer_kinds");
    for (int i = 0; i < model->n_layers; i++) {
        const ridge_layer *layer = &model->layers[i];
        ridge_json *kind = ridge_json_push_object(cx, kinds);
        ridge_json_set_i64(kind, "count", layer->count);
        ridge_json_set_text(kind, "mixer", ridge__mixer_text(cx, &layer->mixer));
        ridge_json_set_text(kind, "ffn", ridge__ffn_text(cx, &layer->ffn));
        ridge_json_set_bool(kind, "is_encoder", layer->is_encoder);
    }
    ridge_json *legal = ridge_json_set_array(cx, object, "legal_tp");
    for (int tp = 1; tp <= RIDGE_SHOWN_TP_MOST; tp++) {
        ridge_tp_verdict verdict = ridge_model_tp(model, tp);
        if (verdict == RIDGE_TP_OK || verdict == RIDGE_TP_REPLICATES_KV)
            ridge_json_push_i64(legal, tp);
    }
}

static void set_checkpoint(ridge_ctx *cx, const ridge_checkpoint *c, ridge_json *object)
{
    if (!c)
        return;
    ridge_json *checkpoint = ridge_json_set_object(cx, object, "checkpoint");
    ridge_json_set_text(checkpoint, "path", c->path);
    ridge_json_set_double(checkpoint, "total_bytes", c->total_bytes);
    ridge_json_set_double(checkpoint, "predicted_bytes", c->predicted_bytes);
    ridge_json_set_i64(checkpoint, "tensors", c->tensors);
    ridge_json_set_bool(checkpoint, "agrees", c->agrees);
    ridge_json_set_text(checkpoint, "verdict", c->verdict);
}

void ridge_model_write_json(ridge_ctx *cx, const ridge_model_view *view,
                            ridge_json *object)
{
    const ridge_model *model = view->model;
    ridge_json_set_text(object, "name", model->name);
    ridge_json_set_text(object, "model_type",
                        model->model_type ? model->model_type : "");
    ridge_json_set_i64(object, "layers", model->layer_count);
    ridge_json_set_i64(object, "d_model", model->d_model);
    ridge_json_set_i64(object, "vocab", model->vocab);
    ridge_json_set_i64(object, "max_positions", model->max_positions);
    ridge_json_set_double(object, "seq_tokens", view->seq_tokens);
    set_params(cx, model, object);
    set_weights(cx, model, object);
    set_flops(cx, view, object);
    ridge__model_past_run_to_json(cx, view, object);
    set_lengths(cx, view->model, object);
    set_kv(cx, view, object);
    set_remat(cx, view, object);
    set_layers(cx, model, object);
    set_checkpoint(cx, view->checkpoint, object);
    ridge_json *notes = ridge_json_set_array(cx, object, "notes");
    for (int i = 0; i < model->n_notes; i++)
        ridge_json_push_text(notes, model->notes[i]);
}
