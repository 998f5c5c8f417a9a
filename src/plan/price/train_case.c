/* Readies a training problem: stages, weights by kind, whole sequences of the batch. */
#include "train_case.h"

#include "adapter.h"

#include "group_placement.h"
#include "host_time.h"

#include "layer_program.h"
#include "step_program.h"

#include "ridge/simulate_pace.h"

#include <math.h>
#include <string.h>

static const double BATCH_TOKENS_MOST = 1e15;
static const double SEQ_TOKENS_MOST = 1e9;

static bool is_count(double v, double most)
{
    return isfinite(v) && v >= 1 && v <= most;
}

/* Degrees that are fixed must leave something for the free ones. */
static ridge_status check_mesh(ridge_ctx *cx, const ridge_train_request *r)
{
    const ridge_knobs *k = &r->knobs;
    const struct {
        const char *name;
        int64_t value;
    } degrees[] = {
        {"dp", k->dp}, {"fsdp", k->fsdp}, {"tp", k->tp}, {"cp", k->cp}, {"pp", k->pp}};
    int64_t product = 1;
    bool is_all_fixed = true;
    for (size_t i = 0; i < RIDGE_COUNT_OF(degrees); i++) {
        is_all_fixed = is_all_fixed && degrees[i].value > 0;
        int64_t v = degrees[i].value > 0 ? degrees[i].value : 1;
        if (r->slice->chips % v != 0) {
            return ridge_fail(cx, RIDGE_E_ARG,
                              "%s=%lld does not divide the %lld chips of %s: choose a "
                              "divisor",
                              degrees[i].name, (long long)v, (long long)r->slice->chips,
                              r->slice->text);
        }
        if (!ridge_mul_i64(product, v, &product) || r->slice->chips % product != 0) {
            return ridge_fail(cx, RIDGE_E_ARG,
                              "the fixed degrees multiply to %lld, which does not "
                              "divide the %lld chips of %s: lower one of them",
                              (long long)product, (long long)r->slice->chips,
                              r->slice->text);
        }
    }
    if (is_all_fixed && product != r->slice->chips) {
        return ridge_fail(
            cx, RIDGE_E_ARG,
            "dp x fsdp x tp x cp x pp = %lld, but %s has %lld chips: free "
            "one of them",
            (long long)product, r->slice->text, (long long)r->slice->chips);
    }
    return RIDGE_OK;
}

/* Arithmetic that the chip would do in a wider format. */
static ridge_status check_precision(ridge_ctx *cx, const ridge_train_request *r)
{
    const ridge_policy *policy = ridge_precision_policy(r->knobs.precision);
    ridge_dtype used = policy->compute;
    ridge_chip_peak(r->slice->chip, policy->compute, &used);
    if (used == policy->compute || ridge_dtype_bytes(policy->compute) > 1)
        return RIDGE_OK;
    return ridge_fail(
        cx, RIDGE_E_ARG,
        "precision=%s: the matrix units of %s have no %s, use precision=%s",
        policy->text, r->slice->chip->full_name, ridge_dtype_text(policy->compute),
        used == RIDGE_DTYPE_FP8    ? "fp8"
        : used == RIDGE_DTYPE_FP16 ? "fp16"
                                   : "bf16");
}

static ridge_status check_knobs(ridge_ctx *cx, const ridge_train_request *r)
{
    const ridge_knobs *k = &r->knobs;
    RIDGE_TRY(check_mesh(cx, r));
    RIDGE_TRY(ridge_knobs_check(cx, k, r->model));
    RIDGE_TRY(check_precision(cx, r));
    if (k->optimizer == RIDGE_OPTIMIZER_LORA &&
        !ridge_chip_is_overlapped(r->slice->chip))
        return ridge_fail(cx, RIDGE_E_ARG,
                          "optimizer=lora: %s is priced by what ranks run, and they "
                          "train all weights; name another optimizer",
                          r->slice->chip->full_name);
    if (k->ep > 1 && r->slice->chips % k->ep != 0)
        return ridge_fail(cx, RIDGE_E_ARG,
                          "ep=%lld does not divide the %lld chips of %s: choose a "
                          "divisor",
                          (long long)k->ep, (long long)r->slice->chips, r->slice->text);
    if (k->offload > RIDGE_OFFLOAD_NONE &&
        train_host_bytes_per_s(r->slice->chip) <= 0) {
        return ridge_fail(cx, RIDGE_E_ARG,
                          "offload=%s: the catalogue knows no bandwidth between %s and "
                          "its host, so leave offload out",
                          ridge_offload_text((unsigned)k->offload),
                          r->slice->chip->full_name);
    }
    return RIDGE_OK;
}

