/* Serving cases for tests. */
#include "serving_fixture.h"

#include <math.h>

const ridge_engine *serving_engine(ridge_ctx *cx, const char *name)
{
    const ridge_catalog *catalog;
    const ridge_engine *engine;
    assert_ok(cx, ridge_catalog_open(cx, NULL, &catalog));
    assert_ok(cx, ridge_engine_find(cx, catalog, name, &engine));
    return engine;
}

ridge_serving_desk *serving_desk_of(ridge_ctx *cx, const ridge_model *model,
                                    const ridge_slice *slice)
{
    const ridge_serving_case about = {.model = model,
                                      .slice = slice,
                                      .engine = serving_engine(cx, "vllm-v1"),
                                      .longest_tokens = 16384};
    ridge_serving_desk *desk;
    assert_ok(cx, ridge_serving_desk_open(cx, &about, &desk));
    return desk;
}

ridge_serving_layout serving_layout_of(const ridge_model *model,
                                       const ridge_slice *slice, int64_t tp)
{
    return (ridge_serving_layout){.tp = tp,
                                  .pp = 1,
                                  .ep = 1,
                                  .attention_dp = 1,
                                  .formats =
                                      ridge_serving_formats_of(model, slice->chip),
                                  .sequences = 64,
                                  .budget_tokens = 2048};
}

ridge_serving_load serving_decoding(double sequences, double context)
{
    return (ridge_serving_load){.decode_sequences = sequences,
                                .decode_context = context};
}

ridge_serving_load serving_chunk(double tokens, double before)
{
    return (ridge_serving_load){
        .chunk_tokens = tokens, .chunks = 1, .chunk_context = before};
}

ridge_serving_step serving_step_of(ridge_ctx *cx, ridge_serving_desk *desk,
                                   const ridge_serving_layout *layout,
                                   const ridge_serving_load *load)
{
    ridge_serving_step step;
    assert_ok(cx, ridge_serving_step_price(desk, layout, load, &step));
    return step;
}

double serving_part(const ridge_serving_step *step, ridge_serving_part part)
{
    return step->parts_s[part];
}

serving_fixture serving_fixture_of(ridge_ctx *cx, const char *model, const char *slice,
                                   int64_t tp)
{
    serving_fixture b = {
        .cx = cx, .model = fixture_named(cx, model), .slice = train_slice(cx, slice)};
    b.desk = serving_desk_of(cx, b.model, b.slice);
    b.layout = serving_layout_of(b.model, b.slice, tp);
    return b;
}

ridge_serving_step serving_price(const serving_fixture *b, ridge_serving_load load)
{
    return serving_step_of(b->cx, b->desk, &b->layout, &load);
}

/* Bilinear, or constant where there is one knot: written apart from the reader's. */
static double curve_at(int n, const double *x, const double *y, double at)
{
    int i = 0;
    while (i < n - 2 && at > x[i + 1])
        i++;
    return n == 1 ? y[0] : y[i] + (y[i + 1] - y[i]) * (at - x[i]) / (x[i + 1] - x[i]);
}

static double plane_at(const ridge_plane_table *t, double x, double y)
{
    double rows[512];
    assert_true(t->n_x <= 512);
    for (int i = 0; i < t->n_x; i++)
        rows[i] = curve_at(t->n_y, t->y, t->z + i * t->n_y, y);
    return curve_at(t->n_x, t->x, rows, x);
}

double serving_tables_s(const ridge_serving_speed *t, const ridge_serving_load *load)
{
    const double ranks = (double)t->attention_ranks;
    const double verified = (double)t->draft.verified;
    const double rows =
        (load->decode_sequences * verified + load->chunk_tokens) * ranks;
    const double sampled =
        (load->decode_sequences * verified + load->finishing) * ranks;
    double s = curve_at(t->rows.n, t->rows.x, t->rows.y, rows);
    if (sampled > 0)
        s += curve_at(t->head.n, t->head.x, t->head.y, sampled);
    if (load->chunk_tokens > 0)
        s += t->chunk_call_s;
    for (int i = 0; i < t->n_caches; i++) {
        const ridge_serving_cache *c = &t->caches[i];
        const double most = c->window_tokens > 0 ? c->window_tokens : (double)INFINITY;
        if (load->decode_sequences > 0)
            s += plane_at(&c->decode, load->decode_sequences,
                          fmin(most, load->decode_context));
        if (load->chunk_tokens > 0)
            s += load->chunks * plane_at(&c->prefill, load->chunk_tokens / load->chunks,
                                         load->chunk_context);
    }
    const double host = t->host_s + t->host_sequence_s * ranks *
                                        (load->decode_sequences + load->chunks);
    return t->is_host_hidden ? fmax(s, host) : s + host;
}
