/* Opening a rank: its groups, its schedule, a machine for each of its stages. */
#include "runner.h"

#include "device_cpu.h"
#include "ring_attention.h"
#include "shared_sum.h"

#include <string.h>
#include <unistd.h>

/* ---- opening -----------------------------------------------------------------------
 */

typedef struct opening {
    ridge__runner *r;
    const ridge__runner_options *o;
    const ridge_program *full;
    const ridge_stage_row *rows;
    int n_rows;
    ridge__numbers numbers;
} opening;

static ridge_status open_full(opening *x)
{
    RIDGE_TRY(ridge_program_lower(x->r->cx, x->o->model, &x->o->lowering, &x->full));
    if (ridge__layout_stages(x->o->layout) == 1)
        return RIDGE_OK;
    const int64_t *layers = x->o->layout->stage_layers;
    const int stages = ridge__layout_stages(x->o->layout);
    return layers
               ? ridge_pipeline_rows_of(x->r->cx, x->full, layers, stages, &x->rows,
                                        &x->n_rows)
               : ridge_pipeline_rows(x->r->cx, x->full, stages, &x->rows, &x->n_rows);
}

/* Gradients lie as states would, also where the stage that updates is another. */
static ridge_status lay_gradients(ridge_ctx *cx, const ridge_rule **rules, int *n)
{
    ridge_rule *all = ridge_new(ridge_ctx_arena(cx), ridge_rule, 2 * (size_t)*n + 1);
    const int given = *n;
    if (all == NULL)
        return ridge_fail_nomem(cx);
    if (given > 0)
        memcpy(all, *rules, (size_t)given * sizeof *all);
    for (int i = 0; i < given; i++) {
        if (all[i].role != RIDGE_ROLE_STATE || all[i].tensor != NULL)
            continue;
        all[*n] = all[i];
        all[(*n)++].role = RIDGE_ROLE_GRADIENT;
    }
    *rules = all;
    return RIDGE_OK;
}

/* The partition of a stage, and its mesh. */
static ridge_status cut_stage(opening *x, int stage, const ridge_partition **out)
{
    ridge_ctx *cx = x->r->cx;
    const ridge_parallelism *degrees = &x->o->layout->degrees;
    const ridge_program *program = x->full;
    const ridge_rule *rules;
    ridge_mesh mesh;
    int n;
    if (x->rows)
        RIDGE_TRY(
            ridge_pipeline_stage(cx, x->full, x->rows, x->n_rows, stage, &program));
    RIDGE_TRY(ridge_parallelism_rules(cx, program, degrees, &mesh, &rules, &n));
    if (x->rows)
        RIDGE_TRY(lay_gradients(cx, &rules, &n));
    RIDGE_TRY(ridge_partition_build(cx, program, &mesh, rules, n, NULL, NULL, out));
    if (degrees->cp > 1 && degrees->context == RIDGE_CONTEXT_GATHER &&
        x->o->lowering.phase == RIDGE_PHASE_TRAIN)
        RIDGE_TRY(ridge__ring_attention(cx, *out, out));
    return ridge__shared_sum(cx, *out, out);
}

/* Pipeline ranks outermost, then the mesh of a stage. */
static ridge_status open_groups(opening *x)
{
    ridge__runner *r = x->r;
    ridge_mesh world = {.n = r->mesh.n + 1};
    if (world.n > RIDGE_MESH_AXIS_MAX)
        return ridge_fail(r->cx, RIDGE_E_ARG, "the layout has more than %d mesh axes",
                          RIDGE_MESH_AXIS_MAX);
    world.axes[0] = (ridge_mesh_axis){"pp", x->o->layout->pp};
    for (int a = 0; a < r->mesh.n; a++)
        world.axes[a + 1] = r->mesh.axes[a];
    r->world_mesh = world;
    if (ridge_mesh_size(&world) != ridge_comm_size(r->world))
        return ridge_fail(r->cx, RIDGE_E_ARG, "the layout takes %lld ranks, and %d run",
                          (long long)ridge_mesh_size(&world),
                          ridge_comm_size(r->world));
    const int pipe = 0;
    RIDGE_TRY(ridge_comm_axes(r->cx, r->world, &world, &pipe, 1, &r->pipe_comm));
    r->pipe_rank = ridge_comm_rank(r->pipe_comm);
    return RIDGE_OK;
}

