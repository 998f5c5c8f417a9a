/*
 * A step as Chrome trace events (Trace Event Format, JSON object form):
 *
 *     {"displayTimeUnit": "ms", "traceEvents": [
 *       {"ph": "M", "name": "process_name", "pid": rank, "args": {"name": ...}},
 *       {"ph": "M", "name": "thread_name", "pid": rank, "tid": t, "args": ...},
 *       {"ph": "X", "name": "F 3", "cat": "forward", "pid": rank, "tid": t,
 *        "ts": start, "dur": length, "args": {"stage": s, "microbatch": i}}, ...]}
 *
 * Times are in microseconds. Track 0 has the passes (F, B; where the schedule splits
 * them I and W; "F 3.1" is chunk 1), within each its compute and what it waits for, and
 * bubbles between them. Further tracks have exchanges: one for each mesh axis and
 * network level that it lies on.
 */
#include "ridge/report_fleet.h"
#include "ridge/report_simulation.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* What is exchanged: within passes, between stages, at the end of the step. */
enum { LINE_DOWN = RIDGE_TRAFFIC_COUNT, LINE_UP, LINE_DP, LINE_COUNT };

typedef struct trace {
    ridge_ctx *cx;
    const ridge_train_simulation *sim;
    ridge_buf *out;
    int tracks[LINE_COUNT][RIDGE_AXIS_MAX]; /* tid by level; 0: none */
    ridge_step_network network;             /* of the rank at hand */
    const char *pool;                       /* which it is of; or NULL */
    int first;                              /* process of the first rank */
    double sent_s[2]; /* the line down, and up, of the rank at hand is free then */
    bool has_event;
} trace;

/* On a track of a rank. */
typedef struct track {
    int rank, tid;
} track;

/* ---- events ---------------------------------------------------------------------- */

static void event_begin(trace *t, const char *phase, track at)
{
    ridge_buf_printf(t->out, "%s\n{\"ph\":\"%s\",\"pid\":%d,\"tid\":%d,",
                     t->has_event ? "," : "", phase, t->first + at.rank, at.tid);
    t->has_event = true;
}

/* Names of network levels are the user's, so these are written with care. */
static void name_add(trace *t, const char *what, track at, const char *name)
{
    ridge_json *o = ridge_json_object(t->cx);
    ridge_json_set_text(o, "name", name);
    event_begin(t, "M", at);
    ridge_buf_printf(t->out, "\"name\":\"%s\",\"args\":", what);
    if (ridge_json_write(t->cx, o, t->out) != RIDGE_OK)
        t->out->is_short = true;
    ridge_buf_puts(t->out, "}");
}

typedef struct span {
    const char *name, *category;
    double start_s, length_s;
} span;

/* @param args  members of an object, "" for none */
static void span_add(trace *t, track at, span s, const char *args)
{
    if (s.length_s <= 0)
        return;
    event_begin(t, "X", at);
    ridge_buf_printf(t->out,
                     "\"name\":\"%s\",\"cat\":\"%s\",\"ts\":%.4f,\"dur\":%.4f,"
                     "\"args\":{%s}}",
                     s.name, s.category, 1e6 * s.start_s, 1e6 * s.length_s, args);
}

/* ---- tracks ---------------------------------------------------------------------- */

static const char *line_text(int line)
{
    switch (line) {
    case LINE_DOWN:
        return "pp down";
    case LINE_UP:
        return "pp up";
    case LINE_DP:
        return "dp";
    default:
        return ridge_traffic_text((ridge_traffic)line);
    }
}

static const ridge_group *line_group(const trace *t, int line)
{
    const ridge_step_network *step = &t->network;
    switch (line) {
    case LINE_DOWN:
    case LINE_UP:
        return &step->pp;
    case LINE_DP:
        return &step->reduction;
    default:
        return &step->traffic[line];
    }
}

static void lines_number(trace *t)
{
    int tid = 1;
    memset(t->tracks, 0, sizeof t->tracks);
    for (int line = 0; line < LINE_COUNT; line++) {
        const ridge_group *g = line_group(t, line);
        for (int i = 0; g->ranks > 1 && i < g->n_spans; i++)
            t->tracks[line][i] = tid++;
    }
}

