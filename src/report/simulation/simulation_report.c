/* A training step played out, for people: the step beside what is told of it, the ranks
 * of the pipeline, what trouble costs and why, and the run over days. */
#include "pipeline_chart.h"
#include "simulation_sections.h"

#include "ridge/report.h"

#include <math.h>

enum { RANKS_SHOWN = 64, BAR_CELLS = 24 };

static const char *layout_text(ridge_ctx *cx, const ridge_simulation_view *v)
{
    const ridge_layout *l = &v->simulation->step.price.layout;
    const ridge_pipeline *p = &v->simulation->step.pipeline;
    const char *text = ridge_sprintf(
        ridge_ctx_arena(cx),
        "dp %lld, fsdp %lld, tp %lld, cp %lld, pp %lld, ep %lld; %s, %d chunk%s a "
        "stage, %d microbatches of %lld",
        (long long)l->dp, (long long)l->fsdp, (long long)l->tp, (long long)l->cp,
        (long long)l->pp, (long long)l->ep,
        p->ranks == 1 ? "no pipeline" : ridge_schedule_text(p->kind), p->chunks,
        p->chunks == 1 ? "" : "s", p->microbatches, (long long)l->microbatch_seqs);
    return text == NULL ? "" : text;
}

/* ---- the step -------------------------------------------------------------------- */

static void pair_seconds(ridge_table *t, const char *name, double seconds,
                         const char *what)
{
    ridge_table_cell(t, name);
    ridge_table_cell(t, ridge_format_seconds(seconds).s);
    ridge_table_cell(t, what);
}

static const char *difference_text(ridge_ctx *cx, double played_s, double closed_s)
{
    const double difference = played_s / closed_s - 1;
    if (fabs(difference) < 5e-4)
        return "the same, pass by pass";
    return ridge_sprintf(ridge_ctx_arena(cx), "%s%s of what is told",
                         difference < 0 ? "" : "+", ridge_format_percent(difference).s);
}

static void add_step(ridge_ctx *cx, const ridge_simulation_view *v, ridge_sections *s)
{
    const ridge_train_simulation *sim = v->simulation;
    const ridge_step_outcome *o = &sim->outcome;
    const double closed_s = sim->step.price.step_time_s;
    const bool is_calm = sim->trouble.jitter <= 0 && sim->trouble.stragglers == 0;
    ridge_table *t = ridge__section_add(cx, s, "Step", "|>time|");
    pair_seconds(t, "told", closed_s, "what ridge train says");
    pair_seconds(t, "played", o->calm_s, difference_text(cx, o->calm_s, closed_s));
    if (!is_calm)
        return;
    pair_seconds(t, "passes", o->timeline.makespan_s,
                 "forward and backward of all microbatches");
    pair_seconds(t, "reduction", o->reduced_s - o->timeline.makespan_s,
                 "gradients, as far as passes do not hide it");
    if (sim->script.has_barrier)
        pair_seconds(t, "update", o->step_s - o->reduced_s,
                     "optimizer, and weights gathered");
    else
        pair_seconds(t, "step", o->step_s,
                     "longest from a stage's start to its next: none waits for all");
}

/* ---- ranks ----------------------------------------------------------------------- */

/* A share as a bar of so many cells. */
static const char *bar_text(ridge_ctx *cx, double share)
{
    ridge_buf b;
    const int full = (int)lround(fmin(fmax(share, 0), 1) * BAR_CELLS);
    ridge_buf_init(&b, ridge_ctx_arena(cx));
    for (int i = 0; i < BAR_CELLS; i++)
        ridge_buf_puts(&b, i < full ? "\u2588" : "\u2591");
    return ridge_buf_text(&b);
}

static int slowest_rank(const ridge_pipeline_timeline *t, int ranks)
{
    int slowest = 0;
    for (int i = 1; i < ranks; i++) {
        if (t->ranks[i].busy_s > t->ranks[slowest].busy_s * (1 + 1e-9))
            slowest = i;
    }
    return slowest;
}

static double layers_of(const ridge_train_step *step, int rank)
{
    double layers = 0;
    for (int c = 0; c < step->pipeline.chunks; c++) {
        const ridge_pipeline_place place = {rank, c};
        layers += step->stages[ridge_pipeline_stage_of(&step->pipeline, place)].layers;
    }
    return layers;
}

static const char *rank_note(ridge_ctx *cx, const ridge_simulation_view *v, int rank,
                             bool is_slowest)
{
    const char *slowest = is_slowest ? "slowest" : "";
    if (v->rank_pools == NULL)
        return slowest;
    return ridge_sprintf(ridge_ctx_arena(cx), "%s%s%s", v->rank_pools[rank],
                         is_slowest ? ", " : "", slowest);
}