static ridge_status open_schedule(opening *x)
{
    ridge__runner *r = x->r;
    const ridge_run_layout *l = x->o->layout;
    const ridge_pipeline pipeline = {.kind = l->schedule,
                                     .ranks = l->pp,
                                     .chunks = l->vpp,
                                     .microbatches = x->o->microbatches};
    RIDGE_TRY(ridge_pipeline_schedule_make(r->cx, &pipeline, &r->schedule));
    r->sent_most = 2 * x->o->microbatches * l->vpp + 2;
    r->sent = ridge_new(ridge_ctx_arena(r->cx), ridge__sent, (size_t)r->sent_most);
    r->local = ridge_new(ridge_ctx_arena(r->cx), ridge__local, (size_t)r->sent_most);
    return r->sent && r->local ? RIDGE_OK : ridge_fail_nomem(r->cx);
}

/* A rank's share of this machine's memory; 0: the device has its own. */
static double memory_share(const ridge__runner *r)
{
    const ridge_engine engine = ridge_comm_engine(r->world);
    const double all = (double)sysconf(_SC_PHYS_PAGES) * (double)sysconf(_SC_PAGESIZE);
    const int here =
        engine == RIDGE_ENGINE_MPI ? ridge_launched_here() : ridge_comm_size(r->world);
    return engine == RIDGE_ENGINE_CUDA || all <= 0.0 ? 0.0 : all / here;
}

static ridge__machine_options machine_options(const opening *x)
{
    const ridge_run_layout *l = x->o->layout;
    return (ridge__machine_options){
        .world = &x->r->world_mesh,
        .unrolling = {.remat = l->remat,
                      .named = l->remat_ops,
                      .is_reduced_once = l->degrees.zero_stage < 2,
                      .has_weight_list = ridge_schedule_is_split(l->schedule)},
        .numbers = x->numbers,
        .gradient = l->gradient,
        .trace_most = x->o->trace_most,
        .memory_bytes = memory_share(x->r),
        .send = ridge__runner_send,
        .send_payload = x->r,
        .documents = x->o->documents,
        .documents_payload = x->o->documents_payload};
}

/* A table of learned positions ends: behind it there are no rows. */
static ridge_status check_positions(const opening *x, const ridge__chunk *c)
{
    const ridge_program *p = c->m->program;
    const int table = ridge_program_tensor_find(p, "position_table");
    if (c->positions < 0 || table < 0)
        return RIDGE_OK;
    const int64_t rows = p->dims[p->tensors[table].dims[0]].size - c->position_offset;
    const int64_t tokens = x->o->lowering.context_tokens;
    if (tokens <= rows)
        return RIDGE_OK;
    return ridge_fail(x->r->cx, RIDGE_E_ARG,
                      "%s has learned %lld positions: a sequence of %lld tokens is too "
                      "long for it",
                      x->full->name, (long long)rows, (long long)tokens);
}

static int64_t layers_of(const ridge_program *p)
{
    int64_t n = 0;
    for (int b = 0; b < p->n_blocks; b++)
        n += p->blocks[b].layer >= 0 && p->blocks[b].forward_of < 0
                 ? p->blocks[b].repeat
                 : 0;
    return n;
}

/* A policy for some layers of a rank holds for those of its first chunks. */
static void limit_remat(const opening *x, int chunk, ridge__unrolling *how)
{
    int64_t left = x->o->layout->remat_layers;
    if (left == 0)
        return;
    for (int i = 0; i < chunk; i++)
        left -= layers_of(x->r->chunks[i].m->program);
    if (left > 0)
        how->again_layers = left;
    else
        *how = (ridge__unrolling){.remat = RIDGE_REMAT_NONE,
                                  .is_reduced_once = how->is_reduced_once,
                                  .has_weight_list = how->has_weight_list};
}

