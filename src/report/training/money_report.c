/* A whole run for people: goodput, days, dollars and energy, with where each number
 * comes from; what is not known is said so. */
#include "money_report.h"

#include <math.h>
#include <stdarg.h>

typedef struct money_view {
    ridge_ctx *cx;
    const ridge_train_request *request;
    const ridge_train_price *price;
    const ridge_money_request *terms;
    ridge_money run;
    ridge_table *table;
} money_view;

RIDGE_PRINTF(4, 5)
static void add(const money_view *v, const char *name, const char *value,
                const char *from_fmt, ...)
{
    char from[400];
    va_list args;
    va_start(args, from_fmt);
    vsnprintf(from, sizeof from, from_fmt, args);
    va_end(args);
    ridge_table_cell(v->table, name);
    ridge_table_cell(v->table, value);
    ridge_table_cell(v->table, from);
}

static void add_price(const money_view *v)
{
    const ridge_price *p = &v->terms->price;
    if (!v->terms->has_price) {
        add(v, "price", "unknown", "no price of %s is published: give --price USD",
            v->request->slice->chip->name);
        return;
    }
    const char *what = ridge_price_text(v->cx, p);
    add(v, "price", ridge_format_usd(p->usd_per_chip_hour).s, "a chip-hour: %s%s%s",
        what == NULL ? "" : what, p->source[0] ? ", " : "", p->source);
}

static void add_failures(const money_view *v)
{
    const ridge_money_request *t = v->terms;
    const double mtbf_s = ridge_money_mtbf_s(v->request->slice, t);
    if (t->is_reliable) {
        add(v, "failures", "left out", "as asked");
    } else if (mtbf_s <= 0) {
        add(v, "failures", "unknown",
            "no rate is published for %s: give --mtbf, or another chip's record by "
            "--failures",
            v->request->slice->chip->name);
    } else if (t->has_mtbf) {
        add(v, "failures", ridge_format_seconds(mtbf_s).s,
            "between failures of the job, as given");
    } else {
        add(v, "failures", ridge_format_seconds(mtbf_s).s,
            "between failures of the job: %s, %s", t->failures->full_name,
            t->failures->source);
    }
}

static void add_checkpoints(const money_view *v)
{
    const ridge_money *m = &v->run;
    const char *storage =
        v->terms->storage_bytes_per_s > 0 ? "given" : v->terms->site->name;
    if (m->write_s > 0) {
        add(v, "checkpoint", ridge_format_bytes(m->checkpoint_bytes).s,
            "written in %s at %s (%s), copied to the hosts in %s, loaded in %s",
            ridge_format_seconds(m->write_s).s,
            ridge_format_si(m->checkpoint_bytes / m->write_s, "B/s").s, storage,
            m->copy_s > 0 ? ridge_format_seconds(m->copy_s).s : "unknown",
            ridge_format_seconds(m->load_s).s);
    } else {
        add(v, "checkpoint", ridge_format_bytes(m->checkpoint_bytes).s,
            "the storage of %s is not known: give --storage", v->terms->site->name);
    }
    if (!m->has_goodput || isinf(m->job.interval_s))
        return;
    add(v, "interval", ridge_format_seconds(m->job.interval_s).s,
        "%s steps between checkpoints%s, each stops the work for %s; Young %s, Daly %s",
        ridge_format_exact((int64_t)m->interval_steps).s,
        v->terms->has_interval ? ", as given" : "",
        ridge_format_seconds(m->job.blocked_s).s, ridge_format_seconds(m->young_s).s,
        ridge_format_seconds(m->daly_s).s);
}

static void add_goodput(const money_view *v)
{
    const ridge_money *m = &v->run;
    if (!m->has_goodput) {
        add(v, "goodput", "unknown", "days and dollars below are without failures");
        return;
    }
    if (m->is_stuck) {
        add(v, "goodput", ridge_format_percent(0).s,
            "the job fails before it reaches its next checkpoint: it does not end");
        return;
    }
    add(v, "goodput", ridge_format_percent(m->goodput).s,
        "checkpoints %s, lost work %s, restarts of %s %s; %s checkpoints: %s",
        ridge_format_percent(m->share.checkpoint).s,
        ridge_format_percent(m->share.lost).s, ridge_format_seconds(m->job.restart_s).s,
        ridge_format_percent(m->share.restart).s,
        v->terms->is_async ? "synchronous" : "asynchronous",
        ridge_format_percent(m->other_useful * m->spare_availability).s);
    if (v->terms->spare_nodes > 0 || m->spare_availability < 1) {
        add(v, "spares", ridge_format_exact(v->terms->spare_nodes).s,
            "nodes: enough of them are up %s of the time",
            ridge_format_percent(m->spare_availability).s);
    }
}

