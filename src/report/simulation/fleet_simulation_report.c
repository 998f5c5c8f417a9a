/* A fleet's plan played out: one pipeline as any other, whole replicas pool by pool. */
#include "pipeline_chart.h"
#include "simulation_sections.h"

#include "ridge/report.h"
#include "ridge/report_fleet.h"

#include <math.h>

static const char *fleet_text(ridge_ctx *cx, const ridge_fleet_played_view *v)
{
    ridge_buf b;
    ridge_buf_init(&b, ridge_ctx_arena(cx));
    for (const ridge_slice *s = v->request->slice; s != NULL; s = s->next)
        ridge_buf_printf(&b, "%s%s", s == v->request->slice ? "" : "+", s->text);
    return ridge_buf_text(&b);
}

static int64_t fleet_chips(const ridge_fleet_played_view *v)
{
    int64_t chips = 0;
    for (const ridge_slice *s = v->request->slice; s != NULL; s = s->next)
        chips += s->chips;
    return chips;
}

/* The fleet as one slice, for reports that name it. */
typedef struct fleet_whole {
    ridge_slice slice;
    ridge_train_request request;
    ridge_simulation_view view;
} fleet_whole;

static const ridge_simulation_view *
pipeline_view(ridge_ctx *cx, const ridge_fleet_played_view *v, fleet_whole *whole)
{
    whole->slice = *v->request->slice;
    whole->slice.text = fleet_text(cx, v);
    whole->slice.chips = fleet_chips(v);
    whole->slice.next = NULL;
    whole->request = *v->request;
    whole->request.slice = &whole->slice;
    whole->view = (ridge_simulation_view){v->model_name, &whole->request,
                                          &v->simulation->pools[0].simulation,
                                          v->simulation->rank_pools};
    return &whole->view;
}

static ridge_simulation_view pool_view(const ridge_fleet_played_view *v, int pool)
{
    const ridge_fleet_played *p = &v->simulation->pools[pool];
    return (ridge_simulation_view){v->model_name, &p->request, &p->simulation, NULL};
}

/* ---- replicas ----------------------------------------------------------------------
 */

static void pair_seconds(ridge_table *t, const char *name, double seconds,
                         const char *what)
{
    ridge_table_cell(t, name);
    ridge_table_cell(t, ridge_format_seconds(seconds).s);
    ridge_table_cell(t, what);
}

static void add_step(ridge_ctx *cx, const ridge_fleet_played_view *v, ridge_sections *s)
{
    const ridge_fleet_simulation *sim = v->simulation;
    const double difference = sim->played_s / sim->closed_s - 1;
    ridge_table *t = ridge__section_add(cx, s, "Step", "|>time|");
    pair_seconds(t, "told", sim->closed_s, "what ridge train says");
    pair_seconds(t, "played", sim->played_s,
                 fabs(difference) < 5e-4
                     ? "the same, pass by pass"
                     : ridge_sprintf(ridge_ctx_arena(cx), "%s%s of what is told",
                                     difference < 0 ? "" : "+",
                                     ridge_format_percent(difference).s));
    if (!(sim->pools[0].simulation.trouble.jitter > 0))
        return;
    pair_seconds(t, "mean with jitter", sim->mean_s,
                 "each step ends with the pool that is last");
    pair_seconds(t, "p90", sim->p90_s, "nine of ten steps take no longer");
}

static void add_pools(ridge_ctx *cx, const ridge_fleet_played_view *v,
                      ridge_sections *s)
{
    const ridge_fleet_simulation *sim = v->simulation;
    ridge_table *t =
        ridge__section_add(cx, s, "Pools", "pool|>sequences|>told|>played|>waits");
    for (int i = 0; i < sim->n; i++) {
        const ridge_fleet_played *p = &sim->pools[i];
        const double own_s = p->simulation.outcome.calm_s;
        ridge_table_cell(t, p->request.slice->text);
        ridge_table_cell(t, ridge_format_exact(p->batch_seqs).s);
        ridge_table_cell(t,
                         ridge_format_seconds(p->simulation.step.price.step_time_s).s);
        ridge_table_cell(t, ridge_format_seconds(own_s).s);
        ridge_table_cell(t, ridge_format_percent(1 - own_s / sim->played_s).s);
    }
}