static ridge_status open_chunk(opening *x, int chunk, const ridge_partition *partition)
{
    ridge__runner *r = x->r;
    ridge__chunk *c = &r->chunks[chunk];
    const ridge_pipeline_place place = {r->pipe_rank, chunk};
    ridge__machine_options options = machine_options(x);
    limit_remat(x, chunk, &options.unrolling);
    const size_t n = (size_t)x->o->microbatches;
    const int at = ridge_pipeline_stage_of(&r->schedule.pipeline, place);
    const int stages = ridge__layout_stages(x->o->layout);
    *c = (ridge__chunk){.stage = at % stages,
                        .place = at,
                        .is_copy = at >= stages,
                        .full = x->full,
                        .rows = x->rows,
                        .n_rows = x->n_rows};
    if (partition == NULL)
        RIDGE_TRY(cut_stage(x, c->stage, &partition));
    if (x->o->lender)
        options.lender = x->o->lender->chunks[chunk].m;
    RIDGE_TRY(
        ridge__machine_open(r->cx, r->device, r->world, partition, &options, &c->m));
    c->flights = ridge_new(ridge_ctx_arena(r->cx), ridge__flight, n);
    c->is_open = ridge_new(ridge_ctx_arena(r->cx), bool, n);
    if (!c->flights || !c->is_open)
        return ridge_fail_nomem(r->cx);
    ridge__chunk_find_tensors(c);
    RIDGE_TRY(ridge__chunk_find_layers(c));
    c->position_offset = x->o->numerics->position_offset;
    RIDGE_TRY(check_positions(x, c));
    if (c->stage + 1 == ridge__layout_stages(x->o->layout) && c->stream_gradient >= 0)
        return ridge_fail(r->cx, RIDGE_E_ARG,
                          "%s cannot be trained: it has no head that makes logits",
                          x->full->name);
    if (c->stage == 0 && c->stream >= 0)
        return ridge_fail(r->cx, RIDGE_E_ARG,
                          "%s cannot be run: it takes %s, and text alone is given",
                          x->full->name, c->m->program->tensors[c->stream].name);
    return RIDGE_OK;
}

static ridge_status open_device(opening *x)
{
    ridge__runner *r = x->r;
    const int threads = x->o->threads;
    r->is_borrower = x->o->lender != NULL;
    if (r->is_borrower) {
        r->device = x->o->lender->device;
        return RIDGE_OK;
    }
    if (ridge_comm_engine(r->world) == RIDGE_ENGINE_CUDA)
        return ridge__device_open_cuda(r->cx, ridge_comm_rank(r->world), &r->device);
    RIDGE_TRY(ridge__device_open_cpu(r->cx, threads, &r->device));
    ridge__cpu_take_measured(r->device, x->o->measured);
    return RIDGE_OK;
}

static ridge_status open_chunks(opening *x)
{
    ridge__runner *r = x->r;
    const ridge_partition *first;
    RIDGE_TRY(cut_stage(x, 0, &first));
    r->mesh = first->mesh;
    RIDGE_TRY(open_groups(x));
    RIDGE_TRY(open_schedule(x));
    r->n_chunks = x->o->layout->vpp;
    r->chunks = ridge_new(ridge_ctx_arena(r->cx), ridge__chunk, (size_t)r->n_chunks);
    if (r->chunks == NULL)
        return ridge_fail_nomem(r->cx);
    for (int i = 0; i < r->n_chunks; i++)
        RIDGE_TRY(open_chunk(x, i, x->rows ? NULL : first));
    return RIDGE_OK;
}

ridge_status ridge__runner_open(ridge_ctx *cx, ridge_comm *world,
                                const ridge__runner_options *options,
                                ridge__runner **out)
{
    ridge__runner *r = ridge_new(ridge_ctx_arena(cx), ridge__runner, 1);
    if (r == NULL)
        return ridge_fail_nomem(cx);
    r->cx = cx;
    r->world = world;
    r->layout = options->layout;
    r->threads = options->threads > 0 ? options->threads : 1;
    opening x = {.r = r, .o = options};
    RIDGE_TRY(open_full(&x));
    RIDGE_TRY(ridge__runner_numbers(r, x.full, options, &x.numbers));
    RIDGE_TRY(open_device(&x));
    *out = r;
    return open_chunks(&x);
}

void ridge__runner_close(ridge__runner *r)
{
    if (r && r->device && !r->is_borrower)
        ridge__device_close(r->device);
}

/* ---- passes ------------------------------------------------------------------------
 */

static ridge_status open_flight(ridge__chunk *c, int microbatch, ridge__flight **out)
{
    ridge__flight *f = &c->flights[microbatch];
    if (f->values == NULL)
        RIDGE_TRY(ridge__flight_open(c->m, f));
    f->tag = microbatch;
    *out = f;
    return RIDGE_OK;
}

