/* The JSON of a run's sums and of the terms that they rest on. */
#include "ridge/plan_money.h"

static void set_checkpoint(ridge_ctx *cx, const ridge_money *m, ridge_json *o)
{
    ridge_json *c = ridge_json_set_object(cx, o, "checkpoint");
    ridge_json_set_double(c, "bytes", m->checkpoint_bytes);
    ridge_json_set_positive(c, "write_s", m->write_s);
    ridge_json_set_positive(c, "copy_s", m->copy_s);
    ridge_json_set_positive(c, "load_s", m->load_s);
    if (!m->has_goodput)
        return;
    ridge_json_set_bool(c, "is_async", m->job.lag_s > 0);
    ridge_json_set_double(c, "blocked_s", m->job.blocked_s);
    ridge_json_set_double(c, "interval_s", m->job.interval_s);
    ridge_json_set_double(c, "interval_steps", m->interval_steps);
    ridge_json_set_double(c, "young_interval_s", m->young_s);
    ridge_json_set_double(c, "daly_interval_s", m->daly_s);
}

static void set_goodput(ridge_ctx *cx, const ridge_money *m, ridge_json *o)
{
    if (!m->has_goodput) {
        ridge_json_set_null(o, "goodput");
        return;
    }
    ridge_json_set_double(o, "goodput", m->goodput);
    ridge_json *wall = ridge_json_set_object(cx, o, "wall");
    ridge_json_set_double(wall, "useful", m->share.useful);
    ridge_json_set_double(wall, "checkpoint", m->share.checkpoint);
    ridge_json_set_double(wall, "lost", m->share.lost);
    ridge_json_set_double(wall, "restart", m->share.restart);
    ridge_json_set_double(o, "mtbf_s", m->job.mtbf_s);
    ridge_json_set_double(o, "restart_s", m->job.restart_s);
    ridge_json_set_double(o, m->job.lag_s > 0 ? "goodput_sync" : "goodput_async",
                          m->other_useful * m->spare_availability);
    ridge_json_set_double(o, "spare_availability", m->spare_availability);
    ridge_json_set_double(o, "failures", m->failures);
}

static void set_energy(ridge_ctx *cx, const ridge_money *m, ridge_json *o)
{
    ridge_json *e = ridge_json_set_object(cx, o, "energy");
    ridge_json_set_text(e, "power_source", ridge_power_source_text(m->power.source));
    ridge_json_set_positive(e, "chip_watts", m->power.chip_watts);
    ridge_json_set_positive(e, "network_watts", m->power.network_watts);
    ridge_json_set_positive(e, "host_watts", m->power.host_watts);
    ridge_json_set_positive(e, "chip_load", m->power.chip_load);
    ridge_json_set_double(e, "pue", m->power.pue);
    ridge_json_set_positive(e, "mean_watts", m->mean_watts);
    ridge_json_set_positive(e, "joules_per_token", m->joules_per_token);
    ridge_json_set_positive(e, "joules_per_step", m->joules_per_step);
    ridge_json_set_positive(e, "kwh", m->kwh);
    ridge_json_set_positive(e, "usd", m->energy_usd);
}

ridge_json *ridge_money_to_json(ridge_ctx *cx, const ridge_money *m)
{
    ridge_json *o = ridge_json_object(cx);
    ridge_json_set_positive(o, "days", m->days);
    ridge_json_set_positive(o, "chip_hours", m->chip_hours);
    ridge_json_set_positive(o, "usd", m->usd);
    ridge_json_set_positive(o, "usd_per_million_tokens", m->usd_per_million_tokens);
    ridge_json_set_double(o, "paid_chips", m->paid_chips);
    set_goodput(cx, m, o);
    set_checkpoint(cx, m, o);
    set_energy(cx, m, o);
    return o;
}

static void set_price(ridge_ctx *cx, const ridge_price *p, ridge_json *o)
{
    ridge_json *price = ridge_json_set_object(cx, o, "price");
    ridge_json_set_double(price, "usd_per_chip_hour", p->usd_per_chip_hour);
    ridge_json_set_text(price, "provider", p->provider);
    ridge_json_set_text(price, "region", p->region);
    ridge_json_set_text(price, "kind", p->kind);
    ridge_json_set_text(price, "source", p->source);
    ridge_json_set_text(price, "date", p->date);
}

ridge_json *ridge_money_terms_to_json(ridge_ctx *cx, const ridge_slice *slice,
                                      const ridge_money_request *r)
{
    ridge_json *o = ridge_json_object(cx);
    if (r->has_price) {
        set_price(cx, &r->price, o);
    } else {
        ridge_json_set_null(o, "price");
    }
    ridge_json_set_text(o, "site", r->site->name);
    const bool is_counted = !r->is_reliable && !r->has_mtbf && r->failures != NULL;
    ridge_json_set_text(o, "failures", is_counted ? r->failures->name : NULL);
    const double mtbf_s = ridge_money_mtbf_s(slice, r);
    ridge_json_set_positive(o, "mtbf_s", mtbf_s);
    ridge_json_set_positive(o, "usd_per_kwh", r->usd_per_kwh);
    ridge_json_set_i64(o, "spare_nodes", r->spare_nodes);
    return o;
}
