/*
 * Which serving layouts are legal, and what to do about those that are not. Generation
 * has no axis that only copies weights (that is a replica), moves them over the network
 * each step for no gain (FSDP), or cuts the one token of a step (sequence).
 */
#include "serving_bench.h"

#include <string.h>

#define FAULT(desk, ...) ridge_sprintf(ridge_ctx_arena((desk)->cx), __VA_ARGS__)

static const char *degree_fault(ridge_serving_desk *desk, const ridge_serving_layout *l)
{
    const struct {
        const char *name;
        int64_t value;
    } degrees[] = {{"tp", l->tp},
                   {"pp", l->pp},
                   {"ep", l->ep},
                   {"attention_dp", l->attention_dp},
                   {"sequences", l->sequences},
                   {"budget_tokens", l->budget_tokens}};
    const int64_t most = 1000000000;
    for (size_t i = 0; i < RIDGE_COUNT_OF(degrees); i++) {
        if (degrees[i].value < 1 || degrees[i].value > most)
            return FAULT(desk, "%s=%lld: it is 1 or more", degrees[i].name,
                         (long long)degrees[i].value);
    }
    const int64_t chips = desk->about.slice->chips;
    ridge_slice part;
    if (l->tp > chips || l->attention_dp > chips || l->pp > chips ||
        !serving_slice_cut(desk->about.slice, l->tp * l->attention_dp * l->pp, &part))
        return FAULT(desk,
                     "tp=%lld x attention_dp=%lld x pp=%lld do not divide the %lld "
                     "chips of %s: choose divisors, or of switches whole nodes",
                     (long long)l->tp, (long long)l->attention_dp, (long long)l->pp,
                     (long long)chips, desk->about.slice->text);
    return NULL;
}

/* ---- tp -------------------------------------------------------------------------- */

typedef ridge_tp_verdict verdict_fn(const ridge_model *model, int64_t ways);

/* Verdicts do not change: each is found once. */
static ridge_tp_verdict verdict_of(ridge_serving_desk *desk, verdict_fn *f,
                                   int64_t ways)
{
    const serving_key key = {.of = {SERVING_KEY_FAULT, ways, f == ridge_model_tp}};
    const serving_price *known = serving_memo_find(&desk->memo, &key);
    if (known != NULL)
        return (ridge_tp_verdict)known->of[0];
    const serving_price price = {{(double)f(desk->model, ways)}};
    serving_memo_put(ridge_ctx_arena(desk->cx), &desk->memo, &key, &price);
    return (ridge_tp_verdict)price.of[0];
}

static const char *tp_fault(ridge_serving_desk *desk, const ridge_serving_layout *l)
{
    const ridge_tp_verdict verdict = verdict_of(desk, ridge_model_tp, l->tp);
    if (l->is_weight_gathered || verdict == RIDGE_TP_OK ||
        verdict == RIDGE_TP_REPLICATES_KV)
        return NULL;
    return FAULT(desk, "tp=%lld: %s", (long long)l->tp,
                 ridge_model_tp_text(ridge_ctx_arena(desk->cx), desk->model, l->tp));
}

/* ---- experts --------------------------------------------------------------------- */

/* Copies fill what is left of the last slots of each chip. */
static const char *slots_fault(ridge_serving_desk *desk, const ridge_serving_layout *l,
                               int64_t experts)
{
    const int64_t copies = l->redundant_experts;
    const int64_t missing = ridge_ceil_div(experts, l->ep) * l->ep - experts;
    const int64_t distinct = experts * (l->ep - 1); /* no chip has an expert twice */
    const int64_t priced = RIDGE_EXPERT_SLOTS_MAX - experts;
    const int64_t most = distinct < priced ? distinct : priced;
    if (copies == 0 && missing > 0)
        return FAULT(desk,
                     "ep=%lld does not divide %lld experts: choose a divisor, or "
                     "redundant=%lld copies of hot experts",
                     (long long)l->ep, (long long)experts, (long long)missing);
    if ((experts + copies) % l->ep != 0)
        return FAULT(desk,
                     "ep=%lld does not divide %lld experts and %lld copies: use "
                     "redundant=%lld, or multiples of ep more",
                     (long long)l->ep, (long long)experts, (long long)copies,
                     (long long)missing);
    if (copies > 0 && copies > most)
        return FAULT(desk,
                     "redundant=%lld: %lld experts on ep=%lld chips have at most %lld "
                     "copies",
                     (long long)copies, (long long)experts, (long long)l->ep,
                     (long long)(most > 0 ? most : 0));
    return NULL;
}