/* One decimal place below ten. */
static ridge_text failure_count(double n)
{
    return ridge_format_double(n < 10 ? round(10 * n) / 10 : round(n));
}

static void add_totals(const money_view *v)
{
    const ridge_money *m = &v->run;
    const double tokens = v->request->total_tokens;
    if (m->is_stuck)
        return;
    if (m->usd_per_million_tokens > 0)
        add(v, "a million tokens", ridge_format_usd(m->usd_per_million_tokens).s, "%s",
            "");
    if (!v->price->has_total)
        return;
    add(v, "time", ridge_format_seconds(m->days * RIDGE_DAY_S).s,
        "%s of steps, %s failures; %s tokens",
        ridge_format_seconds(v->price->days * RIDGE_DAY_S).s,
        m->has_goodput ? failure_count(m->failures).s : "unknown",
        ridge_format_count(tokens).s);
    add(v, "chip-hours", ridge_format_count(m->chip_hours).s, "%s chips%s",
        ridge_format_exact((int64_t)m->paid_chips).s,
        v->terms->spare_nodes > 0 ? ", spares among them" : "");
    if (m->usd > 0)
        add(v, "cost", ridge_format_usd(m->usd).s, "%s", "");
}

/* The chip's part of its power by load, and the host's: an upper bound by ratings. */
static const char *load_text(const money_view *v)
{
    const ridge_power *p = &v->run.power;
    const bool is_measured = v->request->slice->system->training_watts_per_chip > 0;
    if (p->chip_load <= 0)
        return "";
    const char *text =
        ridge_sprintf(ridge_ctx_arena(v->cx), ": %s of its rating, host %s W %s",
                      ridge_format_percent(p->chip_load).s,
                      ridge_format_double(round(p->host_watts)).s,
                      is_measured ? "as measured" : "by the node's rating");
    return text == NULL ? "" : text;
}

static void add_energy(const money_view *v)
{
    const ridge_money *m = &v->run;
    if (m->power.source == RIDGE_POWER_UNKNOWN) {
        add(v, "energy", "unknown", "the power of %s is not published: give --watts",
            v->request->slice->chip->name);
        return;
    }
    add(v, "power", ridge_format_si(m->mean_watts, "W").s,
        "%s W a chip (%s%s%s), PUE %s (%s)",
        ridge_format_double(round(m->power.chip_watts)).s,
        ridge_power_source_text(m->power.source), load_text(v),
        m->power.network_watts > 0 ? ", network with it" : "",
        ridge_format_double(m->power.pue).s,
        v->terms->pue > 0 ? "given" : v->terms->site->name);
    if (m->is_stuck)
        return;
    add(v, "energy of a token", ridge_format_si(m->joules_per_token, "J").s,
        "a step %s", ridge_format_si(m->joules_per_step / RIDGE_HOUR_S, "Wh").s);
    if (m->kwh <= 0)
        return;
    add(v, "energy", ridge_format_si(m->kwh * 1000, "Wh").s, "at the meter%s%s",
        m->energy_usd > 0 ? ": " : "",
        m->energy_usd > 0 ? ridge_format_usd(m->energy_usd).s : "");
}

void ridge__money_section_add(ridge_ctx *cx, const ridge_train_request *request,
                              const ridge_train_price *price,
                              const ridge_money_request *terms,
                              ridge_sections *sections)
{
    money_view v = {
        cx,
        request,
        price,
        terms,
        ridge_train_money(request, price, terms),
        ridge__section_add(cx, sections, "The whole run", "what|>value|from")};
    add_price(&v);
    add_failures(&v);
    add_checkpoints(&v);
    add_goodput(&v);
    add_totals(&v);
    add_energy(&v);
}
