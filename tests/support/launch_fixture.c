#include "launch_fixture.h"

#include <string.h>

ridge_status launch_fixture_parse(ridge_ctx *cx, const char *slice, const char *file,
                                  const char *text, ridge_launch *out)
{
    ridge_launch_query query = {.slice = train_slice(cx, slice)};
    assert_ok(cx, ridge_library_open(cx, NULL, &query.library));
    return ridge_launch_parse(cx, ridge_str_of(text), file, &query, out);
}

bool launch_fixture_has(const ridge_launch_notes *notes, const char *part)
{
    for (int i = 0; i < notes->n; i++) {
        if (strstr(notes->text[i], part) != NULL)
            return true;
    }
    return false;
}

ridge_status launch_fixture_write(ridge_ctx *cx, ridge_launcher launcher,
                                  const char *model, const char *slice,
                                  const ridge_layout *layout, ridge_launch_text *out)
{
    ridge_train_request r =
        train_request(fixture_named(cx, model), train_slice(cx, slice), 64, 4096);
    return ridge_launch_write(cx, launcher, &r, model, layout, out);
}

static ridge_layout layout_of(const ridge_knobs *k, int placement)
{
    ridge_layout l = {.dp = k->dp,
                      .fsdp = k->fsdp,
                      .tp = k->tp,
                      .cp = k->cp,
                      .pp = k->pp,
                      .ep = k->ep,
                      .zero_stage = k->zero_stage,
                      .has_sp = k->has_sp == 1,
                      .vpp = k->vpp,
                      .microbatch_seqs = k->microbatch_seqs,
                      .remat = (ridge_remat)k->remat,
                      .precision = k->precision,
                      .has_tp_overlap = k->overlap[RIDGE_OVERLAP_TP] == 1,
                      .placement = placement};
    l.remat_ops = k->remat_ops;
    l.ep_dispatch =
        k->ep_dispatch > 0 ? (ridge_ep_dispatch)k->ep_dispatch : RIDGE_DISPATCH_COPIES;
    l.remat_layers = k->remat_layers;
    l.optimizer = k->optimizer;
    l.offload = k->offload > 0 ? (unsigned)k->offload : RIDGE_OFFLOAD_NONE;
    l.cp_exchange =
        k->cp_exchange > 0 ? (ridge_cp_exchange)k->cp_exchange : RIDGE_CP_RING;
    l.schedule = k->schedule < 0 || k->schedule == RIDGE_SCHEDULE_INTERLEAVED
                     ? RIDGE_SCHEDULE_1F1B
                     : (ridge_schedule)k->schedule;
    l.first_layers = k->first_layers;
    l.last_layers = k->last_layers;
    l.mtp = k->mtp;
    for (int i = 0; i < RIDGE_OVERLAP_COUNT; i++)
        ridge_layout_set_overlap(&l, (ridge_overlap_kind)i, k->overlap[i] == 1);
    return l;
}

static void assert_layout(const ridge_layout *got, const ridge_layout *want)
{
    assert_int_equal(got->dp, want->dp);
    assert_int_equal(got->fsdp, want->fsdp);
    assert_int_equal(got->tp, want->tp);
    assert_int_equal(got->ep, want->ep);
    assert_int_equal(got->zero_stage, want->zero_stage);
    assert_int_equal(got->vpp, want->vpp);
    assert_int_equal(got->microbatch_seqs, want->microbatch_seqs);
    assert_int_equal(got->remat, want->remat);
    assert_int_equal(got->precision, want->precision);
    assert_int_equal(got->schedule, want->schedule);
    assert_int_equal(got->first_layers, want->first_layers);
    assert_int_equal(got->last_layers, want->last_layers);
    assert_int_equal(got->remat_layers, want->remat_layers);
    assert_int_equal(got->mtp, want->mtp);
    assert_true(got->remat_ops == want->remat_ops);
    assert_int_equal(got->ep_dispatch, want->ep_dispatch);
    assert_int_equal(got->offload, want->offload);
    assert_int_equal(got->optimizer, want->optimizer);
    assert_int_equal(got->cp_exchange, want->cp_exchange);
}

void launch_fixture_round_trip(ridge_ctx *cx, ridge_launcher launcher,
                               const launch_case *c, ridge_launch *out)
{
    ridge_train_request r =
        train_request(fixture_named(cx, c->model), train_slice(cx, c->slice),
                      c->batch_seqs, c->seq_tokens);
    r.knobs.precision = c->layout.precision;
    const ridge_train_price price = train_price_of(cx, &r, &c->layout);
    ridge_launch_text text;
    assert_ok(cx, ridge_launch_write(cx, launcher, &r, c->model, &c->layout, &text));
    assert_ok(cx, launch_fixture_parse(cx, c->slice, "back", ridge_buf_text(&text.text),
                                       out));
    assert_true(out->has_layout);
    assert_near(out->batch_seqs, c->batch_seqs, 0);
    assert_near(out->seq_tokens, c->seq_tokens, 0);
    assert_int_equal(ridge_model_params(out->model).total,
                     ridge_model_params(r.model).total);
    const ridge_layout layout = layout_of(&out->knobs, c->layout.placement);
    assert_layout(&layout, &c->layout);
    assert_ok(cx, ridge_knobs_check(cx, &out->knobs, out->model));
    ridge_train_request again =
        train_request(out->model, r.slice, out->batch_seqs, out->seq_tokens);
    again.knobs.precision = layout.precision;
    const ridge_train_price repriced = train_price_of(cx, &again, &layout);
    assert_near(repriced.step_time_s, price.step_time_s, 1e-12);
    assert_near(repriced.peak_memory_bytes, price.peak_memory_bytes, 1e-12);
}
