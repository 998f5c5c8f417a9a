/*
 * A layout played as a program: one microbatch of the model, lowered, partitioned by
 * the layout's degrees, laid on the slice as the search did, and put on a timeline.
 */
#include "layout_cut.h"
#include "network_time.h"

#include "ridge/plan_timeline.h"
#include "ridge/program.h"
#include "ridge/shard.h"

ridge_status ridge_layout_parallelism(ridge_ctx *cx, const ridge_layout *l,
                                      ridge_parallelism *out)
{
    const bool is_whole = train_expert_width(l->tp, l->ep) == 1;
    const int64_t ep = is_whole ? l->ep / l->tp : l->ep; /* outside tp */
    ridge_parallelism p = {.dp = l->dp,
                           .fsdp = l->fsdp,
                           .ep = ep,
                           .cp = l->cp,
                           .tp = l->tp,
                           .zero_stage = l->zero_stage,
                           .is_sequence_parallel = l->has_sp,
                           .is_vocab_parallel = l->tp > 1,
                           .is_expert_whole = is_whole,
                           .context = l->cp_exchange == RIDGE_CP_ALL_TO_ALL
                                          ? RIDGE_CONTEXT_ALL_TO_ALL
                                          : RIDGE_CONTEXT_GATHER};
    if (l->fsdp % ep == 0) {
        p.fsdp = l->fsdp / ep;
    } else if (ep % l->fsdp == 0 && l->dp % (ep / l->fsdp) == 0) {
        p.fsdp = 1;
        p.dp = l->dp / (ep / l->fsdp);
    } else {
        return ridge_fail(cx, RIDGE_E_ARG,
                          "experts of ep=%lld lie on ranks of fsdp and dp, here %lld x "
                          "%lld, which they do not cut evenly: make fsdp a multiple of "
                          "%lld, or another ep",
                          (long long)l->ep, (long long)l->fsdp, (long long)l->dp,
                          (long long)ep);
    }
    *out = p;
    return RIDGE_OK;
}

static ridge_status check_stages(ridge_ctx *cx, const ridge_layout *l)
{
    if (l->pp == 1)
        return RIDGE_OK;
    return ridge_fail(cx, RIDGE_E_ARG,
                      "the timeline is of one stage, and the best layout has pp=%lld: "
                      "fix pp=1",
                      (long long)l->pp);
}

ridge_status train_layout_cut(ridge_ctx *cx, const ridge_train_request *request,
                              const ridge_layout *l, const ridge_partition **out)
{
    ridge_parallelism degrees;
    const ridge_program *program;
    const ridge_rule *rules;
    ridge_mesh mesh;
    int n_rules;
    RIDGE_TRY(ridge_layout_parallelism(cx, l, &degrees));
    int64_t tokens = (int64_t)request->seq_tokens;
    ridge_dtype stored = ridge_precision_policy(l->precision)->weight_bytes > 2
                             ? RIDGE_DTYPE_FP32
                             : RIDGE_DTYPE_BF16;
    ridge_lowering how = {.phase = RIDGE_PHASE_TRAIN,
                          .sequences = l->microbatch_seqs * l->dp * l->fsdp,
                          .query_tokens = tokens,
                          .context_tokens = tokens,
                          .weight = stored,
                          .activation = stored,
                          .cache = stored};
    RIDGE_TRY(ridge_program_lower(cx, request->model, &how, &program));
    RIDGE_TRY(ridge_parallelism_rules(cx, program, &degrees, &mesh, &rules, &n_rules));
    return ridge_partition_build(cx, program, &mesh, rules, n_rules, NULL, NULL, out);
}

ridge_status ridge_train_cut(ridge_ctx *cx, const ridge_train_request *request,
                             const ridge_layout *layout, ridge_layout_cut *out)
{
    ridge_layout_cut cut;
    RIDGE_TRY(train_layout_cut(cx, request, layout, &cut.partition));
    if (!train_mesh_place(request->slice, layout, &cut.partition->mesh, &cut.laid))
        return ridge_fail(cx, RIDGE_E_ARG, "the layout does not lie on %s: %s",
                          request->slice->text, ridge_fit_text(RIDGE_FIT_PLACEMENT));
    *out = cut;
    return RIDGE_OK;
}

ridge_status ridge_train_timeline(ridge_ctx *cx, const ridge_train_request *request,
                                  const ridge_layout *layout,
                                  ridge_layout_timeline *out)
{
    const ridge_policy *policy = ridge_precision_policy(layout->precision);
    ridge_layout_timeline t;
    RIDGE_TRY(check_stages(cx, layout));
    RIDGE_TRY(train_layout_cut(cx, request, layout, &t.partition));
    if (!train_mesh_place(request->slice, layout, &t.partition->mesh, &t.laid))
        return ridge_fail(cx, RIDGE_E_ARG, "the layout does not lie on %s: %s",
                          request->slice->text, ridge_fit_text(RIDGE_FIT_PLACEMENT));
    const bool can_overlap = ridge_chip_is_overlapped(request->slice->chip);
    ridge_overlap overlap = {.has_prefetch = can_overlap,
                             .has_trailing = can_overlap,
                             .has_collective_matmul =
                                 can_overlap && layout->has_tp_overlap,
                             .has_ring_attention = can_overlap,
                             .is_serial = !can_overlap};
    RIDGE_TRY(ridge_timeline_build(cx, t.partition, &t.laid, policy->compute, &overlap,
                                   &t.timeline));
    *out = t;
    return RIDGE_OK;
}

ridge_status ridge_layout_timeline_write(ridge_ctx *cx, const ridge_layout_timeline *t,
                                         ridge_buf *out)
{
    return ridge_timeline_write_trace(cx, t->partition, &t->laid, &t->timeline, out);
}
