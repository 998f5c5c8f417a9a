#include "serve_options.h"

#include "ridge/hardware_site.h"
#include "ridge/plan_speculation.h"

#include <math.h>
#include <string.h>

/* Deployments of unlike last pools that are played beside those shown. */
enum { VARIED_PLAYED = 8 };

static ridge_status read_engine(cli_run *run, const ridge_chip *chip,
                                const ridge_engine **out)
{
    const ridge_catalog *catalog;
    RIDGE_TRY(cli_catalog(run, &catalog));
    return ridge_engine_find_on(run->cx, catalog, cli_option_text(run, "engine"), chip,
                                out);
}

static ridge_status read_work(cli_run *run, ridge_service_work *w)
{
    RIDGE_TRY(cli_option_count(run, "prompt", 1024, &w->prompt_tokens));
    RIDGE_TRY(cli_option_count(run, "output", 256, &w->output_tokens));
    RIDGE_TRY(cli_option_count(run, "cached", 0, &w->cached_tokens));
    RIDGE_TRY(cli_option_count(run, "context", 0, &w->context_tokens));
    if (cli_option_text(run, "context") == NULL ||
        cli_option_text(run, "prompt") == NULL)
        return RIDGE_OK;
    return w->context_tokens >= w->prompt_tokens
               ? RIDGE_OK
               : ridge_fail(run->cx, RIDGE_E_ARG,
                            "--context: a decoding sequence has its prompt of %.0f "
                            "tokens in the cache at least",
                            w->prompt_tokens);
}

ridge_service_play_rule serve_play_rule(const cli_run *run)
{
    if (cli_option_text(run, "play") != NULL)
        return RIDGE_SERVICE_PLAY_ALWAYS;
    return cli_option_text(run, "no-play") != NULL ? RIDGE_SERVICE_PLAY_NEVER
                                                   : RIDGE_SERVICE_PLAY_DUE;
}

/* ---- speculation ----------------------------------------------------------------- */

const char *serve_draft_name(const cli_run *run)
{
    const char *text = cli_option_text(run, "draft");
    return text != NULL && strncmp(text, "model:", 6) == 0 ? text + 6 : NULL;
}

static ridge_status read_kind(cli_run *run, const char *text, ridge_draft *d)
{
    if (serve_draft_name(run) != NULL) {
        d->kind = RIDGE_DRAFT_MODEL;
        return cli_model(run, serve_draft_name(run), &d->model);
    }
    for (int i = RIDGE_DRAFT_MEDUSA; i <= RIDGE_DRAFT_NGRAM; i++) {
        if (strcmp(text, ridge_draft_kind_text((ridge_draft_kind)i)) == 0) {
            d->kind = (ridge_draft_kind)i;
            return RIDGE_OK;
        }
    }
    return ridge_fail(run->cx, RIDGE_E_ARG,
                      "--draft '%.40s': use mtp, eagle, medusa, ngram or model:NAME",
                      text);
}

static ridge_status read_published(cli_run *run, const char *name,
                                   ridge_service_knobs *knobs)
{
    const ridge_acceptance_set *set;
    const ridge_acceptance *found;
    RIDGE_TRY(ridge_acceptance_set_open(run->cx, &set));
    RIDGE_TRY(ridge_acceptance_find(run->cx, set, name, &found));
    ridge_acceptance_extend(found->accept, found->n_accept, knobs->draft.accept);
    knobs->tree_next = found->next;
    return RIDGE_OK;
}

/* A tree needs the chance of further candidates: that of --accept, or of the kind. */
static ridge_status read_tree(cli_run *run, ridge_service_knobs *knobs)
{
    const ridge_acceptance_set *set;
    if (knobs->draft.nodes == 0 || knobs->tree_next > 0 ||
        (knobs->depth >= knobs->draft.nodes)) /* a chain */
        return RIDGE_OK;
    RIDGE_TRY(ridge_acceptance_set_open(run->cx, &set));
    const ridge_acceptance *usual = ridge_acceptance_default(set, knobs->draft.kind);
    if (usual == NULL || !(usual->next > 0))
        return ridge_fail(run->cx, RIDGE_E_ARG,
                          "nodes=%lld: nothing is published of the further candidates "
                          "of %s: leave it out",
                          (long long)knobs->draft.nodes,
                          ridge_draft_kind_text(knobs->draft.kind));
    knobs->tree_next = usual->next;
    return RIDGE_OK;
}

