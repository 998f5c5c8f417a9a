/* The keys of `train --json`. */
#include "guess_note.h"
#include "reasons_section.h"

static void set_thresholds(ridge_ctx *cx, const ridge_thresholds *h, ridge_json *object)
{
    ridge_json *t = ridge_json_set_object(cx, object, "thresholds");
    ridge_json_set_double(t, "alpha_flops_per_byte", h->alpha);
    ridge_json_set_i64(t, "network_axes", h->n_axes);
    ridge_json_set_double(t, "tokens_per_chip", h->tokens_per_chip);
    ridge_json_set_double(t, "dp_tokens_per_chip", h->dp_tokens_per_chip);
    ridge_json_set_double(t, "dp_outer_tokens_per_chip", h->dp_outer_tokens_per_chip);
    ridge_json_set_double(t, "dp_nodes_tokens_per_chip", h->dp_nodes_tokens_per_chip);
    ridge_json_set_double(t, "dp_reduced_tokens_per_chip",
                          h->dp_reduced_tokens_per_chip);
    ridge_json_set_double(t, "dp_outer_reduced_tokens_per_chip",
                          h->dp_outer_reduced_tokens_per_chip);
    ridge_json_set_double(t, "tp_ways", h->tp_ways);
    ridge_json_set_double(t, "tp_ways_two_axes", h->tp_ways_all_axes);
    ridge_json_set_double(t, "mixed_tokens_per_chip", h->mixed_tokens_per_chip);
    ridge_json_set_double(t, "fsdp_optimal", h->fsdp_optimal);
    ridge_json_set_double(t, "tp_optimal", h->tp_optimal);
    ridge_json_set_double(t, "pod_tokens", h->pod_tokens);
    ridge_json_set_double(t, "max_chips_fsdp", h->max_chips_fsdp);
    ridge_json_set_double(t, "max_chips_mixed", h->max_chips_mixed);
    ridge_json_set_double(t, "expert_factor", h->expert_factor);
    ridge_json_set_double(t, "tp_ways_across_nodes", h->tp_ways_across_nodes);
    ridge_json_set_double(t, "tp_ways_two_nodes", h->tp_ways_two_nodes);
    ridge_json_set_double(t, "ep_ways", h->ep_ways);
    ridge_json_set_double(t, "dp_experts_tokens_per_chip",
                          h->dp_experts_tokens_per_chip);
    ridge_json_set_double(t, "mixed_experts_tokens_per_chip",
                          h->mixed_experts_tokens_per_chip);
    ridge_json_set_double(t, "max_chips_fsdp_experts", h->max_chips_fsdp_experts);
    ridge_json_set_double(t, "max_chips_mixed_experts", h->max_chips_mixed_experts);
    ridge_json_set_double(t, "pod_experts_tokens", h->pod_experts_tokens);
    ridge_json_set_double(t, "dp_parameters_most", h->dp_parameters_most);
}

static ridge_json *layout_to_json(ridge_ctx *cx, const ridge_train_view *v,
                                  const ridge_train_price *price)
{
    ridge_json *o = ridge_train_price_to_json(cx, v->request, price);
    if (v->money != NULL) {
        const ridge_money run = ridge_train_money(v->request, price, v->money);
        ridge_json_set(o, "run", ridge_money_to_json(cx, &run));
    }
    return o;
}

static void set_search(ridge_ctx *cx, const ridge_train_result *result,
                       ridge_json *object)
{
    ridge_json *search = ridge_json_set_object(cx, object, "search");
    ridge_json_set_i64(search, "covered", result->covered);
    ridge_json_set_i64(search, "priced", result->priced);
    ridge_json_set_double(search, "seconds", result->seconds);
    ridge_json *refused = ridge_json_set_array(cx, search, "refused");
    for (int i = 1; i < RIDGE_FIT_COUNT; i++) {
        if (result->refused[i] == 0)
            continue;
        ridge_json *why = ridge_json_push_object(cx, refused);
        ridge_json_set_text(why, "reason", ridge_fit_text((ridge_fit)i));
        ridge_json_set_i64(why, "layouts", result->refused[i]);
    }
}

void ridge_train_write_json(ridge_ctx *cx, const ridge_train_view *v,
                            ridge_json *object)
{
    const ridge_train_request *r = v->request;
    const ridge_train_result *result = v->result;
    ridge_json_set_text(object, "model", v->model_name);
    ridge_json_set_text(object, "slice", r->slice->text);
    ridge_json_set_i64(object, "chips", r->slice->chips);
    ridge_json_set_double(object, "batch_tokens", result->batch_tokens);
    ridge_json_set_i64(object, "batch_seqs", result->batch_seqs);
    ridge_json_set_double(object, "seq_tokens", r->seq_tokens);
    if (r->documents.tokens > 0) {
        ridge_json *documents = ridge_json_set_object(cx, object, "documents");
        ridge_json_set_double(documents, "tokens", r->documents.tokens);
        ridge_json_set_double(documents, "spread", r->documents.spread);
    }
    ridge_json_set_double(object, "total_tokens", r->total_tokens);
    if (r->stack != NULL)
        ridge_json_set_text(object, "stack", r->stack->name);
    if (r->is_stack_usual)
        ridge_json_set_text(object, "usual_stack", r->stack->name);
    ridge_json_set_text(object, "convention", ridge_convention_text(r->convention));
    ridge_json_set_double(
        object, "mfu_peak_flops_per_s",
        ridge_policy_mfu_peak(ridge_precision_policy(r->knobs.precision),
                              r->slice->chip, NULL));
    const char *guesses = ridge__guess_note(cx, r->model);
    ridge_json *notes = ridge_json_set_array(cx, object, "notes");
    if (guesses != NULL)
        ridge_json_push_text(notes, guesses);
    ridge_json *layouts = ridge_json_set_array(cx, object, "layouts");
    for (int i = 0; i < result->n_layouts; i++)
        ridge_json_push(layouts, layout_to_json(cx, v, &result->layouts[i]));
    if (v->money != NULL) {
        ridge_json_set(object, "terms",
                       ridge_money_terms_to_json(cx, r->slice, v->money));
    }
    ridge__reasons_to_json(cx, v, object);
    set_thresholds(cx, v->thresholds, object);
    if (v->rooflines != NULL)
        ridge__train_rooflines_to_json(cx, v->rooflines, object);
    set_search(cx, result, object);
}
