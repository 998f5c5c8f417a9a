/* How a module was cut over its mesh: where its arrays lie, what moves and why. */
#include "hlo_section.h"

#include <stdlib.h>
#include <string.h>

static void add_mesh(ridge_ctx *cx, const ridge_hlo_partition *p, ridge_sections *out)
{
    ridge_buf b;
    ridge_buf_init(&b, ridge_ctx_arena(cx));
    for (int a = 0; a < p->mesh.n; a++)
        ridge_buf_printf(&b, "%s%s=%lld", a ? ", " : "", p->mesh.axes[a].name,
                         (long long)p->mesh.axes[a].size);
    ridge__section_add(cx, out, "Partitioned", "");
    ridge__section_note(
        out, ridge_sprintf(ridge_ctx_arena(cx),
                           "Over %s. What follows is of what one device then runs; "
                           "--write FILE writes it.",
                           p->mesh.n ? ridge_buf_text(&b) : "one device"));
}

/* ---- arrays -----------------------------------------------------------------------
 */

static void add_laid(ridge_ctx *cx, const ridge_hlo_view *view, ridge_sections *out)
{
    const ridge_hlo_partition *p = view->partition;
    ridge_table *t = ridge__section_add(cx, out, "Arguments and results",
                                        "array|shape|lies|on a device|told by");
    for (int k = 0; k < p->n_laid && k < view->top; k++) {
        ridge_table_cell(t, p->laid[k].name);
        ridge_table_cell(t, p->laid[k].shape);
        ridge_table_cell(t, p->laid[k].sharding);
        ridge_table_cell(t, p->laid[k].local_shape);
        ridge_table_cell(t, p->laid[k].is_told ? "the module" : "propagation");
    }
    if (p->n_laid > view->top)
        ridge__section_note(out, ridge_sprintf(ridge_ctx_arena(cx),
                                               "%d more: --top N or --json.",
                                               p->n_laid - view->top));
}

/* ---- what moves -------------------------------------------------------------------
 */

static double weight_of(const ridge_hlo_step *s)
{
    return s->sent_bytes * s->times;
}

static int heavier(const void *a, const void *b)
{
    const ridge_hlo_step *x = *(const ridge_hlo_step *const *)a;
    const ridge_hlo_step *y = *(const ridge_hlo_step *const *)b;
    if (weight_of(x) != weight_of(y))
        return weight_of(x) > weight_of(y) ? -1 : 1;
    return (x > y) - (x < y);
}

static const ridge_hlo_step **rank(ridge_ctx *cx, const ridge_hlo_partition *p)
{
    const ridge_hlo_step **all =
        ridge_new(ridge_ctx_arena(cx), const ridge_hlo_step *, (size_t)p->n_steps + 1);
    for (int k = 0; all && k < p->n_steps; k++)
        all[k] = &p->steps[k];
    if (all)
        qsort(all, (size_t)p->n_steps, sizeof *all, heavier);
    return all;
}

static void add_steps(ridge_ctx *cx, const ridge_hlo_view *view, ridge_sections *out)
{
    const ridge_hlo_partition *p = view->partition;
    const ridge_hlo_step **all = rank(cx, p);
    ridge_table *t = ridge__section_add(
        cx, out, "Collectives that this takes",
        "collective|over|array|from|to|wanted by|>line|>times|>sent by a device");
    for (int k = 0; all && k < p->n_steps && k < view->top; k++) {
        const ridge_hlo_step *s = all[k];
        ridge_table_cell(t, ridge_step_kind_text(s->kind));
        ridge_table_cell(t, s->axes);
        ridge_table_cell(t, s->array);
        ridge_table_cell(t, s->from);
        ridge_table_cell(t, s->to);
        ridge_table_cell(t, s->why);
        ridge_table_cellf(t, "%d", s->line);
        ridge_table_cell(t, ridge_format_count(s->times).s);
        ridge_table_cell(t, ridge_format_bytes(weight_of(s)).s);
    }
    ridge__section_note(
        out, p->n_steps > view->top
                 ? ridge_sprintf(ridge_ctx_arena(cx),
                                 "Bytes of all times together, those that send most "
                                 "first; %d more: --top N or --json.",
                                 p->n_steps - view->top)
             : p->n_steps > 0 ? "Bytes of all times together."
                              : "None: every operation has what it needs where it is.");
}

