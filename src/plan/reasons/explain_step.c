/* Derivations of the step time and of its compute parts. */
#include "explain_story.h"
#include "layer_program.h"

#include <math.h>

#define SECONDS(x) ridge_format_seconds(x).s

static double chip_tokens(const story *s)
{
    const ridge_layout *l = &s->price->layout;
    return (double)(s->price->microbatches * l->microbatch_seqs) * s->tc->seq_tokens /
           (double)l->cp;
}

static double peak(const story *s)
{
    return ridge_chip_peak(s->tc->chip, s->tc->policy->compute, NULL);
}

static void tell_peak(story *s, int depth)
{
    char key[64];
    ridge_dtype used;
    double flops = ridge_chip_peak(s->tc->chip, s->tc->policy->compute, &used);
    snprintf(key, sizeof key, "peak_flops_per_s.%s", ridge_dtype_text(used));
    story_fact(s, depth, key, ridge_format_si(flops, "FLOP/s").s);
}

void explain_step_time(story *s, int depth)
{
    const ridge_train_price *p = s->price;
    story_add(s, depth, "step_time", "sum of its parts", SECONDS(p->step_time_s),
              "%lld microbatches of %lld sequences on each of %lld replicas",
              (long long)p->microbatches, (long long)p->layout.microbatch_seqs,
              (long long)(p->layout.dp * p->layout.fsdp));
    for (int i = 0; i < RIDGE_STEP_COUNT; i++) {
        double part_s = ridge_step_get(&p->parts, i);
        if (part_s > 0) {
            story_add(s, depth + 1, ridge_step_text(i), ridge_step_what(i),
                      SECONDS(part_s), "%s of the step",
                      ridge_format_percent(part_s / p->step_time_s).s);
        }
    }
    story_add(s, depth + 1, "hidden communication", "not in the sum",
              SECONDS(p->hidden_communication_s), "runs behind compute");
    explain_bound(s, depth + 1);
}

void explain_bound(story *s, int depth)
{
    const ridge_train_price *p = s->price;
    story_add(s, depth, "bound_step_time",
              "max of compute and of each network at peak rates, with the bubble",
              SECONDS(p->bound_step_time_s), "%s of the expected time",
              ridge_format_percent(p->bound_step_time_s / p->step_time_s).s);
}

void explain_matmul(story *s, int depth)
{
    const ridge_layout *l = &s->price->layout;
    ridge_flops f = ridge_model_flops_forward(s->tc->model, s->tc->seq_tokens, true);
    double per_token = f.total - f.attention_scores;
    double stage_share = 1 / (double)(l->tp * l->pp);
    double flops = 3 * per_token * chip_tokens(s) * stage_share;
    double time_s = s->price->parts.matmul_s;
    story_add(s, depth, "matmul", "3 x forward FLOPs a token x tokens / (tp pp rate)",
              SECONDS(time_s), "3 x %s x %s / (%lld x %lld x %s), slowest stage",
              ridge_format_si(per_token, "FLOP").s,
              ridge_format_count(chip_tokens(s)).s, (long long)l->tp, (long long)l->pp,
              ridge_format_si(flops / time_s, "FLOP/s").s);
    story_add(s, depth + 1, "rate", "FLOPs of an average stage / time",
              ridge_format_percent(flops / time_s / peak(s)).s, "%s of %s",
              ridge_format_si(flops / time_s, "FLOP/s").s,
              ridge_format_si(peak(s), "FLOP/s").s);
    tell_peak(s, depth + 2);
    ridge_dtype dtype = s->tc->policy->compute;
    char key[64];
    snprintf(key, sizeof key, "achievable.matmul.%s", ridge_dtype_text(dtype));
    story_fact(s, depth + 2, key,
               ridge_format_percent(s->tc->chip->achievable.matmul[dtype]).s);
    for (int k = 0; k < s->tc->n_kinds && k < 8; k++) {
        const layer_time *t = &s->layers[k];
        story_add(s, depth + 1, "layer", "forward, backward of one microbatch",
                  SECONDS(t->matmul_fwd_s + t->matmul_bwd_s), "%lld layers: %s, %s",
                  (long long)s->tc->kinds[k].count, SECONDS(t->matmul_fwd_s),
                  SECONDS(t->matmul_bwd_s));
    }
}