ridge_status ridge_train_check(ridge_ctx *cx, const ridge_train_request *r)
{
    if (!is_count(r->seq_tokens, SEQ_TOKENS_MOST)) {
        return ridge_fail(cx, RIDGE_E_ARG,
                          "sequence of %g tokens: expected 1 to 1e9 (--seq)",
                          r->seq_tokens);
    }
    if (!is_count(r->batch_tokens, BATCH_TOKENS_MOST)) {
        return ridge_fail(cx, RIDGE_E_ARG,
                          "batch of %g tokens: expected 1 to 1e15 (--batch)",
                          r->batch_tokens);
    }
    if (r->batch_tokens < 0.5 * r->seq_tokens) {
        return ridge_fail(
            cx, RIDGE_E_ARG,
            "a batch of %.0f tokens holds no whole sequence of %.0f: raise "
            "--batch or lower --seq",
            r->batch_tokens, r->seq_tokens);
    }
    if (!(r->headroom >= 0 && r->headroom < 1))
        return ridge_fail(cx, RIDGE_E_ARG, "headroom %g: expected 0 to less than 1",
                          r->headroom);
    if (!(r->total_tokens >= 0 && r->total_tokens <= 1e18)) {
        return ridge_fail(cx, RIDGE_E_ARG, "%g training tokens: expected 0 to 1e18",
                          r->total_tokens);
    }
    if (r->slice->next != NULL) {
        return ridge_fail(cx, RIDGE_E_ARG,
                          "%s mixes kinds of chips: a training layout needs one kind, "
                          "name one of the pools",
                          r->slice->text);
    }
    const int placements = train_placement_most(r->slice);
    if (r->knobs.placement >= placements) {
        return ridge_fail(cx, RIDGE_E_ARG,
                          "placement=%d: %s has 0 to %d, or say placement=any",
                          r->knobs.placement, r->slice->text, placements - 1);
    }
    RIDGE_TRY(ridge_stack_check(cx, r->stack, r->slice->chip));
    return check_knobs(cx, r);
}

bool train_case_forget(train_case *tc)
{
    ridge_arena *arena = ridge_ctx_arena(tc->cx);
    tc->n_stages_by_pp = 0;
    tc->cap_stages_by_pp = 64;
    tc->stages_by_pp = ridge_new(arena, train_stages, (size_t)tc->cap_stages_by_pp);
    tc->steps = ridge_new(arena, step_memo, 1);
    tc->pacer = ridge_pacer_open(tc->cx);
    train_programs_forget(tc);
    return tc->stages_by_pp != NULL && tc->steps != NULL && tc->pacer != NULL;
}

ridge_status train_case_status(const train_case *tc)
{
    if (tc->status != RIDGE_OK || tc->steps->status != RIDGE_OK)
        return tc->status != RIDGE_OK ? tc->status : tc->steps->status;
    return ridge_pacer_status(tc->pacer);
}

static void read_weights(train_case *tc)
{
    for (int k = 0; k < tc->n_kinds; k++) {
        tc->n_weights[k] =
            ridge_layer_weights(tc->model, &tc->kinds[k], tc->weights[k]);
    }
}

/* The operations that a knob names are those of some layer. */
static ridge_status name_operations(train_case *tc)
{
    const ridge_remat_ops wanted = tc->request->knobs.remat_ops;
    ridge_remat_ops known;
    RIDGE_TRY(train_program_ops(tc, &known));
    if ((wanted & ~known) != 0)
        return ridge_fail(tc->cx, RIDGE_E_ARG,
                          "remat: no layer of %s makes %s: its operations are %s",
                          tc->model->name,
                          ridge_remat_ops_text(tc->cx, wanted & ~known),
                          ridge_remat_ops_text(tc->cx, known));
    tc->named[tc->n_named++] = wanted;
    return RIDGE_OK;
}