static const char *expert_count_fault(ridge_serving_desk *desk,
                                      const ridge_serving_layout *l)
{
    for (int i = 0; i < desk->model->n_layers; i++) {
        const ridge_ffn *f = &desk->model->layers[i].ffn;
        const char *fault =
            f->kind == RIDGE_FFN_MOE ? slots_fault(desk, l, f->experts) : NULL;
        if (fault != NULL)
            return fault;
    }
    return NULL;
}

/* Kernels of experts fill the last block of a rank up where blocks are of floats;
 * groups of integers lie along the inputs, and must be whole. @source vllm-source-2025
 */
bool serving_pads_experts(const ridge_model *model)
{
    return model->weight_dtype == RIDGE_DTYPE_FP8 ||
           model->weight_dtype == RIDGE_DTYPE_FP4;
}

static bool is_width_legal(ridge_serving_desk *desk, int64_t width)
{
    const ridge_tp_verdict verdict = verdict_of(desk, ridge_model_expert_tp, width);
    return verdict == RIDGE_TP_OK ||
           (verdict == RIDGE_TP_BLOCK && serving_pads_experts(desk->model));
}

static const char *expert_fault(ridge_serving_desk *desk, const ridge_serving_layout *l)
{
    const bool has_experts = desk->params.experts > 0;
    const int64_t chips = l->tp * l->attention_dp;
    if (!has_experts && l->ep > 1)
        return FAULT(desk, "ep=%lld: %s has no experts, use ep=1", (long long)l->ep,
                     desk->model->name);
    if (!has_experts && l->redundant_experts > 0)
        return FAULT(desk, "redundant=%lld: %s has no experts, use redundant=0",
                     (long long)l->redundant_experts, desk->model->name);
    if (!has_experts && l->attention_dp > 1)
        return FAULT(desk,
                     "attention_dp=%lld: without experts every rank would be a whole "
                     "replica, use as many replicas",
                     (long long)l->attention_dp);
    if (l->has_two_batches && l->attention_dp <= 1)
        return FAULT(desk, "overlap=1 hides the exchange of attention ranks with "
                           "experts behind halves of an iteration: use attention_dp, "
                           "or overlap=0");
    if (chips % l->ep != 0)
        return FAULT(desk, "ep=%lld does not divide tp x attention_dp = %lld",
                     (long long)l->ep, (long long)chips);
    const char *fault = expert_count_fault(desk, l);
    const int64_t width = chips / l->ep;
    if (fault == NULL && !is_width_legal(desk, width))
        fault = FAULT(desk,
                      "each expert would be cut %lld ways, which its width or the "
                      "blocks of its format do not allow: raise ep",
                      (long long)width);
    return fault;
}

/* ---- caches, weights, drafts ----------------------------------------------------- */

