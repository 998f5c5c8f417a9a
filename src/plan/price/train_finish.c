/* Legality of a layout, and what follows from its step time: rates, days, money. */
#include "layer_program.h"
#include "pipeline_choice.h"
#include "train_price.h"

#include <math.h>

static int64_t replicas_of_batch(const ridge_layout *l)
{
    return l->dp * l->fsdp;
}

static int64_t sequences_of_replica(const train_case *tc, const ridge_layout *l)
{
    return ridge_ceil_div(tc->batch_seqs, replicas_of_batch(l));
}

int64_t train_microbatches(const train_case *tc, const ridge_layout *l)
{
    return ridge_ceil_div(sequences_of_replica(tc, l), l->microbatch_seqs);
}

static ridge_fit check_experts(const train_case *tc, const ridge_layout *l)
{
    int64_t experts = 0;
    for (int k = 0; k < tc->n_kinds; k++) {
        if (tc->kinds[k].ffn.kind != RIDGE_FFN_MOE)
            continue;
        experts = tc->kinds[k].ffn.experts;
        if (experts % l->ep != 0)
            return RIDGE_FIT_EP;
    }
    if (experts == 0)
        return l->ep == 1 ? RIDGE_FIT_OK : RIDGE_FIT_EP;
    train_ways w = train_layout_ways(l);
    if (w.expert_width > 1 &&
        ridge_model_expert_tp(tc->model, w.expert_width) != RIDGE_TP_OK)
        return RIDGE_FIT_TP;
    bool is_dealt = w.expert_width * l->ep * w.expert_shards * w.expert_replicas ==
                    l->tp * l->cp * l->fsdp * l->dp;
    return is_dealt ? RIDGE_FIT_OK : RIDGE_FIT_EP;
}

/* All-to-all context parallelism deals heads out over tp and cp. */
static bool is_exchange_legal(const train_case *tc, const ridge_layout *l)
{
    return l->cp == 1 || l->cp_exchange != RIDGE_CP_ALL_TO_ALL ||
           ridge_model_tp(tc->model, l->tp * l->cp) == RIDGE_TP_OK;
}

ridge_fit train_layout_check(const train_case *tc, const ridge_layout *l)
{
    int64_t chips = l->dp * l->fsdp * l->tp * l->cp * l->pp;
    if (chips != tc->slice->chips || (l->zero_stage == 0 && l->fsdp > 1))
        return RIDGE_FIT_MESH;
    ridge_tp_verdict tp = ridge_model_tp(tc->model, l->tp);
    if (tp != RIDGE_TP_OK && tp != RIDGE_TP_REPLICATES_KV)
        return RIDGE_FIT_TP;
    const stage_cut cut = stage_cut_of(l);
    if (!train_chunks_exist(tc->model->layer_count, l->pp, l->vpp) ||
        l->remat_layers > tc->model->layer_count ||
        !train_stages_exist(tc->model->layer_count, &cut))
        return RIDGE_FIT_LAYERS;
    int64_t seq = (int64_t)tc->seq_tokens;
    if (seq % l->cp != 0 || (l->has_sp && seq / l->cp % l->tp != 0))
        return RIDGE_FIT_SEQUENCE;
    if (replicas_of_batch(l) > 2 * tc->batch_seqs)
        return RIDGE_FIT_IDLE;
    if (l->microbatch_seqs > sequences_of_replica(tc, l))
        return RIDGE_FIT_MICROBATCH;
    if (!is_exchange_legal(tc, l))
        return RIDGE_FIT_TP;
    if (l->offload != RIDGE_OFFLOAD_NONE && train_host_bytes_per_s(tc->chip) <= 0)
        return RIDGE_FIT_HOST;
    if (!pipeline_is_legal(l, tc->model->layer_count, train_microbatches(tc, l)))
        return RIDGE_FIT_SCHEDULE;
    return check_experts(tc, l);
}

static int largest_part(const ridge_step_parts *parts)
{
    int largest = 0;
    for (int i = 1; i < RIDGE_STEP_COUNT; i++) {
        if (ridge_step_get(parts, i) > ridge_step_get(parts, largest))
            largest = i;
    }
    return largest;
}

void train_price_finish(const train_case *tc, ridge_train_price *p)
{
    const ridge_layout *l = &p->layout;
    double chips = (double)tc->slice->chips;
    double tokens = (double)tc->batch_seqs * tc->seq_tokens;
    int64_t run_seqs = p->microbatches * l->microbatch_seqs * replicas_of_batch(l);
    p->padded_seqs = run_seqs - tc->batch_seqs;
    p->tokens_per_s_per_chip = tokens / p->step_time_s / chips;
    p->model_flops_per_s_per_chip =
        p->tokens_per_s_per_chip * train_flops_per_token(tc, l);
    double peak = ridge_policy_mfu_peak(tc->policy, tc->chip, NULL);
    double again = train_again_flops(tc, l);
    p->mfu = p->model_flops_per_s_per_chip / peak;
    p->hfu = p->mfu + p->tokens_per_s_per_chip * again / peak;
    p->bottleneck = largest_part(&p->parts);
    p->has_total = tc->request->total_tokens > 0;
    if (!p->has_total)
        return;
    double seconds = ceil(tc->request->total_tokens / tokens) * p->step_time_s;
    p->days = seconds / RIDGE_DAY_S;
    p->chip_hours = seconds / RIDGE_HOUR_S * chips;
    p->has_usd = tc->usd_per_chip_hour > 0;
    p->usd = p->has_usd ? p->chip_hours * tc->usd_per_chip_hour : 0;
}
