/*
 * A plan as Python for JAX: a mesh with named axes, outermost first as the plan lays
 * them, and the PartitionSpec of every weight, optimizer state, input and activation.
 * The specs are those by which the plan was cut and priced, see
 * ridge_parallelism_rules.
 *
 * @source jax-docs-2025
 */
#include "launch_draft.h"
#include "layout_cut.h"
#include "network_time.h"

#include "ridge/plan_timeline.h"
#include "ridge/program.h"
#include "ridge/shard.h"

#include <string.h>

typedef struct jax_writer {
    launch_draft *draft;
    ridge_buf *b;
    const ridge_partition *partition;
    const char *axes[RIDGE_MESH_AXIS_MAX + 1]; /* outermost first */
    int64_t sizes[RIDGE_MESH_AXIS_MAX + 1];
    int n_axes;
} jax_writer;

/* ---- the mesh -------------------------------------------------------------------- */

static void add_axis(jax_writer *w, const char *name, int64_t size)
{
    w->axes[w->n_axes] = name;
    w->sizes[w->n_axes++] = size;
}

/* The partition's axes and the stages, as the plan lays them. */
static void find_axes(jax_writer *w)
{
    const ridge_layout *l = w->draft->layout;
    const ridge_mesh *mesh = &w->partition->mesh;
    int order[RIDGE_MESH_AXIS_MAX + 1]; /* innermost first */
    train_mesh_order(w->draft->request->slice, l, mesh, order);
    for (int i = mesh->n; i >= 0; i--) {
        if (order[i] < mesh->n)
            add_axis(w, mesh->axes[order[i]].name, mesh->axes[order[i]].size);
        else if (l->pp > 1)
            add_axis(w, "pp", l->pp);
    }
    if (w->n_axes == 0)
        add_axis(w, "dp", 1);
}

static void put_mesh(jax_writer *w)
{
    static const char rest[] =
        "\n"
        "\n"
        "def make_mesh(devices=None):\n"
        "    \"\"\"The mesh of the plan over devices (all of them). On TPU slices\n"
        "    jax.experimental.mesh_utils lays it on the torus.\"\"\"\n"
        "    if devices is None:\n"
        "        devices = jax.devices()\n"
        "    if devices[0].platform == \"tpu\":\n"
        "        return Mesh(mesh_utils.create_device_mesh(SHAPE, devices), AXES)\n"
        "    return Mesh(np.asarray(devices).reshape(SHAPE), AXES)\n"
        "\n"
        "\n";
    const char *end = w->n_axes == 1 ? ",)" : ")";
    ridge_buf_puts(w->b, "# The axes of the mesh, outermost first.\nAXES = (");
    for (int i = 0; i < w->n_axes; i++)
        ridge_buf_printf(w->b, "%s\"%s\"", i == 0 ? "" : ", ", w->axes[i]);
    ridge_buf_printf(w->b, "%s\nSHAPE = (", end);
    for (int i = 0; i < w->n_axes; i++)
        ridge_buf_printf(w->b, "%s%lld", i == 0 ? "" : ", ", (long long)w->sizes[i]);
    ridge_buf_printf(w->b, "%s\n", end);
    ridge_buf_puts(w->b, rest);
}

/* ---- specs ----------------------------------------------------------------------- */

static void put_dim(jax_writer *w, const ridge_dim_axes *dim)
{
    const ridge_mesh *mesh = &w->partition->mesh;
    if (dim->n == 0) {
        ridge_buf_puts(w->b, "None");
        return;
    }
    if (dim->n > 1)
        ridge_buf_puts(w->b, "(");
    for (int i = 0; i < dim->n; i++) {
        ridge_buf_printf(w->b, "%s\"%s\"", i == 0 ? "" : ", ",
                         mesh->axes[dim->axes[i]].name);
    }
    if (dim->n > 1)
        ridge_buf_puts(w->b, ")");
}

static const ridge_block *block_of(const jax_writer *w, const ridge_tensor *t)
{
    return &w->partition->program->blocks[t->block];
}