/* One chance for all positions, or one each; the last stands for those behind it. Or
 * the name of a published one. */
static ridge_status read_accept(cli_run *run, const char *text,
                                ridge_service_knobs *knobs)
{
    ridge_draft *d = &knobs->draft;
    if (text[0] >= 'a' && text[0] <= 'z')
        return read_published(run, text, knobs);
    ridge_str rest = ridge_str_of(text);
    int n = 0;
    double v = 0;
    while (rest.p != NULL && n < RIDGE_DRAFT_DEPTH_MAX) {
        const ridge_str item = ridge_str_trim(ridge_str_cut(&rest, ','));
        if (!ridge_parse_fraction(item, &v) || !(v <= 1))
            return ridge_fail(run->cx, RIDGE_E_ARG,
                              "--accept '%.40s': expected chances of 0 to 1, as in 0.8 "
                              "or 0.9,0.8,0.7",
                              text);
        d->accept[n++] = v;
    }
    for (; n < RIDGE_DRAFT_DEPTH_MAX; n++)
        d->accept[n] = v;
    return RIDGE_OK;
}

static ridge_status read_draft(cli_run *run, ridge_service_knobs *knobs)
{
    const char *kind = cli_option_text(run, "draft");
    const char *accept = cli_option_text(run, "accept");
    const bool is_stated = knobs->draft.kind != RIDGE_DRAFT_NONE; /* by --from */
    if (kind == NULL && accept == NULL && !is_stated)
        return RIDGE_OK;
    if (is_stated && kind == NULL && accept == NULL)
        return RIDGE_OK; /* as published, see serve_launch_read */
    if ((kind == NULL && !is_stated) || accept == NULL)
        return ridge_fail(
            run->cx, RIDGE_E_ARG,
            "--draft and --accept go together: how tokens are drafted, and "
            "how many are accepted: --draft eagle --accept 0.8, or a published one: "
            "--accept eagle-3-llama-3.3-70b");
    if (kind != NULL)
        RIDGE_TRY(read_kind(run, kind, &knobs->draft));
    RIDGE_TRY(read_accept(run, accept, knobs));
    return read_tree(run, knobs);
}

/* ---- the whole ------------------------------------------------------------------- */

static ridge_status read_aims(cli_run *run, ridge_service_request *r)
{
    const char *slo = cli_option_text(run, "slo");
    const char *aim = cli_option_text(run, "for");
    r->goals = ridge_service_goals_none();
    if (slo != NULL && ridge_service_goals_parse(run->cx, slo, &r->goals) != RIDGE_OK) {
        ridge_ctx_note(run->cx, "--slo");
        return RIDGE_E_ARG;
    }
    RIDGE_TRY(cli_option_count(run, "rate", 0, &r->requests_per_s));
    if (cli_option_text(run, "rate") != NULL && !(r->requests_per_s > 0))
        return ridge_fail(run->cx, RIDGE_E_ARG,
                          "--rate: expected requests a second above 0");
    r->aim =
        r->requests_per_s > 0 ? RIDGE_SERVICE_AIM_CHIPS : RIDGE_SERVICE_AIM_THROUGHPUT;
    return aim == NULL ? RIDGE_OK : ridge_service_aim_parse(run->cx, aim, &r->aim);
}

static ridge_status read_price(cli_run *run, const ridge_chip *chip,
                               ridge_service_request *r, ridge_price *price)
{
    const char *text = cli_option_text(run, "price");
    if (text == NULL && chip->n_prices == 0)
        return RIDGE_OK;
    const ridge_status st =
        ridge_price_choose(run->cx, chip, text == NULL ? "" : text, price);
    if (st != RIDGE_OK) {
        ridge_ctx_note(run->cx, "--price");
        return st;
    }
    r->usd_per_chip_hour = price->usd_per_chip_hour;
    return RIDGE_OK;
}