/* @param s  its category is that of the line */
static void line_add(trace *t, int line, int rank, span s)
{
    s.category = line_text(line);
    for (int i = 0; i < RIDGE_AXIS_MAX; i++) {
        if (t->tracks[line][i] > 0)
            span_add(t, (track){rank, t->tracks[line][i]}, s, "");
    }
}

static void names_add(trace *t, int rank)
{
    const ridge_train_step *step = &t->sim->step;
    ridge_buf name;
    ridge_buf_init(&name, t->out->arena);
    ridge_buf_printf(&name, "%s%sstage %d of %d", t->pool != NULL ? t->pool : "",
                     t->pool != NULL ? ": " : "", rank + 1, step->pipeline.ranks);
    name_add(t, "process_name", (track){rank, 0}, ridge_buf_text(&name));
    name_add(t, "thread_name", (track){rank, 0}, "passes");
    for (int line = 0; line < LINE_COUNT; line++) {
        const ridge_group *g = line_group(t, line);
        const ridge_slice *slice = line == LINE_DOWN || line == LINE_UP
                                       ? t->network.pp_slice
                                       : t->network.slice;
        for (int i = 0; i < g->n_spans && t->tracks[line][i] > 0; i++) {
            ridge_buf_init(&name, t->out->arena);
            ridge_buf_printf(&name, "%s: %s", slice->axes[g->spans[i].axis].name,
                             line_text(line));
            name_add(t, "thread_name", (track){rank, t->tracks[line][i]},
                     ridge_buf_text(&name));
        }
    }
}

/* ---- passes ---------------------------------------------------------------------- */

static void work_add(ridge_pass_work *to, const ridge_pass_work *from)
{
    to->compute_s += from->compute_s;
    for (int i = 0; i < RIDGE_TRAFFIC_COUNT; i++) {
        to->exposed_s[i] += from->exposed_s[i];
        to->hidden_s[i] += from->hidden_s[i];
    }
}

static ridge_pass_work work_of(const ridge_stage_work *w, ridge_pass pass)
{
    ridge_pass_work both = w->backward_input;
    switch (pass) {
    case RIDGE_PASS_FORWARD:
        return w->forward;
    case RIDGE_PASS_BACKWARD_INPUT:
        return w->backward_input;
    case RIDGE_PASS_BACKWARD_WEIGHT:
        return w->backward_weight;
    case RIDGE_PASS_BACKWARD:
        break;
    }
    work_add(&both, &w->backward_weight);
    return both;
}

/* The category of a pass: "forward", "backward", ... */
static const char *pass_category(ridge_pass pass)
{
    static const char *const names[] = {[RIDGE_PASS_FORWARD] = "forward",
                                        [RIDGE_PASS_BACKWARD] = "backward",
                                        [RIDGE_PASS_BACKWARD_INPUT] = "backward-input",
                                        [RIDGE_PASS_BACKWARD_WEIGHT] =
                                            "backward-weight"};
    _Static_assert(RIDGE_COUNT_OF(names) == RIDGE_PASS_COUNT, "one row per pass");
    return names[pass];
}

/* Within a pass: compute with what is hidden beside it, then what is waited for.
 * Exchanges of many layers stand as one. @return when they are over */
static double parts_add(trace *t, int rank, const ridge_pass_work *w, double start_s,
                        double compute_s)
{
    double at_s = start_s + compute_s;
    const track passes = {rank, 0};
    span_add(t, passes, (span){"compute", "compute", start_s, compute_s}, "");
    for (int i = 0; i < RIDGE_TRAFFIC_COUNT; i++) {
        const char *text = ridge_traffic_text((ridge_traffic)i);
        const double hidden_s = fmin(w->hidden_s[i], compute_s);
        const double exposed_s = w->exposed_s[i];
        const double hidden_from_s = start_s + compute_s - hidden_s;
        line_add(t, i, rank, (span){"hidden", NULL, hidden_from_s, hidden_s});
        span_add(t, passes, (span){text, "exposed", at_s, exposed_s}, "");
        line_add(t, i, rank, (span){"exposed", NULL, at_s, exposed_s});
        at_s += exposed_s;
    }
    return at_s;
}