static void add_rank(ridge_ctx *cx, const ridge_simulation_view *v, int rank,
                     bool is_slowest, ridge_table *t)
{
    const ridge_pipeline_timeline *line = &v->simulation->outcome.timeline;
    const ridge_rank_time *r = &line->ranks[rank];
    const double share = r->busy_s / line->makespan_s;
    ridge_table_cellf(t, "%d", rank + 1);
    ridge_table_cell(t, ridge_format_double(layers_of(&v->simulation->step, rank)).s);
    ridge_table_cell(t, ridge_format_seconds(r->busy_s).s);
    ridge_table_cell(t, ridge_format_seconds(r->bubble_s).s);
    ridge_table_cell(t, ridge_format_percent(1 - share).s);
    ridge_table_cell(t, ridge_format_seconds(r->start_s).s);
    ridge_table_cell(t, ridge_format_seconds(r->end_s).s);
    ridge_table_cell(t, bar_text(cx, share));
    ridge_table_cell(t, rank_note(cx, v, rank, is_slowest));
}

static void add_ranks(ridge_ctx *cx, const ridge_simulation_view *v, ridge_sections *s)
{
    const ridge_train_simulation *sim = v->simulation;
    const int ranks = sim->step.pipeline.ranks;
    const int slowest = slowest_rank(&sim->outcome.timeline, ranks);
    const bool is_drawn = sim->trouble.jitter > 0;
    ridge_table *t = ridge__section_add(
        cx, s, is_drawn ? "Stages in the first step, in its last replica" : "Stages",
        ">stage|>layers|>busy|>bubble|>share|>from|>to|busy|");
    for (int i = 0; i < ranks; i++) {
        if (i < RANKS_SHOWN || i == slowest)
            add_rank(cx, v, i, i == slowest && ranks > 1, t);
    }
    if (ranks > RANKS_SHOWN)
        ridge__section_note(s, "Of more stages than fit here, the first.");
}

/* ---- trouble --------------------------------------------------------------------- */

static void add_loss(ridge_table *t, const char *name, double loss_s, double calm_s,
                     const char *what)
{
    ridge_table_cell(t, name);
    ridge_table_cell(t, ridge_format_seconds(loss_s).s);
    ridge_table_cell(t, ridge_format_percent(loss_s / calm_s).s);
    ridge_table_cell(t, what);
}

static const char *places_note(ridge_ctx *cx, const ridge_step_outcome *o)
{
    enum { PLACES_SHOWN = 8 };
    ridge_buf b;
    ridge_buf_init(&b, ridge_ctx_arena(cx));
    ridge_buf_puts(&b, "Slow chips: ");
    for (int i = 0; i < o->n_places && i < PLACES_SHOWN; i++) {
        const ridge_straggler_place *p = &o->places[i];
        ridge_buf_printf(&b, "%s%lld in stage %d of replica %lld", i > 0 ? ", " : "",
                         (long long)p->chips, p->rank + 1, (long long)p->replica + 1);
    }
    ridge_buf_puts(&b, o->n_places > PLACES_SHOWN ? ", ..." : ".");
    return ridge_buf_text(&b);
}

static void add_quantiles(ridge_table *t, const ridge_step_outcome *o)
{
    const struct {
        const char *name;
        double step_s;
    } rows[] = {{"mean", o->mean_s}, {"p50", o->p50_s},        {"p90", o->p90_s},
                {"p99", o->p99_s},   {"shortest", o->least_s}, {"longest", o->most_s}};
    for (size_t i = 0; i < RIDGE_COUNT_OF(rows); i++) {
        ridge_table_cell(t, rows[i].name);
        ridge_table_cell(t, ridge_format_seconds(rows[i].step_s).s);
        ridge_table_cell(t, ridge_format_percent(rows[i].step_s / o->calm_s - 1).s);
    }
}

static void add_trouble(ridge_ctx *cx, const ridge_simulation_view *v,
                        ridge_sections *s)
{
    const ridge_train_simulation *sim = v->simulation;
    const ridge_step_outcome *o = &sim->outcome;
    ridge_arena *arena = ridge_ctx_arena(cx);
    if (sim->trouble.jitter > 0) {
        ridge_table *q = ridge__section_add(
            cx, s,
            ridge_sprintf(arena, "%s steps with jitter of %s",
                          ridge_format_exact(o->steps).s,
                          ridge_format_percent(sim->trouble.jitter).s),
            "|>step|>longer");
        add_quantiles(q, o);
    }
    ridge_table *t = ridge__section_add(cx, s, "What the mean step loses",
                                        "cause|>time|>of the step|what");
    if (sim->trouble.stragglers > 0)
        add_loss(t, "stragglers", o->loss.stragglers_s, o->calm_s,
                 "chips that are always slower, and all who wait for them");
    if (sim->trouble.jitter > 0) {
        add_loss(t, "groups", o->loss.groups_s, o->calm_s,
                 ridge_sprintf(arena, "each pass waits for the slowest of %s chips",
                               ridge_format_exact(sim->step.group_chips).s));
    }
    if (sim->trouble.jitter > 0 && sim->step.pipeline.ranks > 1)
        add_loss(t, "stages", o->loss.stages_s, o->calm_s,
                 "stages wait for others that are late by chance");
    if (sim->trouble.jitter > 0 && sim->step.replicas > 1)
        add_loss(t, "replicas", o->loss.replicas_s, o->calm_s,
                 ridge_sprintf(arena, "the step waits for the last of %s replicas",
                               ridge_format_exact(sim->step.replicas).s));
    ridge_table_rule(t);
    add_loss(t, "all", o->mean_s - o->calm_s, o->calm_s, "");
    if (o->n_places > 0)
        ridge__section_note(s, places_note(cx, o));
}