/* Places of the tokens in the text, for a table of learned ones. */
static ridge_status feed_positions(ridge__chunk *c, ridge__flight *f)
{
    ridge__machine *m = c->m;
    if (c->positions < 0)
        return RIDGE_OK;
    ridge__value *v = &f->values[m->unrolled.first_value[c->positions]];
    const ridge_mark mark = ridge_arena_mark(ridge_ctx_scratch(m->cx));
    RIDGE_TRY(ridge__value_make(m, v, c->positions));
    int32_t *at = ridge_new(ridge_ctx_scratch(m->cx), int32_t, (size_t)v->elements);
    if (at == NULL)
        return ridge_fail_nomem(m->cx);
    const ridge__tensor_part *part = &m->parts[c->positions];
    const ridge__span tokens = part->spans[part->n_dims - 1];
    for (int64_t i = 0; i < v->elements; i++)
        at[i] = (int32_t)(m->position + c->position_offset + tokens.start +
                          i % tokens.length);
    const ridge_status st =
        m->device->ops->upload(m->device, v->p, at, (size_t)v->elements * sizeof *at);
    ridge_arena_rewind(ridge_ctx_scratch(m->cx), mark);
    return st;
}

static ridge_status forward(ridge__runner *r, const ridge__step_hooks *hooks,
                            ridge__chunk *c, int microbatch)
{
    ridge__flight *f;
    RIDGE_TRY(open_flight(c, microbatch, &f));
    RIDGE_TRY(hooks->feed(hooks->payload, r, c, microbatch, f));
    RIDGE_TRY(feed_positions(c, f));
    if (c->stream >= 0)
        RIDGE_TRY(ridge__runner_receive(r, c, microbatch, false, f));
    RIDGE_TRY(ridge__machine_run(c->m, f, RIDGE__LIST_FORWARD));
    if (c->stage + 1 == ridge__layout_stages(r->layout))
        RIDGE_TRY(hooks->result(hooks->payload, r, c, microbatch, f));
    if (hooks->is_forward_only)
        ridge__flight_close(c->m, f);
    return RIDGE_OK;
}

/* The last stage's share of a gradient comes once a step; until then there is none. */
static ridge_status zero_tied(ridge__chunk *c, ridge__flight *f)
{
    ridge__value *v = &f->values[c->m->unrolled.first_value[c->tied_from]];
    RIDGE_TRY(ridge__value_make(c->m, v, c->tied_from));
    return c->m->device->ops->zero(
        c->m->device, v->p, (size_t)v->elements * (size_t)ridge_dtype_bytes(v->dtype));
}

static ridge_status backward_inputs(ridge__runner *r, ridge__chunk *c, int microbatch)
{
    ridge__flight *f = &c->flights[microbatch];
    if (c->stream_gradient >= 0)
        RIDGE_TRY(ridge__runner_receive(r, c, microbatch, true, f));
    if (c->tied_from >= 0)
        RIDGE_TRY(zero_tied(c, f));
    f->adds = c->has_inputs;
    c->has_inputs = true;
    return ridge__machine_run(c->m, f, RIDGE__LIST_INPUTS);
}

static ridge_status backward_weights(ridge__chunk *c, int microbatch)
{
    ridge__flight *f = &c->flights[microbatch];
    f->adds = c->has_weights;
    c->has_weights = true;
    RIDGE_TRY(ridge__machine_run(c->m, f, RIDGE__LIST_WEIGHTS));
    ridge__flight_close(c->m, f);
    return RIDGE_OK;
}

static ridge_status act(ridge__runner *r, const ridge__step_hooks *hooks,
                        const ridge_action *a)
{
    ridge__chunk *c = &r->chunks[a->chunk];
    switch (a->pass) {
    case RIDGE_PASS_FORWARD:
        return forward(r, hooks, c, a->microbatch);
    case RIDGE_PASS_BACKWARD:
        RIDGE_TRY(backward_inputs(r, c, a->microbatch));
        return backward_weights(c, a->microbatch);
    case RIDGE_PASS_BACKWARD_INPUT:
        return backward_inputs(r, c, a->microbatch);
    case RIDGE_PASS_BACKWARD_WEIGHT:
        return backward_weights(c, a->microbatch);
    }
    return RIDGE_E_INTERNAL;
}

ridge_status ridge__runner_passes(ridge__runner *r, const ridge__step_hooks *hooks)
{
    const ridge_action_list *list = &r->schedule.ranks[r->pipe_rank];
    for (int i = 0; i < r->n_chunks; i++) {
        r->chunks[i].has_inputs = r->chunks[i].has_weights = false;
        if (!hooks->is_forward_only)
            RIDGE_TRY(ridge__machine_begin(r->chunks[i].m));
    }
    for (r->action = 0; r->action < list->n; r->action++) {
        const ridge_action *a = &list->actions[r->action];
        if (hooks->is_forward_only && a->pass != RIDGE_PASS_FORWARD)
            continue;
        RIDGE_TRY(act(r, hooks, a));
    }
    return ridge__runner_settle(r);
}