static void add_gathered(ridge_ctx *cx, const ridge_hlo_view *view, ridge_sections *out)
{
    const ridge_hlo_partition *p = view->partition;
    if (p->n_gathered == 0)
        return;
    ridge_table *t = ridge__section_add(cx, out, "Gathered for want of a better way",
                                        "why|>line|>array|>times");
    for (int k = 0; k < p->n_gathered && k < view->top; k++) {
        ridge_table_cell(t, p->gathered[k].what);
        ridge_table_cellf(t, "%d", p->gathered[k].line);
        ridge_table_cell(t, ridge_format_bytes(p->gathered[k].bytes).s);
        ridge_table_cell(t, ridge_format_count(p->gathered[k].times).s);
    }
    if (p->n_gathered > view->top)
        ridge__section_note(out, ridge_sprintf(ridge_ctx_arena(cx),
                                               "%d more: --top N or --json.",
                                               p->n_gathered - view->top));
}

void ridge__hlo_add_partition(ridge_ctx *cx, const ridge_hlo_view *view,
                              ridge_sections *out)
{
    add_mesh(cx, view->partition, out);
    add_laid(cx, view, out);
    add_steps(cx, view, out);
    add_gathered(cx, view, out);
}

/* ---- keys -------------------------------------------------------------------------
 */

static void set_laid(ridge_ctx *cx, ridge_json *object, const ridge_hlo_partition *p)
{
    ridge_json *arguments = ridge_json_set_array(cx, object, "arguments");
    ridge_json *results = ridge_json_set_array(cx, object, "results");
    for (int k = 0; k < p->n_laid; k++) {
        const ridge_hlo_laid *l = &p->laid[k];
        ridge_json *o =
            ridge_json_push_object(cx, l->is_argument ? arguments : results);
        ridge_json_set_text(o, "name", l->name);
        ridge_json_set_text(o, "shape", l->shape);
        ridge_json_set_text(o, "sharding", l->sharding);
        ridge_json_set_text(o, "local_shape", l->local_shape);
        ridge_json_set_bool(o, "is_told", l->is_told);
    }
}

static void set_steps(ridge_ctx *cx, ridge_json *object, const ridge_hlo_partition *p)
{
    ridge_json *steps = ridge_json_set_array(cx, object, "collectives");
    for (int k = 0; k < p->n_steps; k++) {
        const ridge_hlo_step *s = &p->steps[k];
        ridge_json *o = ridge_json_push_object(cx, steps);
        ridge_json_set_text(o, "kind", ridge_step_kind_text(s->kind));
        ridge_json_set_text(o, "axes", s->axes);
        ridge_json_set_text(o, "array", s->array);
        ridge_json_set_text(o, "from", s->from);
        ridge_json_set_text(o, "to", s->to);
        ridge_json_set_text(o, "wanted_by", s->why);
        ridge_json_set_text(o, "scope", s->scope);
        ridge_json_set_i64(o, "line", s->line);
        ridge_json_set_double(o, "times", s->times);
        ridge_json_set_double(o, "bytes", s->bytes);
        ridge_json_set_double(o, "sent_bytes", s->sent_bytes);
    }
}

void ridge__hlo_set_partition(ridge_ctx *cx, ridge_json *object,
                              const ridge_hlo_partition *p)
{
    ridge_json *o = ridge_json_set_object(cx, object, "partition");
    ridge_json *mesh = ridge_json_set_object(cx, o, "mesh");
    for (int a = 0; a < p->mesh.n; a++)
        ridge_json_set_i64(mesh, p->mesh.axes[a].name, p->mesh.axes[a].size);
    set_laid(cx, o, p);
    set_steps(cx, o, p);
    ridge_json *gathered = ridge_json_set_array(cx, o, "gathered");
    for (int k = 0; k < p->n_gathered; k++) {
        ridge_json *g = ridge_json_push_object(cx, gathered);
        ridge_json_set_text(g, "why", p->gathered[k].what);
        ridge_json_set_i64(g, "line", p->gathered[k].line);
        ridge_json_set_double(g, "bytes", p->gathered[k].bytes);
        ridge_json_set_double(g, "times", p->gathered[k].times);
    }
}