/* ---- the run --------------------------------------------------------------------- */

/* A table of parts of a time. */
typedef struct shares {
    ridge_ctx *cx;
    ridge_table *t;
    double wall_s;
} shares;

static void add_share(const shares *s, const char *name, double part_s,
                      const char *what)
{
    ridge_table_cell(s->t, name);
    ridge_table_cell(s->t, ridge_format_seconds(part_s).s);
    ridge_table_cell(s->t, ridge_format_percent(part_s / s->wall_s).s);
    ridge_table_cell(s->t, bar_text(s->cx, part_s / s->wall_s));
    ridge_table_cell(s->t, what);
}

void ridge__run_section(ridge_ctx *cx, const ridge_run_simulation *run,
                        ridge_sections *s)
{
    const ridge_failure_script *f = &run->script;
    const ridge_failure_outcome *o = &run->outcome;
    ridge_arena *arena = ridge_ctx_arena(cx);
    ridge_table *t =
        ridge__section_add(cx, s,
                           ridge_sprintf(arena, "Run of %s steps, a failure every %s",
                                         ridge_format_exact(f->steps).s,
                                         ridge_format_seconds(f->mtbf_s).s),
                           "|>time|>share||what");
    const shares of = {cx, t, o->wall_s};
    add_share(&of, "useful", o->useful_s, "steps that count");
    add_share(
        &of, "checkpoints", o->checkpoint_s,
        ridge_sprintf(arena, "%s each, every %s steps (%s)",
                      ridge_format_seconds(f->checkpoint_s).s,
                      ridge_format_exact(f->checkpoint_steps).s,
                      ridge_format_seconds((double)f->checkpoint_steps * f->step_s).s));
    add_share(&of, "lost", o->lost_s, "done since the last checkpoint");
    add_share(&of, "restarts", o->restart_s,
              ridge_sprintf(arena, "%s each, %s failures",
                            ridge_format_seconds(f->restart_s).s,
                            ridge_format_double(o->failures).s));
    ridge_table_rule(t);
    add_share(&of, "all", o->wall_s, "");
    ridge__section_note(
        s,
        ridge_sprintf(arena,
                      "Goodput %s, by the closed form %s. Means of %d runs; eight of "
                      "ten take from %s to %s.",
                      ridge_format_percent(o->goodput).s,
                      ridge_format_percent(run->closed.share.useful).s, f->runs,
                      ridge_format_seconds(o->wall_p10_s).s,
                      ridge_format_seconds(o->wall_p90_s).s));
}

/* ---- pages ----------------------------------------------------------------------- */

void ridge__simulation_sections(ridge_ctx *cx, const ridge_simulation_view *v,
                                ridge_sections *s)
{
    const ridge_train_simulation *sim = v->simulation;
    s->title = ridge_sprintf(ridge_ctx_arena(cx), "%s on %s, played out", v->model_name,
                             v->request->slice->text);
    s->subtitle = layout_text(cx, v);
    add_step(cx, v, s);
    add_ranks(cx, v, s);
    if (sim->trouble.jitter > 0 || sim->trouble.stragglers > 0)
        add_trouble(cx, v, s);
    if (sim->has_failures)
        ridge__run_section(cx, &sim->run, s);
}

void ridge_simulation_write_text(ridge_ctx *cx, const ridge_simulation_view *view,
                                 bool with_colour, ridge_buf *out)
{
    ridge_sections s = {0};
    ridge__simulation_sections(cx, view, &s);
    ridge__sections_write_text(&s, with_colour, out);
}

void ridge_simulation_write_html(ridge_ctx *cx, const ridge_simulation_view *view,
                                 ridge_buf *out)
{
    ridge_sections s = {0};
    ridge__simulation_sections(cx, view, &s);
    ridge__page_begin(&s, out);
    ridge_html_heading(out, "The pipeline");
    ridge__pipeline_chart_write(view->simulation, out);
    ridge__page_end(&s, out);
}