static bool has_receiver(const ridge_pipeline *p, int stage, ridge_pass pass)
{
    const int target = ridge_pipeline_target_of(p, stage, pass);
    return target >= 0 && ridge_pipeline_is_remote(p, stage, target);
}

/* How long a stage's message takes. @param is_exposed  out: its rank waits for it */
static double send_of(const ridge_train_step *step, int stage, ridge_pass pass,
                      bool *is_exposed)
{
    *is_exposed = step->is_send_exposed;
    if (step->sent_s == NULL || step->send_s > 0)
        return step->send_s;
    *is_exposed = true;
    return pass == RIDGE_PASS_FORWARD ? step->sent_s[stage].forward_s
                                      : step->sent_s[stage].backward_input_s;
}

/* A message goes at the end of a pass, which waits for it, or behind the pass. */
static void send_add(trace *t, int rank, int stage, ridge_pass pass, double from_s)
{
    const ridge_train_step *step = &t->sim->step;
    const int way = pass == RIDGE_PASS_FORWARD ? 0 : 1;
    bool is_exposed;
    const double send_s = send_of(step, stage, pass, &is_exposed);
    if (!has_receiver(&step->pipeline, stage, pass))
        return;
    if (is_exposed) {
        const span send = {"send", "exposed", from_s, send_s};
        span_add(t, (track){rank, 0}, send, "");
    } else {
        from_s = fmax(from_s, t->sent_s[way]);
        t->sent_s[way] = from_s + send_s;
    }
    line_add(t, LINE_DOWN + way, rank, (span){"send", NULL, from_s, send_s});
}

static void pass_add(trace *t, int rank, const ridge_action *action,
                     const ridge_action_time *time)
{
    const ridge_train_step *step = &t->sim->step;
    const int stage = ridge_pipeline_stage_of(
        &step->pipeline, (ridge_pipeline_place){rank, action->chunk});
    const ridge_pass_work work = work_of(&step->stages[stage], action->pass);
    char name[48];
    char args[64];
    int n = snprintf(name, sizeof name, "%s %d", ridge_pass_letter(action->pass),
                     action->microbatch);
    if (step->pipeline.chunks > 1 && n > 0)
        snprintf(name + n, sizeof name - (size_t)n, ".%d", action->chunk);
    snprintf(args, sizeof args, "\"stage\":%d,\"microbatch\":%d", stage,
             action->microbatch);
    const double length_s = time->end_s - time->start_s;
    const span pass = {name, pass_category(action->pass), time->start_s, length_s};
    span_add(t, (track){rank, 0}, pass, args);
    double waited_s = ridge_pass_work_s(&work) - work.compute_s;
    bool is_exposed;
    const double send_s = send_of(step, stage, action->pass, &is_exposed);
    if (is_exposed && has_receiver(&step->pipeline, stage, action->pass))
        waited_s += send_s;
    const double over_s =
        parts_add(t, rank, &work, time->start_s, fmax(length_s - waited_s, 0));
    send_add(t, rank, stage, action->pass, over_s);
}

/* ---- steps ----------------------------------------------------------------------- */

static void wait_add(trace *t, int rank, const char *name, double from_s, double to_s)
{
    /* Rounded times of neighbours are no wait. */
    if (to_s - from_s > 1e-9 * t->sim->outcome.timeline.makespan_s)
        span_add(t, (track){rank, 0}, (span){name, "bubble", from_s, to_s - from_s},
                 "");
}

/* Gradients are reduced beside the last passes and behind them; then all wait for all,
 * update, and gather: what of that is hidden falls into the next step, and the last
 * one's into this. */