ridge_status train_case_open(ridge_ctx *cx, const ridge_train_request *request,
                             train_case *out)
{
    RIDGE_TRY(ridge_train_check(cx, request));
    const ridge_model *model = request->model;
    if (request->documents.tokens > 0)
        RIDGE_TRY(
            ridge_model_with_documents(cx, model, request->documents.tokens, &model));
    const ridge_chip *chip = request->slice->chip;
    train_case tc = {.cx = cx,
                     .request = request,
                     .model = model,
                     .slice = request->slice,
                     .chip = chip,
                     .stack = request->stack,
                     .params = ridge_model_params(model),
                     .n_kinds = model->n_layers,
                     .kinds = model->layers,
                     .seq_tokens = floor(request->seq_tokens)};
    ridge_arena *arena = ridge_ctx_arena(cx);
    tc.weights = ridge_arena_new(arena, (size_t)tc.n_kinds, sizeof *tc.weights);
    tc.n_weights = ridge_new(arena, int, (size_t)tc.n_kinds);
    if (tc.weights == NULL || tc.n_weights == NULL || !train_case_forget(&tc))
        return ridge_fail_nomem(cx);
    read_weights(&tc);
    const ridge_knobs *knobs = &request->knobs;
    RIDGE_TRY(
        train_case_set_policy(&tc, knobs->precision, knobs->optimizer, &knobs->lora));
    double seqs = round(request->batch_tokens / tc.seq_tokens);
    tc.batch_seqs = seqs < 1 ? 1 : (int64_t)seqs;
    tc.flops_per_token =
        ridge_model_flops_train(model, tc.seq_tokens, request->convention);
    tc.mtp_flops_per_token =
        ridge_model_flops_mtp(model, tc.seq_tokens, request->convention);
    tc.usable_bytes = ridge_chip_memory_bytes(chip) * (1 - request->headroom);
    tc.usd_per_chip_hour = request->usd_per_chip_hour;
    if (tc.usd_per_chip_hour == 0 && chip->n_prices > 0)
        tc.usd_per_chip_hour = chip->prices[0].usd_per_chip_hour;
    *out = tc;
    return request->knobs.remat_ops != 0 ? name_operations(out) : RIDGE_OK;
}

ridge_status train_case_set_policy(train_case *tc, ridge_precision precision,
                                   ridge_optimizer optimizer, const ridge_lora *lora)
{
    ridge_policy *made = ridge_new(ridge_ctx_arena(tc->cx), ridge_policy, 1);
    if (made == NULL)
        return ridge_fail_nomem(tc->cx);
    *made = ridge_policy_with_optimizer(ridge_precision_policy(precision), optimizer);
    tc->policy = made;
    tc->lora = *lora;
    return host_calls_count(tc);
}

void train_case_set_remat(train_case *tc, const ridge_layout *layout)
{
    tc->n_named = 0;
    if ((int)layout->remat == RIDGE_REMAT_OPERATIONS)
        tc->named[tc->n_named++] = layout->remat_ops;
}

int train_remat_index(const train_case *tc, const ridge_layout *layout)
{
    if ((int)layout->remat != RIDGE_REMAT_OPERATIONS)
        return (int)layout->remat;
    for (int i = 0; i < tc->n_named; i++) {
        if (tc->named[i] == layout->remat_ops)
            return RIDGE_REMAT_COUNT + i;
    }
    return RIDGE_REMAT_NONE;
}

double train_host_bytes_per_s(const ridge_chip *chip)
{
    return chip->host_link_bytes_per_s > 0 ? chip->host_link_bytes_per_s
                                           : chip->pcie_bytes_per_s;
}

double train_flops_per_token(const train_case *tc, const ridge_layout *l)
{
    const double all = tc->flops_per_token + (double)l->mtp * tc->mtp_flops_per_token;
    if (l->optimizer != RIDGE_OPTIMIZER_LORA)
        return all;
    const ridge_flops f = ridge_model_flops_forward(tc->model, tc->seq_tokens, true);
    return all * (1 - (f.total - f.attention_scores) / (3 * f.total)) +
           adapter_flops_per_token(tc);
}

/* The token table on the last stage, for the embeddings that prediction layers read,
 * and their maps from 2 D to D with three norms. @source deepseek-v3-2024, 2.2;
 * megatron-lm-2025 for the table */
static double prediction_params(const train_case *tc, const train_stage *stage)
{
    const double d = (double)tc->model->d_model;
    const bool is_there = stage->has_embedding || tc->model->is_tied;
    if (stage->predictions <= 0)
        return 0;
    return stage->predictions * d * (2 * d + 3) +
           (is_there ? 0 : (double)tc->model->vocab * d);
}

double train_embedding_params(const train_case *tc, const train_stage *stage,
                              int64_t tp, int64_t pp)
{
    double params = prediction_params(tc, stage);
    double table = (double)tc->params.embedding;
    if (stage->has_embedding)
        params += table;
    if (stage->has_head && tc->model->has_unembedding) {
        /* A tied head far from the embedding is a copy of its own. */
        bool is_copy = tc->model->is_tied && pp > 1;
        params += is_copy ? (double)tc->model->vocab * (double)tc->model->d_model
                          : (double)tc->params.unembedding;
    }
    return params / (double)tp;
}