void explain_attention(story *s, int depth)
{
    ridge_flops f = ridge_model_flops_forward(s->tc->model, s->tc->seq_tokens, true);
    const ridge_layout *l = &s->price->layout;
    double flops = 3.5 * f.attention_scores * chip_tokens(s) / (double)(l->tp * l->pp);
    double time_s = s->price->parts.attention_s;
    story_add(s, depth, "attention",
              "3.5 x forward FLOPs of scores x tokens / (tp pp rate): a flash backward "
              "does 5 products for 2",
              SECONDS(time_s), "3.5 x %s x %s / (%lld x %lld x %s)",
              ridge_format_si(f.attention_scores, "FLOP").s,
              ridge_format_count(chip_tokens(s)).s, (long long)l->tp, (long long)l->pp,
              ridge_format_si(flops / time_s, "FLOP/s").s);
    story_fact(s, depth + 1, "achievable.attention",
               ridge_format_percent(s->tc->chip->achievable.attention).s);
}

void explain_vector(story *s, int depth)
{
    double rate = s->tc->chip->hbm_bytes_per_s * s->tc->chip->achievable.memory;
    story_add(s, depth, "vector", "bytes of norms, rotary, activations, loss / rate",
              SECONDS(s->price->parts.vector_s), "%s at %s",
              ridge_format_bytes(s->price->parts.vector_s * rate).s,
              ridge_format_si(rate, "B/s").s);
    story_fact(s, depth + 1, "hbm_bytes_per_s",
               ridge_format_si(s->tc->chip->hbm_bytes_per_s, "B/s").s);
    story_fact(s, depth + 1, "achievable.memory",
               ridge_format_percent(s->tc->chip->achievable.memory).s);
}

void explain_recompute(story *s, int depth)
{
    const ridge_layout *l = &s->price->layout;
    const double again = train_again_flops(s->tc, l);
    story_add(s, depth, "recompute", "forward work that the remat policy does again",
              SECONDS(s->price->parts.recompute_s), "remat=%s: %s; %s a token",
              ridge_layout_remat_text(s->cx, l),
              l->remat_ops != 0
                  ? "these operations are computed again, all else is kept"
                  : ridge_remat_what(l->remat),
              ridge_format_si(again, "FLOP").s);
}

void explain_slowdown(story *s, int depth)
{
    story_add(s, depth, "slowdown", "hidden communication x share of SMs that it takes",
              SECONDS(s->price->parts.slowdown_s), "%s x %s",
              SECONDS(s->price->hidden_communication_s),
              s->tc->chip->kind == RIDGE_CHIP_GPU ? "20/132 (deepseek-v3-2024)"
                                                  : "0: copy engines move the data");
}

/* A stack has one of these, or none. */
void explain_host(story *s, int depth)
{
    const ridge_stack *stack = s->tc->stack;
    if (stack != NULL && stack->call_s > 0) {
        story_add(s, depth, "host",
                  "of a layer and microbatch: max(0, calls of the host - forward and "
                  "backward pass)",
                  SECONDS(s->price->parts.host_s),
                  "%s a call of an eager framework (%s)", SECONDS(stack->call_s),
                  stack->name);
        return;
    }
    const double host_s = stack == NULL ? 0 : stack->experts_host_s;
    story_add(s, depth, "host",
              "of a layer with experts and a microbatch: max(0, host - forward and "
              "backward pass)",
              SECONDS(s->price->parts.host_s),
              "the host works on such a layer for %s (%s)", SECONDS(host_s),
              stack == NULL ? "no stack is named" : stack->name);
}

/* Of equal stages; W: a pass for the weights' gradients, a part of B. */
static const char *bubble_formula(ridge_schedule schedule)
{
    switch (schedule) {
    case RIDGE_SCHEDULE_ZB_H1:
        return "(pp - 1) (F + B - 2 W), for equal stages (qi2023-zero-bubble)";
    case RIDGE_SCHEDULE_ZB_H2:
    case RIDGE_SCHEDULE_ZB_V:
        return "(pp - 1) (F + B - 3 W), for equal stages (qi2023-zero-bubble)";
    case RIDGE_SCHEDULE_DUALPIPE:
        return "(pp / 2 - 1) (F + 2 B - 3 W), for equal stages (deepseek-v3-2024)";
    case RIDGE_SCHEDULE_GPIPE:
    case RIDGE_SCHEDULE_1F1B:
    case RIDGE_SCHEDULE_INTERLEAVED:
        break;
    }
    return "(pp - 1) / (vpp m) of the ideal time, for equal stages";
}

void explain_bubble(story *s, int depth)
{
    const ridge_layout *l = &s->price->layout;
    const ridge_schedule schedule = ridge_layout_schedule(l);
    story_add(s, depth, "bubble", bubble_formula(schedule),
              SECONDS(s->price->parts.bubble_s),
              "%s: pp %lld, vpp %lld, m %lld microbatches; %s of the step",
              ridge_schedule_text(schedule), (long long)l->pp, (long long)l->vpp,
              (long long)s->price->microbatches,
              ridge_format_percent(s->price->parts.bubble_s / s->price->step_time_s).s);
}