static void build(ridge_ctx *cx, const ridge_fleet_played_view *v, ridge_sections *s)
{
    s->title = ridge_sprintf(ridge_ctx_arena(cx), "%s on %s, played out", v->model_name,
                             fleet_text(cx, v));
    s->subtitle = "whole replicas in each pool, which meet once a step";
    add_step(cx, v, s);
    add_pools(cx, v, s);
    if (v->simulation->has_failures)
        ridge__run_section(cx, &v->simulation->run, s);
}

void ridge_fleet_played_write_text(ridge_ctx *cx, const ridge_fleet_played_view *v,
                                   bool with_colour, ridge_buf *out)
{
    fleet_whole whole;
    ridge_sections s = {0};
    if (!v->simulation->is_replicas) {
        ridge_simulation_write_text(cx, pipeline_view(cx, v, &whole), with_colour, out);
        return;
    }
    build(cx, v, &s);
    ridge__sections_write_text(&s, with_colour, out);
    for (int i = 0; i < v->simulation->n; i++) {
        const ridge_simulation_view pool = pool_view(v, i);
        ridge_buf_puts(out, "\n");
        ridge_simulation_write_text(cx, &pool, with_colour, out);
    }
}

void ridge_fleet_played_write_html(ridge_ctx *cx, const ridge_fleet_played_view *v,
                                   ridge_buf *out)
{
    fleet_whole whole;
    ridge_sections s = {0};
    if (!v->simulation->is_replicas) {
        ridge_simulation_write_html(cx, pipeline_view(cx, v, &whole), out);
        return;
    }
    build(cx, v, &s);
    ridge__page_begin(&s, out);
    ridge__sections_write_html(&s, out);
    for (int i = 0; i < v->simulation->n; i++) {
        const ridge_simulation_view pool = pool_view(v, i);
        ridge_sections own = {0};
        ridge__simulation_sections(cx, &pool, &own);
        ridge_html_heading(out, pool.request->slice->text);
        ridge__pipeline_chart_write(pool.simulation, out);
        ridge__sections_write_html(&own, out);
    }
    ridge_html_end(out);
}

/* ---- JSON --------------------------------------------------------------------------
 */

static void set_replicas(ridge_ctx *cx, const ridge_fleet_played_view *v,
                         ridge_json *object)
{
    const ridge_fleet_simulation *sim = v->simulation;
    ridge_json_set_text(object, "model", v->model_name);
    ridge_json_set_text(object, "slice", fleet_text(cx, v));
    ridge_json_set_i64(object, "chips", fleet_chips(v));
    ridge_json *step = ridge_json_set_object(cx, object, "step");
    ridge_json_set_double(step, "closed_form_s", sim->closed_s);
    ridge_json_set_double(step, "played_s", sim->played_s);
    const double difference = sim->played_s / sim->closed_s - 1;
    ridge_json_set_double(step, "difference", fabs(difference) < 1e-9 ? 0 : difference);
    ridge_json_set_double(step, "mean_s", sim->mean_s);
    ridge_json_set_double(step, "p90_s", sim->p90_s);
    ridge_json *pools = ridge_json_set_array(cx, object, "pools");
    for (int i = 0; i < sim->n; i++) {
        const ridge_simulation_view pool = pool_view(v, i);
        ridge_json *o = ridge_json_push_object(cx, pools);
        ridge_json_set_i64(o, "batch_seqs", sim->pools[i].batch_seqs);
        ridge_simulation_write_json(cx, &pool, o);
    }
    if (sim->has_failures)
        ridge__run_set_json(cx, &sim->run, object);
}

void ridge_fleet_played_write_json(ridge_ctx *cx, const ridge_fleet_played_view *v,
                                   ridge_json *object)
{
    fleet_whole whole;
    const bool is_replicas = v->simulation->is_replicas;
    ridge_json_set_text(object, "split", is_replicas ? "replicas" : "pipeline");
    if (is_replicas) {
        ridge_json_set_text(object, "kind", "fleet");
        set_replicas(cx, v, object);
        return;
    }
    ridge_simulation_write_json(cx, pipeline_view(cx, v, &whole), object);
}