static void end_add(trace *t, int rank)
{
    const ridge_step_outcome *o = &t->sim->outcome;
    const ridge_step_end *end = &t->sim->step.ends[rank];
    const ridge_step_close *close = &t->sim->script.closes[rank];
    const double passed_s = o->timeline.ranks[rank].end_s;
    const double hidden_s = fmin(end->reduce_hidden_s, passed_s);
    const double from_s =
        t->sim->script.has_barrier ? o->reduced_s : passed_s + close->reduce_s;
    const double updated_s = from_s + close->update_s;
    const track passes = {rank, 0};
    const span hidden = {"hidden reduction", NULL, passed_s - hidden_s, hidden_s};
    const span reduction = {"gradient reduction", "exposed", passed_s, close->reduce_s};
    const span update = {"optimizer", "optimizer", from_s, close->update_s};
    const span gather = {"weight gather", "exposed", updated_s, close->gather_s};
    line_add(t, LINE_DP, rank, hidden);
    line_add(t, LINE_DP, rank, (span){"reduction", NULL, passed_s, close->reduce_s});
    span_add(t, passes, reduction, "");
    wait_add(t, rank, "wait for all", passed_s + close->reduce_s, from_s);
    span_add(t, passes, update, "");
    span_add(t, passes, gather, "");
    line_add(t, LINE_DP, rank, gather);
}

static void rank_add(trace *t, int rank)
{
    const ridge_action_list *list = &t->sim->schedule.ranks[rank];
    const ridge_action_time *times = t->sim->outcome.timeline.ranks[rank].actions;
    const ridge_step_end *end = &t->sim->step.ends[rank];
    double free_s = 0;
    names_add(t, rank);
    t->sent_s[0] = t->sent_s[1] = 0;
    if (end->gather_hidden_s + end->reduce_hidden_s <
        t->sim->outcome.timeline.ranks[rank].end_s)
        line_add(t, LINE_DP, rank,
                 (span){"hidden weight gather", NULL, 0, end->gather_hidden_s});
    for (int i = 0; i < list->n; i++) {
        wait_add(t, rank, "bubble", free_s, times[i].start_s);
        pass_add(t, rank, &list->actions[i], &times[i]);
        free_s = times[i].end_s;
    }
    end_add(t, rank);
}

/* @param pool  of all ranks; NULL: view->rank_pools says it of each, if they differ */
static void step_add(trace *t, const ridge_simulation_view *view, const char *pool)
{
    const ridge_train_step *step = &view->simulation->step;
    t->sim = view->simulation;
    for (int rank = 0; rank < step->pipeline.ranks; rank++) {
        t->network = step->networks != NULL ? step->networks[rank] : step->network;
        t->pool = view->rank_pools != NULL ? view->rank_pools[rank] : pool;
        lines_number(t);
        rank_add(t, rank);
    }
    t->first += step->pipeline.ranks;
}

static ridge_status end_trace(trace *t)
{
    ridge_buf_puts(t->out, "\n]}\n");
    return t->out->is_short ? ridge_fail_nomem(t->cx) : RIDGE_OK;
}

static trace begin_trace(ridge_ctx *cx, ridge_buf *out)
{
    ridge_buf_puts(out, "{\"displayTimeUnit\":\"ms\",\"traceEvents\":[");
    return (trace){.cx = cx, .out = out};
}

ridge_status ridge_step_trace_write(ridge_ctx *cx, const ridge_simulation_view *view,
                                    ridge_buf *out)
{
    trace t = begin_trace(cx, out);
    step_add(&t, view, NULL);
    return end_trace(&t);
}

ridge_status ridge_fleet_trace_write(ridge_ctx *cx, const ridge_fleet_played_view *view,
                                     ridge_buf *out)
{
    const ridge_fleet_simulation *sim = view->simulation;
    trace t = begin_trace(cx, out);
    for (int i = 0; i < sim->n; i++) {
        const ridge_fleet_played *p = &sim->pools[i];
        const ridge_simulation_view pool = {view->model_name, &p->request,
                                            &p->simulation, sim->rank_pools};
        step_add(&t, &pool, sim->is_replicas ? p->request.slice->text : NULL);
    }
    return end_trace(&t);
}