static ridge_status read_positive(cli_run *run, const char *name, double least,
                                  double most, double *out)
{
    const char *text = cli_option_text(run, name);
    if (text == NULL)
        return RIDGE_OK;
    return ridge_parse_double(ridge_str_of(text), out) && *out >= least && *out <= most
               ? RIDGE_OK
               : ridge_fail(run->cx, RIDGE_E_ARG,
                            "--%s '%.40s': expected a number of %s to %s", name, text,
                            ridge_format_double(least).s, ridge_format_double(most).s);
}

/* Of a whole run in training the same: --watts, --pue, --kwh-price. */
static ridge_status read_power(cli_run *run, ridge_service_request *r)
{
    const ridge_catalog *catalog;
    const ridge_site *site;
    RIDGE_TRY(cli_catalog(run, &catalog));
    RIDGE_TRY(ridge_site_find(run->cx, catalog, RIDGE_SITE_DEFAULT, &site));
    r->pue = site->pue;
    RIDGE_TRY(read_positive(run, "watts", 0.1, 1e6, &r->watts_per_chip));
    RIDGE_TRY(read_positive(run, "pue", 1, 5, &r->pue));
    return read_positive(run, "kwh-price", 1e-6, 1e3, &r->usd_per_kwh);
}

static ridge_status read_knobs(cli_run *run, ridge_service_request *r)
{
    for (int i = 0; i < run->n_knobs; i++)
        RIDGE_TRY(ridge_service_knobs_set(run->cx, &r->knobs, run->knobs[i].key,
                                          run->knobs[i].value));
    RIDGE_TRY(read_draft(run, &r->knobs));
    return ridge_service_knobs_close(run->cx, r->model, r->slice->chip, r->engine,
                                     &r->knobs);
}

/* The model and the engine: of --from, or of the arguments. */
static ridge_status read_subject(cli_run *run, ridge_service_request *r,
                                 serve_launch *launch)
{
    const char *from = cli_option_text(run, "from");
    r->knobs = ridge_service_knobs_free();
    if (from != NULL && launch != NULL)
        return serve_launch_read(run, from, r, launch);
    if (run->n_args == 0) {
        return ridge_fail(run->cx, RIDGE_E_ARG,
                          "nothing to work on: ridge serve %s, or --from FILE",
                          run->verb->synopsis);
    }
    RIDGE_TRY(cli_model(run, run->args[0], &r->model));
    return read_engine(run, r->slice->chip, &r->engine);
}

ridge_status serve_request_on(cli_run *run, const ridge_slice *slice,
                              ridge_service_request *out, ridge_price *price,
                              serve_launch *launch)
{
    double top;
    ridge_service_request r = {.slice = slice};
    RIDGE_TRY(read_work(run, &r.work));
    RIDGE_TRY(read_subject(run, &r, launch));
    RIDGE_TRY(read_aims(run, &r));
    RIDGE_TRY(read_price(run, slice->chip, &r, price));
    RIDGE_TRY(read_power(run, &r));
    RIDGE_TRY(cli_option_count(run, "skew", 0, &r.expert_skew));
    RIDGE_TRY(cli_option_count(run, "top", 5, &top));
    if (top < 1 || top > RIDGE_SERVICE_TOP_MAX || floor(top) != top)
        return ridge_fail(run->cx, RIDGE_E_ARG, "--top: expected 1 to %d",
                          RIDGE_SERVICE_TOP_MAX);
    r.top = (int)top;
    r.is_plain = cli_option_text(run, "brief") != NULL;
    if (serve_play_rule(run) == RIDGE_SERVICE_PLAY_ALWAYS ||
        (serve_play_rule(run) == RIDGE_SERVICE_PLAY_DUE && r.goals.quantile > 0))
        r.varied = VARIED_PLAYED;
    RIDGE_TRY(read_knobs(run, &r));
    *out = r;
    return RIDGE_OK;
}

ridge_status serve_request(cli_run *run, ridge_service_request *out, ridge_price *price,
                           serve_launch *launch)
{
    const ridge_slice *slice;
    RIDGE_TRY(cli_slice(run, &slice));
    return serve_request_on(run, slice, out, price, launch);
}