/* The axis of stacked layers: stages, where they share a stack evenly. */
static const char *stack_axis(const jax_writer *w, const ridge_block *block)
{
    const int64_t pp = w->draft->layout->pp;
    if (pp > 1 && block->repeat % pp == 0)
        return "\"pp\"";
    if (pp > 1) {
        if (block->forward_of >= 0)
            block = &w->partition->program->blocks[block->forward_of];
        launch_draft_note(w->draft,
                          "the %lld layers of %s do not divide over pp=%lld: they are "
                          "left whole here",
                          (long long)block->repeat, block->name, (long long)pp);
    }
    return "None";
}

/* "name": P(...),  # [L, D, F] */
static void put_spec(jax_writer *w, int tensor, const char *name, bool is_stacked)
{
    const ridge_program *program = w->partition->program;
    const ridge_tensor *t = &program->tensors[tensor];
    const ridge_sharding *s = &w->partition->shardings[tensor];
    const bool has_layers = is_stacked && block_of(w, t)->layer >= 0;
    ridge_buf_printf(w->b, "    \"%s\": P(%s", name,
                     has_layers ? stack_axis(w, block_of(w, t)) : "");
    for (int i = 0; i < t->n_dims; i++) {
        ridge_buf_puts(w->b, i > 0 || has_layers ? ", " : "");
        put_dim(w, &s->dims[i]);
    }
    ridge_buf_printf(w->b, "),  # [%s", has_layers ? "L" : "");
    for (int i = 0; i < t->n_dims; i++) {
        const ridge_program_dim *dim = &program->dims[t->dims[i]];
        ridge_buf_printf(w->b, "%s%s=%lld", i > 0 || has_layers ? ", " : "", dim->name,
                         (long long)dim->size);
    }
    ridge_buf_puts(w->b, "]\n");
}

typedef struct spec_group {
    const char *name, *comment;
    ridge_role role;
    bool is_stacked;
} spec_group;

static bool is_member(const jax_writer *w, const spec_group *group, int tensor)
{
    const ridge_program *program = w->partition->program;
    const ridge_tensor *t = &program->tensors[tensor];
    return t->role == group->role && w->partition->copy_of[tensor] == tensor &&
           !program->blocks[t->block].is_backward &&
           w->partition->shardings[tensor].partial == 0 &&
           (t->role != RIDGE_ROLE_ACTIVATION || t->n_dims > 0);
}

static void put_group(jax_writer *w, const spec_group *group)
{
    ridge_buf_printf(w->b, "# %s\n%s = {\n", group->comment, group->name);
    for (int i = 0; i < w->partition->program->n_tensors; i++) {
        if (is_member(w, group, i))
            put_spec(w, i, w->partition->program->tensors[i].name, group->is_stacked);
    }
    ridge_buf_puts(w->b, "}\n\n");
}

/* What the optimizer keeps of a weight lies as the plan's ZeRO stage says: as its first
 * moment, m_WEIGHT. */
static void put_optimizer(jax_writer *w)
{
    static const char mark[] = "m_";
    const ridge_program *program = w->partition->program;
    ridge_buf_puts(w->b, "# Master weights, moments and reduced gradients, by weight.\n"
                         "OPTIMIZER = {\n");
    for (int i = 0; i < program->n_tensors; i++) {
        const ridge_tensor *t = &program->tensors[i];
        const char *base = ridge_tensor_base(t);
        if (t->role != RIDGE_ROLE_STATE || w->partition->copy_of[i] != i ||
            strncmp(base, mark, strlen(mark)) != 0)
            continue;
        const char *name =
            ridge_sprintf(ridge_ctx_arena(w->draft->cx), "%.*s%s",
                          (int)(base - t->name), t->name, base + strlen(mark));
        put_spec(w, i, name == NULL ? "?" : name, true);
    }
    ridge_buf_puts(w->b, "}\n\n");
}

