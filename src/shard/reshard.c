/*
 * One collective step: what it does to a sharding, what it moves, its transpose, its
 * text. Which steps are needed is for reshard_route.c and strategy.c.
 */
#include "axes_text.h"

#include <string.h>

const char *ridge_step_kind_text(ridge_step_kind kind)
{
    static const char *const texts[] = {
#define STEP_KIND_TEXT(name, text) text,
        RIDGE_STEP_KIND_LIST(STEP_KIND_TEXT)
#undef STEP_KIND_TEXT
    };
    return (size_t)kind < RIDGE_COUNT_OF(texts) ? texts[kind] : "unknown";
}

ridge_reshard ridge_reshard_transpose(const ridge_reshard *step)
{
    ridge_reshard back = *step;
    back.dim_from = step->dim_to;
    back.dim_to = step->dim_from;
    switch (step->kind) {
    case RIDGE_STEP_ALL_GATHER:
        back.kind = RIDGE_STEP_REDUCE_SCATTER;
        break;
    case RIDGE_STEP_REDUCE_SCATTER:
        back.kind = RIDGE_STEP_ALL_GATHER;
        break;
    case RIDGE_STEP_ALL_REDUCE:
        back.kind = RIDGE_STEP_SLICE;
        break;
    case RIDGE_STEP_ALL_TO_ALL:
        break;
    case RIDGE_STEP_SLICE:
        back.kind = step->dim_to < 0 ? RIDGE_STEP_ALL_REDUCE : RIDGE_STEP_ALL_GATHER;
        break;
    }
    return back;
}

static unsigned bits_of(const ridge_reshard *step)
{
    unsigned bits = 0;
    for (int i = 0; i < step->n_axes; i++)
        bits |= 1u << step->axes[i];
    return bits;
}

/* Take the step's axes off the inner end of a dim. @return false: others lie there */
static bool pop(ridge_sharding *s, int dim, const ridge_reshard *step)
{
    if (dim < 0 || dim >= s->n_dims || s->dims[dim].n < step->n_axes)
        return false;
    ridge_dim_axes *axes = &s->dims[dim];
    const int kept = axes->n - step->n_axes;
    for (int i = 0; i < step->n_axes; i++) {
        if (axes->axes[kept + i] != step->axes[i])
            return false;
    }
    axes->n = kept;
    return true;
}

static bool push(ridge_sharding *s, int dim, const ridge_reshard *step)
{
    if (dim < 0 || dim >= s->n_dims || (ridge_sharding_axes(s) & bits_of(step)))
        return false;
    ridge_dim_axes *axes = &s->dims[dim];
    for (int i = 0; i < step->n_axes; i++)
        axes->axes[axes->n++] = step->axes[i];
    return true;
}

static bool sum(ridge_sharding *s, const ridge_reshard *step)
{
    const unsigned bits = bits_of(step);
    if ((s->partial & bits) != bits)
        return false;
    s->partial &= ~bits;
    return true;
}

static bool has_legal_axes(const ridge_mesh *mesh, const ridge_reshard *step)
{
    unsigned bits = 0;
    if (step->n_axes < 1 || step->n_axes > mesh->n)
        return false;
    for (int i = 0; i < step->n_axes; i++) {
        const int axis = step->axes[i];
        if (axis < 0 || axis >= mesh->n || (bits & (1u << axis)))
            return false;
        bits |= 1u << axis;
    }
    return true;
}

bool ridge_reshard_apply(const ridge_mesh *mesh, ridge_sharding *s,
                         const ridge_reshard *step)
{
    ridge_sharding to = *s;
    bool is_done = false;
    if (!has_legal_axes(mesh, step))
        return false;
    switch (step->kind) {
    case RIDGE_STEP_ALL_GATHER:
        is_done = pop(&to, step->dim_from, step);
        break;
    case RIDGE_STEP_REDUCE_SCATTER:
        is_done = sum(&to, step) && push(&to, step->dim_to, step);
        break;
    case RIDGE_STEP_ALL_REDUCE:
        is_done = sum(&to, step);
        break;
    case RIDGE_STEP_ALL_TO_ALL:
        is_done = step->dim_from != step->dim_to && pop(&to, step->dim_from, step) &&
                  push(&to, step->dim_to, step);
        break;
    case RIDGE_STEP_SLICE:
        is_done = step->dim_to < 0 || push(&to, step->dim_to, step);
        break;
    }
    if (is_done)
        *s = to;
    return is_done;
}

int64_t ridge_reshard_ranks(const ridge_mesh *mesh, const ridge_reshard *step)
{
    int64_t ranks = 1;
    for (int i = 0; i < step->n_axes; i++)
        ranks *= mesh->axes[step->axes[i]].size; /* divides the mesh's size */
    return ranks;
}

double ridge_reshard_sent_bytes(const ridge_mesh *mesh, const ridge_reshard *step)
{
    const double n = (double)ridge_reshard_ranks(mesh, step);
    const double others = step->bytes * (n - 1) / n;
    switch (step->kind) {
    case RIDGE_STEP_ALL_GATHER:
    case RIDGE_STEP_REDUCE_SCATTER:
        return others;
    case RIDGE_STEP_ALL_REDUCE:
        return 2 * others;
    case RIDGE_STEP_ALL_TO_ALL:
        return others / n;
    case RIDGE_STEP_SLICE:
        return 0;
    }
    return 0;
}

/* ---- text --------------------------------------------------------------------- */

void ridge__axes_write(const ridge_mesh *mesh, const int *axes, int n, ridge_buf *out)
{
    bool are_letters = true;
    for (int i = 0; i < n; i++)
        are_letters = are_letters && strlen(mesh->axes[axes[i]].name) == 1;
    /* letters that spell another axis would be read as that one */
    char word[RIDGE_MESH_AXIS_MAX + 1] = {0};
    for (int i = 0; are_letters && i < n; i++)
        word[i] = mesh->axes[axes[i]].name[0];
    if (n == 1 || (are_letters && ridge_mesh_find(mesh, word) < 0)) {
        ridge_buf_puts(out, n == 1 ? mesh->axes[axes[0]].name : word);
        return;
    }
    for (int i = 0; i < n; i++)
        ridge_buf_printf(out, "%s%s", i ? "," : "(", mesh->axes[axes[i]].name);
    ridge_buf_puts(out, ")");
}