void explain_optimizer(story *s, int depth)
{
    /* of frozen weights only adapters are updated, in the precision's own policy */
    const ridge_policy *p = ridge_precision_policy(s->price->layout.precision);
    if (!s->tc->policy->is_frozen)
        p = s->tc->policy;
    double bytes =
        p->gradient_bytes + p->weight_bytes + 2 * (p->master_bytes + p->moment_bytes);
    double rate = s->tc->chip->hbm_bytes_per_s * s->tc->chip->achievable.memory;
    double params = s->price->parts.optimizer_s * rate / bytes;
    if (s->price->layout.optimizer == RIDGE_OPTIMIZER_MUON) {
        story_add(s, depth, "optimizer",
                  "a stream of state, and 5 x (4 m^2 n + 2 m^3) FLOPs a matrix",
                  SECONDS(s->price->parts.optimizer_s), "muon (jordan2024-muon)");
    } else {
        story_add(s, depth, "optimizer",
                  "parameters on a chip x bytes read and written / HBM rate",
                  SECONDS(s->price->parts.optimizer_s), "%s x %g B / %s",
                  ridge_format_count(params).s, bytes, ridge_format_si(rate, "B/s").s);
    }
    story_fact(s, depth + 1, "hbm_bytes_per_s",
               ridge_format_si(s->tc->chip->hbm_bytes_per_s, "B/s").s);
}

void explain_mfu(story *s, int depth)
{
    const ridge_train_price *p = s->price;
    double dense = ridge_policy_mfu_peak(s->tc->policy, s->tc->chip, NULL);
    const double flops = train_flops_per_token(s->tc, &p->layout);
    story_add(s, depth, "mfu", "FLOPs a token x tokens/s a chip / peak",
              ridge_format_percent(p->mfu).s, "%s x %s / %s",
              ridge_format_si(flops, "FLOP").s,
              ridge_format_count(p->tokens_per_s_per_chip).s,
              ridge_format_si(dense, "FLOP/s").s);
    story_add(s, depth + 1, "FLOPs a token",
              ridge_convention_what(s->request->convention),
              ridge_format_si(flops, "FLOP").s, "convention %s, T %.0f",
              ridge_convention_text(s->request->convention), s->tc->seq_tokens);
    story_add(s, depth + 1, "tokens/s a chip", "batch / (step_time chips)",
              ridge_format_count(p->tokens_per_s_per_chip).s, "%s / (%s x %lld)",
              ridge_format_count((double)s->tc->batch_seqs * s->tc->seq_tokens).s,
              SECONDS(p->step_time_s), (long long)s->tc->slice->chips);
    story_fact(s, depth + 1, "peak_flops_per_s.bf16",
               ridge_format_si(dense, "FLOP/s").s);
}

void explain_days(story *s, int depth)
{
    const ridge_train_price *p = s->price;
    if (!p->has_total) {
        story_add(s, depth, "days", "tokens / batch x step_time", "not asked",
                  "the plan has no total of tokens: give --tokens to train");
        return;
    }
    double batch = (double)s->tc->batch_seqs * s->tc->seq_tokens;
    story_add(s, depth, "days", "ceil(tokens / batch) x step_time",
              SECONDS(p->days * RIDGE_DAY_S), "%s / %s = %.0f steps x %s",
              ridge_format_count(s->request->total_tokens).s,
              ridge_format_count(batch).s, ceil(s->request->total_tokens / batch),
              SECONDS(p->step_time_s));
    explain_step_time(s, depth + 1);
}

void explain_usd(story *s, int depth)
{
    const ridge_train_price *p = s->price;
    if (!p->has_usd) {
        story_add(s, depth, "usd", "chip-hours x price", "not known",
                  p->has_total ? "no price of %s in data/prices: give --price"
                               : "%s: the plan has no total of tokens",
                  s->tc->chip->name);
        return;
    }
    story_add(s, depth, "usd", "chip-hours x price", ridge_format_usd(p->usd).s,
              "%s chip-hours x %s", ridge_format_count(p->chip_hours).s,
              ridge_format_usd(s->tc->usd_per_chip_hour).s);
    const ridge_price *price =
        s->tc->chip->n_prices > 0 ? &s->tc->chip->prices[0] : NULL;
    if (s->request->usd_per_chip_hour > 0) {
        story_add(s, depth + 1, "price", "as given", "", "--price");
    } else if (price != NULL) {
        story_add(s, depth + 1, "price", "data/prices",
                  ridge_format_usd(price->usd_per_chip_hour).s, "%s %s %s, %s %s",
                  price->provider, price->region, price->kind, price->source,
                  price->date);
    }
    explain_days(s, depth + 1);
}