static void put_head(jax_writer *w)
{
    const launch_draft *d = w->draft;
    ridge_buf_printf(
        w->b,
        "\n"
        "import jax\n"
        "import numpy as np\n"
        "from jax.experimental import mesh_utils\n"
        "from jax.sharding import Mesh, NamedSharding\n"
        "from jax.sharding import PartitionSpec as P\n"
        "\n"
        "BATCH_SEQS = %lld\n"
        "MICROBATCH_SEQS = %lld  # of all replicas together\n"
        "GRADIENT_ACCUMULATION_STEPS = %lld\n"
        "SEQ_TOKENS = %lld\n"
        "REMAT = \"%s\"  # none, selective, matmuls or full\n"
        "PRECISION = \"%s\"\n"
        "OPTIMIZER_NAME = \"%s\"\n"
        "SCHEDULE = \"%s\"  # of the stages along pp\n"
        "CP_EXCHANGE = \"%s\"  # of keys and values along cp\n"
        "OFFLOAD = \"%s\"  # to the host\n"
        "\n",
        (long long)d->batch_seqs, (long long)(d->replicas * d->layout->microbatch_seqs),
        (long long)d->microbatches, (long long)d->seq_tokens,
        ridge_layout_remat_text(d->cx, d->layout),
        ridge_precision_policy(d->layout->precision)->text,
        ridge_optimizer_text(d->layout->optimizer),
        ridge_schedule_text(ridge_layout_schedule(d->layout)),
        ridge_cp_text(d->layout->cp_exchange), ridge_offload_text(d->layout->offload));
}

static void note_layout(launch_draft *d)
{
    const ridge_layout *l = d->layout;
    launch_draft_note(d, "the plan lays %s",
                      ridge_placement_text(d->cx, d->request, l));
    if (l->pp > 1)
        launch_draft_note(d,
                          "stages hold layers along pp (vpp=%lld); the schedule, and "
                          "embedding and head on the ends, are your program's",
                          (long long)l->vpp);
    if (l->ep > 1 && l->cp > 1)
        launch_draft_note(d,
                          "experts are dealt over ep outside cp; the plan deals them "
                          "inside, over the nearest chips");
    if (d->request->slice->slices > 1)
        launch_draft_note(d, "of several slices, build the mesh with "
                             "mesh_utils.create_hybrid_device_mesh");
    launch_draft_note(d, "model code, data and optimizer are yours");
}

/* Any partition can be told, so only its mesh is tried. */
ridge_status launch_jax_check(launch_draft *d)
{
    ridge_parallelism degrees;
    return ridge_layout_parallelism(d->cx, d->layout, &degrees);
}

ridge_status launch_jax_write(launch_draft *d)
{
    static const spec_group groups[] = {
        {"WEIGHTS", "Weights; those of layers are stacked along L.", RIDGE_ROLE_WEIGHT,
         true},
        {"INPUTS", "Inputs of one microbatch.", RIDGE_ROLE_INPUT, false},
        {"ACTIVATIONS", "Results of one layer, for jax.lax.with_sharding_constraint.",
         RIDGE_ROLE_ACTIVATION, false}};
    ridge_buf specs; /* before the comments: they may find something to note */
    ridge_buf_init(&specs, ridge_ctx_arena(d->cx));
    jax_writer w = {.draft = d, .b = &specs};
    RIDGE_TRY(train_layout_cut(d->cx, d->request, d->layout, &w.partition));
    find_axes(&w);
    note_layout(d);
    put_group(&w, &groups[0]);
    put_optimizer(&w);
    put_group(&w, &groups[1]);
    put_group(&w, &groups[2]);
    w.b = &d->out->text;
    launch_draft_comments(d);
    put_head(&w);
    put_mesh(&w);
    ridge_buf_add(w.b, (ridge_str){ridge_buf_text(&specs), specs.n});
    ridge_buf_puts(w.b, "\ndef sharding(mesh, spec):\n"
                        "    \"\"\"NamedSharding of a spec above.\"\"\"\n"
                        "    return NamedSharding(mesh, spec)\n");
    return specs.is_short ? ridge_fail_nomem(d->cx) : RIDGE_OK;
}
