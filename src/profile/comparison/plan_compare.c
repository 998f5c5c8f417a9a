/* The step of a plan and the measured one, part by part. */
#include "plan_match.h"

static double steps_of(const ridge_profile *p)
{
    return p->steps > 0 ? (double)p->steps : 1;
}

static double measured_s(const ridge_profile *p, int64_t ns)
{
    return 1e-9 * (double)ns / steps_of(p);
}

static void part_add(ridge_plan_comparison *c, const char *name, const char *how,
                     double predicted, double measured)
{
    if (c->n_parts < RIDGE_PLAN_PART_MAX)
        c->parts[c->n_parts++] = (ridge_plan_row){.name = name,
                                                  .how = how,
                                                  .has_predicted = true,
                                                  .has_measured = true,
                                                  .predicted_s = predicted,
                                                  .measured_s = measured};
}

static void parts_set(ridge_plan_comparison *c)
{
    const ridge_profile *p = c->profile;
    const ridge_profile_times *t = &p->times;
    const ridge_step_parts *s = &c->price.parts;
    part_add(c, "step", "", c->price.step_time_s, p->step_s);
    part_add(c, "matmul", "without what is computed again", s->matmul_s,
             measured_s(p, t->part_ns[RIDGE_PROFILE_PART_MATMUL]));
    part_add(c, "attention", "", s->attention_s,
             measured_s(p, t->part_ns[RIDGE_PROFILE_PART_ATTENTION]));
    part_add(c, "other compute", "vector work and the optimizer",
             s->vector_s + s->optimizer_s,
             measured_s(p, t->part_ns[RIDGE_PROFILE_PART_COMPUTE]));
    part_add(c, "recomputation, slowdown",
             "measured within the above: a trace does not tell them apart",
             s->recompute_s + s->slowdown_s, 0);
    c->parts[c->n_parts - 1].has_measured = false;
    part_add(c, "exposed communication", "tp, cp, ep, fsdp, dp, pp",
             s->tp_s + s->cp_s + s->ep_s + s->fsdp_s + s->dp_s + s->pp_s,
             measured_s(p, ridge_profile_exposed_ns(t)));
    part_add(c, "copies", "offload", s->offload_s,
             measured_s(p, t->part_ns[RIDGE_PROFILE_PART_COPY]));
    part_add(c, "waiting", "bubble and imbalance; the host, input, idle",
             s->bubble_s + s->imbalance_s + s->host_s,
             measured_s(p, t->part_ns[RIDGE_PROFILE_PART_HOST] +
                               t->part_ns[RIDGE_PROFILE_PART_INPUT] +
                               t->part_ns[RIDGE_PROFILE_PART_IDLE]));
    part_add(c, "hidden communication", "in no sum", c->price.hidden_communication_s,
             measured_s(p, ridge_profile_hidden_ns(t)));
}

ridge_status ridge_profile_against_plan(ridge_ctx *cx, const ridge_profile *profile,
                                        const ridge_train_request *request,
                                        const ridge_layout *layout,
                                        ridge_plan_comparison *out)
{
    ridge_plan_comparison c = {.profile = profile, .request = request};
    predicted_ops predicted;
    if (profile->times.total_ns == 0)
        return ridge_fail(cx, RIDGE_E_ARG,
                          "%s: no device is at work in it: nothing can be compared",
                          profile->path);
    if (profile->format == RIDGE_TRACE_XPROF_TABLE)
        return ridge_fail(cx, RIDGE_E_ARG,
                          "%s: sums over all devices and steps are no step that a plan "
                          "could be held against: give the profile they were made from",
                          profile->path);
    RIDGE_TRY(ridge_train_price_one(cx, request, layout, &c.price));
    if (c.price.fit != RIDGE_FIT_OK && c.price.fit != RIDGE_FIT_OVER_HBM)
        return ridge_fail(cx, RIDGE_E_ARG, "the plan's layout cannot run: %s",
                          ridge_fit_text(c.price.fit));
    parts_set(&c);
    if (profile->world > 0 && profile->world != request->slice->chips)
        c.warning = ridge_sprintf(ridge_ctx_arena(cx),
                                  "The trace is of a run of %d ranks, the plan of %lld "
                                  "chips: they are not of "
                                  "the same run.",
                                  profile->world, (long long)request->slice->chips);
    const ridge_status st = plan_match_predict(
        cx, profile, request, layout, (double)c.price.microbatches, &predicted);
    if (st == RIDGE_E_ARG) {
        /* Experts beside tensor parallelism: parts alone. */
        c.note =
            ridge_str_dup(ridge_ctx_arena(cx), ridge_str_of(ridge_ctx_message(cx)));
        ridge_ctx_clear(cx);
    } else {
        RIDGE_TRY(st);
        if (predicted.stages > 0)
            c.note = ridge_sprintf(
                ridge_ctx_arena(cx),
                "Operations are those of %.0f of %lld pipeline stages, on average: the "
                "ones of the ranks in the trace, with stages outermost among ranks%s.",
                predicted.stages, (long long)layout->pp,
                predicted.stages == (double)layout->pp ? ", or all where it tells none"
                                                       : "");
        RIDGE_TRY(plan_match_rows(cx, profile, &predicted, &c.rows, &c.n_rows));
    }
    *out = c;
    return RIDGE_OK;
}