static const char *cut_fault(ridge_serving_desk *desk, const ridge_serving_layout *l)
{
    if (l->kv_cut != RIDGE_KV_CUT_HEADS && serving_shared_ways(desk->model, l) <= 1)
        return FAULT(desk,
                     "kv_cut=%s shares caches that tp would copy, and tp=%lld copies "
                     "none: use kv_cut=heads",
                     ridge_kv_cut_text(l->kv_cut), (long long)l->tp);
    if (l->tp_d < 0 || (l->tp_d > 1 && l->tp % l->tp_d != 0))
        return FAULT(desk, "tp_d=%lld does not divide tp=%lld", (long long)l->tp_d,
                     (long long)l->tp);
    if (l->tp_d > 1 && (l->is_weight_gathered || desk->model->d_model % l->tp_d != 0))
        return FAULT(desk,
                     "tp_d=%lld cuts the width %lld of weights that stay: a divisor, "
                     "and no gathered weights",
                     (long long)l->tp_d, (long long)desk->model->d_model);
    if (!l->is_weight_gathered)
        return NULL;
    if (desk->params.experts > 0 || l->kv_cut != RIDGE_KV_CUT_HEADS)
        return FAULT(desk, "gathered weights share the sequences over tp: not with "
                           "experts, and with kv_cut=heads");
    return NULL;
}

static const char *draft_fault(ridge_serving_desk *desk, const ridge_serving_layout *l)
{
    const ridge_draft *d = &l->draft;
    if (d->kind == RIDGE_DRAFT_NONE)
        return NULL;
    if (d->depth < 1 || d->depth > RIDGE_DRAFT_DEPTH_MAX || d->nodes < d->depth ||
        d->nodes > 1024)
        return FAULT(desk,
                     "drafts of %lld positions and %lld nodes: 1 to %d positions, and "
                     "as many nodes or more",
                     (long long)d->depth, (long long)d->nodes, RIDGE_DRAFT_DEPTH_MAX);
    if (d->kind == RIDGE_DRAFT_MODEL && d->model == NULL)
        return "a drafting model is not named";
    if (d->kind == RIDGE_DRAFT_MTP && desk->model->mtp_params <= 0)
        return FAULT(desk, "%s has no prediction layers to draft with",
                     desk->model->name);
    return NULL;
}

const char *ridge_serving_layout_fault(ridge_serving_desk *desk,
                                       const ridge_serving_layout *l)
{
    const char *fault = degree_fault(desk, l);
    if (fault == NULL)
        fault = tp_fault(desk, l);
    if (fault == NULL && l->pp > desk->model->layer_count)
        fault = FAULT(desk, "pp=%lld needs a layer for each stage; %s has %lld",
                      (long long)l->pp, desk->model->name,
                      (long long)desk->model->layer_count);
    if (fault == NULL)
        fault = expert_fault(desk, l);
    if (fault == NULL)
        fault = cut_fault(desk, l);
    return fault != NULL ? fault : draft_fault(desk, l);
}

/* ---- axes that training has -------------------------------------------------------
 */

/* @source scaling-book-2025 chapter 7, "sharding generation" */
static const struct {
    const char *name, *why;
} AXES[] = {
    {"dp",
     "replicas of all weights share nothing while they generate: they are servers, "
     "use servers"},
    {"fsdp",
     "each step would move all weights over the network for a few rows: use tp, "
     "which moves rows, or gathered=1 for long prompts"},
    {"zero",
     "there is no state of an optimizer to cut, and weights would move each step: "
     "use tp, or gathered=1 for long prompts"},
    {"cp", "a step has one token of a sequence, which nothing can cut: use "
           "kv_cut=sequence to cut the tokens of the cache"},
    {"sp", "a step has one token of a sequence, which nothing can cut: use "
           "kv_cut=sequence to cut the tokens of the cache"},
    {"vpp",
     "stages take iterations of other sequences in turn, and have no backward pass "
     "to interleave: use pp"},
    {"remat", "nothing is kept for a backward pass"},
};

const char *ridge_serving_axis_fault(const char *name)
{
    for (size_t i = 0; i < RIDGE_COUNT_OF(AXES); i++) {
        if (strcmp(name, AXES[i].name) == 0)
            return AXES[i].why;
    }
    return NULL;
}
