#include "service_notes.h"
#include "guess_note.h"
#include "service_text.h"

#include "ridge/plan_service_play.h"

#include <math.h>

static const char *times_note(ridge_ctx *cx, const ridge_service_view *v)
{
    const ridge_service_request *r = v->request;
    const bool is_open = r->requests_per_s > 0 || r->goals.quantile > 0;
    return ridge_sprintf(
        ridge_ctx_arena(cx),
        "Expected times in the steady state, %s; the bound has perfect overlap and "
        "peak "
        "rates. batch: decoding sequences in an iteration of %s. Numbers of %s; %s.",
        is_open ? "requests coming at random" : "a request beginning when one ends",
        "an attention rank",
        ridge__serving_formats_text(
            cx, &v->result->layouts[0].choice.pools[0].layout.formats),
        r->engine->full_name);
}

/* Where the first one's times lie in practice. */
static const char *range_note(ridge_ctx *cx, const ridge_service_view *v)
{
    const ridge_engine *e = v->request->engine;
    const ridge_chip *chip = v->request->slice->chip;
    if (!ridge_engine_is_measured_on(e, chip))
        return ridge_sprintf(ridge_ctx_arena(cx),
                             "No ranges: no deployment of this engine on %s is among "
                             "the measured ones.",
                             chip->full_name);
    const ridge_service_price *p = &v->result->layouts[0];
    const ridge_range ttft = ridge_service_range(v->request, p, RIDGE_SERVICE_TTFT);
    const ridge_range tpot = ridge_service_range(v->request, p, RIDGE_SERVICE_TPOT);
    return ridge_sprintf(
        ridge_ctx_arena(cx),
        "Ranges of the first: TTFT %s to %s, TPOT %s to %s. Of %d measured "
        "deployments, "
        "80 %% took from %.2f to %.2f of the expected TTFT and from %.2f to %.2f of "
        "the "
        "TPOT.",
        ridge_format_seconds(ttft.low_s).s, ridge_format_seconds(ttft.high_s).s,
        ridge_format_seconds(tpot.low_s).s, ridge_format_seconds(tpot.high_s).s,
        (int)e->range_rows, e->ttft_low, e->ttft_high, e->tpot_low, e->tpot_high);
}

/* How near the wait of a pipeline's batches is. @return NULL: there is none */
static const char *stages_note(const ridge_service_view *v)
{
    if (v->result->layouts[0].stages_s <= 0)
        return NULL;
    return "Batches of its pipeline wait for those that carry more prompts (stages): "
           "played request by request rates were 5 % off in the mean, 20 % at most.";
}

/* @return NULL: the model states none, or enough */
static const char *positions_note(ridge_ctx *cx, const ridge_service_view *v)
{
    const ridge_service_work *w = &v->request->work;
    const double tokens = fmax(w->prompt_tokens + w->output_tokens, w->context_tokens);
    const int64_t stated = v->request->model->max_positions;
    if (stated <= 0 || tokens <= (double)stated)
        return NULL;
    return ridge_sprintf(ridge_ctx_arena(cx),
                         "Sequences grow to %s tokens, beyond the %s positions that "
                         "the model states: engines refuse them unless told otherwise.",
                         ridge_format_exact((int64_t)tokens).s,
                         ridge_format_exact(stated).s);
}

/* How sure its watts are. */
static const char *power_words(ridge_service_power source)
{
    static const char *const words[] = {
        [RIDGE_SERVICE_POWER_UNKNOWN] = "",
        [RIDGE_SERVICE_POWER_GIVEN] = "as given",
        [RIDGE_SERVICE_POWER_DRAWN] = "by their load, a fit to nine published draws",
        [RIDGE_SERVICE_POWER_TRAINING] = "as measured in training, with their hosts",
        [RIDGE_SERVICE_POWER_RATED] = "their rating, an upper bound"};
    return words[source];
}

/* @return NULL: nothing is known of its power */
static const char *energy_note(ridge_ctx *cx, const ridge_service_view *v)
{
    const ridge_service_request *r = v->request;
    const ridge_service_energy *e = &v->result->layouts[0].energy;
    if (e->joules_per_token <= 0)
        return NULL;
    const bool is_whole = e->source == RIDGE_SERVICE_POWER_GIVEN ||
                          e->source == RIDGE_SERVICE_POWER_TRAINING;
    const char *host = e->host_watts > 0
                           ? ridge_sprintf(ridge_ctx_arena(cx),
                                           " and %.0f W of its host's", e->host_watts)
                       : is_whole ? ""
                                  : " without its host, which is not known,";
    const char *usd = e->usd_per_million_tokens > 0
                          ? ridge_sprintf(ridge_ctx_arena(cx), ", %s",
                                          ridge_format_usd(e->usd_per_million_tokens).s)
                          : "";
    return ridge_sprintf(
        ridge_ctx_arena(cx),
        "Energy of the first: %.0f W a chip (%s)%s at PUE %s, %s J an output token, %s "
        "kWh%s a million.",
        e->chip_watts, power_words(e->source), host == NULL ? "" : host,
        ridge_format_double(r->pue > 0 ? r->pue : 1).s,
        ridge_format_double(e->joules_per_token).s,
        ridge_format_double(e->joules_per_token * RIDGE_KWH_PER_MILLION_J).s,
        usd == NULL ? "" : usd);
}

/* Chips that no server takes. @return NULL: there are none */
static const char *idle_note(ridge_ctx *cx, const ridge_service_view *v)
{
    const ridge_service_price *p = &v->result->layouts[0];
    const double idle = p->paid_chips - (double)p->chips;
    if (idle < 0.5)
        return NULL;
    return ridge_sprintf(ridge_ctx_arena(cx),
                         "The first leaves %.0f of %.0f chips idle, which are paid and "
                         "counted in tokens/s a chip and in dollars: a slice of %lld "
                         "chip%s has it without.",
                         idle, p->paid_chips, (long long)p->chips,
                         p->chips == 1 ? "" : "s");
}

/* Why a goal of a percentile rests on the closed form. @return NULL: it does not */
static const char *play_note(ridge_ctx *cx, const ridge_service_view *v)
{
    const ridge_service_request *r = v->request;
    if (r->goals.quantile <= 0 || r->is_plain || v->result->layouts[0].played.is_played)
        return NULL;
    return ridge_sprintf(
        ridge_ctx_arena(cx),
        "Not played request by request (%s requests): --play ranks these by it, and "
        "says what share keeps the goals.",
        ridge_format_count(ridge_service_play_requests(r, v->result)).s);
}

int ridge__service_notes(ridge_ctx *cx, const ridge_service_view *view,
                         const char **out)
{
    const bool has_layouts = view->result->n_layouts > 0;
    const char *all[] = {has_layouts ? times_note(cx, view) : NULL,
                         has_layouts ? range_note(cx, view) : NULL,
                         has_layouts ? stages_note(view) : NULL,
                         has_layouts ? idle_note(cx, view) : NULL,
                         has_layouts ? play_note(cx, view) : NULL,
                         has_layouts ? energy_note(cx, view) : NULL,
                         positions_note(cx, view),
                         ridge__guess_note(cx, view->request->model)};
    int n = 0;
    for (size_t i = 0; i < RIDGE_COUNT_OF(all); i++) {
        if (all[i] != NULL)
            out[n++] = all[i];
    }
    return n;
}
