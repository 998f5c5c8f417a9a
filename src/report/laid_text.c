/* Tensors as they lie on a mesh, and a mesh as it lies on a slice. */
#include "laid_text.h"

/* An expression of one tensor, so that the notation of expressions is written. */
static ridge_expr expr_of(const ridge_program *program, const ridge_mesh *mesh,
                          int tensor, const ridge_sharding *sharding)
{
    const ridge_tensor *t = &program->tensors[tensor];
    ridge_expr e = {.mesh = *mesh, .n_dims = t->n_dims, .n_inputs = 1};
    e.inputs[0] = (ridge_expr_tensor){.name = t->name, .n_dims = t->n_dims};
    for (int d = 0; d < t->n_dims; d++) {
        e.dims[d] = program->dims[t->dims[d]];
        e.inputs[0].dims[d] = d;
    }
    if (sharding)
        e.inputs[0].sharding = *sharding;
    return e;
}

const char *ridge__laid_tensor(ridge_ctx *cx, const ridge_program *program,
                               const ridge_mesh *mesh, int tensor,
                               const ridge_sharding *sharding)
{
    const ridge_expr e = expr_of(program, mesh, tensor, sharding);
    ridge_buf b;
    ridge_buf_init(&b, ridge_ctx_arena(cx));
    ridge_expr_tensor_write(&e, &e.inputs[0], &b);
    return ridge_buf_text(&b);
}

const char *ridge__laid_step(ridge_ctx *cx, const ridge_program *program,
                             const ridge_mesh *mesh, int tensor,
                             const ridge_reshard *step)
{
    const ridge_expr e = expr_of(program, mesh, tensor, NULL);
    ridge_buf b;
    ridge_buf_init(&b, ridge_ctx_arena(cx));
    ridge_reshard_write(&e, step, &b);
    return ridge_buf_text(&b);
}

const char *ridge__mesh_text(ridge_ctx *cx, const ridge_mesh *mesh)
{
    ridge_buf b;
    ridge_buf_init(&b, ridge_ctx_arena(cx));
    for (int i = 0; i < mesh->n; i++) {
        ridge_buf_printf(&b, "%s%s=%lld", i ? "," : "", mesh->axes[i].name,
                         (long long)mesh->axes[i].size);
    }
    return mesh->n ? ridge_buf_text(&b) : "one rank";
}

void ridge__placement_add(ridge_ctx *cx, const ridge_mesh *mesh,
                          const ridge_laid_mesh *laid, int64_t tried,
                          ridge_sections *out)
{
    const ridge_slice *slice = laid->slice;
    ridge_buf b;
    if (mesh->n == 0)
        return;
    ridge_table *t =
        ridge__section_add(cx, out, "Placement", "mesh axis|>ranks|lies on");
    for (int i = 0; i < mesh->n; i++) {
        ridge_table_cell(t, mesh->axes[i].name);
        ridge_table_cellf(t, "%s", ridge_format_exact(mesh->axes[i].size).s);
        ridge_table_cell(t, ridge_group_text(cx, slice, &laid->groups[i]));
    }
    ridge_buf_init(&b, ridge_ctx_arena(cx));
    if (tried > 1) {
        ridge_buf_printf(&b, "The fastest of %lld ways tried; --place fixes one.",
                         (long long)tried);
    }
    if (slice->note)
        ridge_buf_printf(&b, "%s%s: %s.", b.n ? " " : "", slice->text, slice->note);
    if (b.n)
        ridge__section_note(out, ridge_buf_text(&b));
}

void ridge__placement_set(ridge_ctx *cx, const ridge_mesh *mesh,
                          const ridge_laid_mesh *laid, int64_t tried,
                          ridge_json *object)
{
    ridge_json_set_text(object, "slice", laid->slice->text);
    ridge_json_set_i64(object, "placements_tried", tried);
    ridge_json *axes = ridge_json_set_object(cx, object, "placement");
    for (int i = 0; i < mesh->n; i++) {
        ridge_json_set_text(axes, mesh->axes[i].name,
                            ridge_group_text(cx, laid->slice, &laid->groups[i]));
    }
}
