/* A program partitioned by rules, for people: each operation with how its tensors lie,
 * and its time. The JSON is in chain_json.c. */
#include "laid_text.h"
#include "partition_proof.h"

#include "ridge/report_shard.h"

static const char *title_of(ridge_ctx *cx, const ridge_partition_study *study)
{
    const ridge_partition *p = study->partition;
    return ridge_sprintf(ridge_ctx_arena(cx), "%s (%s) with %s%s%s", p->program->name,
                         ridge_phase_text(p->program->phase),
                         ridge__mesh_text(cx, &p->mesh), study->slice ? " on " : "",
                         study->slice ? study->slice->text : "");
}

static int count_collectives(const ridge_program *program)
{
    int n = 0;
    for (int i = 0; i < program->n_ops; i++)
        n += program->ops[i].code == RIDGE_OPCODE_COLLECTIVE;
    return n;
}

static const char *verdict(ridge_ctx *cx, const ridge_partition_study *study)
{
    const int n = count_collectives(study->partition->program);
    ridge_buf b;
    ridge_buf_init(&b, ridge_ctx_arena(cx));
    ridge_buf_printf(&b, "%d %s put in", n, n == 1 ? "collective" : "collectives");
    if (study->slice) {
        const ridge_range range = ridge_partition_study_range(study);
        ridge_buf_printf(&b, "; %s (range %s to %s), %s",
                         ridge_format_seconds(study->timeline.total_s).s,
                         ridge_format_seconds(range.low_s).s,
                         ridge_format_seconds(range.high_s).s,
                         study->has_overlap ? "with what can be hidden behind the chip"
                                            : "nothing prefetched or cut in chunks");
    }
    ridge_buf_puts(&b, ".");
    return ridge_buf_text(&b);
}

static const char *tensors_text(ridge_ctx *cx, const ridge_partition *p,
                                const int *tensors, int n)
{
    ridge_buf b;
    ridge_buf_init(&b, ridge_ctx_arena(cx));
    for (int i = 0; i < n; i++) {
        ridge_buf_printf(&b, "%s%s", i ? " " : "",
                         ridge__laid_tensor(cx, p->program, &p->mesh, tensors[i],
                                            &p->shardings[tensors[i]]));
    }
    return ridge_buf_text(&b);
}

static const char *code_text(ridge_ctx *cx, const ridge_partition *p,
                             const ridge_operation *op)
{
    ridge_buf b;
    if (op->code == RIDGE_OPCODE_ELEMENTWISE)
        return ridge_function_text(op->function);
    if (op->code != RIDGE_OPCODE_COLLECTIVE)
        return ridge_opcode_text(op->code);
    ridge_buf_init(&b, ridge_ctx_arena(cx));
    ridge_buf_puts(&b, ridge_step_kind_text((ridge_step_kind)op->collective));
    for (int i = 0; i < op->n_axes; i++)
        ridge_buf_printf(&b, "%s%s", i ? "," : "_", p->mesh.axes[op->axes[i]].name);
    return ridge_buf_text(&b);
}

static void add_operation(ridge_ctx *cx, const ridge_partition_study *study, int at,
                          ridge_table *t)
{
    const ridge_partition *p = study->partition;
    const ridge_operation *op = &p->program->ops[at];
    ridge_table_cell(t, tensors_text(cx, p, op->outputs, op->n_outputs));
    ridge_table_cell(t, code_text(cx, p, op));
    ridge_table_cell(t, tensors_text(cx, p, op->inputs, op->n_inputs));
    if (!study->times)
        return;
    ridge_table_cellf(t, "%s", ridge_format_bytes(study->times[at].bytes).s);
    ridge_table_cellf(t, "%s", ridge_format_seconds(study->times[at].expected_s).s);
    ridge_table_cellf(t, "%s", ridge_format_seconds(study->times[at].bound_s).s);
}

static void add_block(ridge_ctx *cx, const ridge_partition_study *study, int at,
                      ridge_sections *out)
{
    const ridge_block *block = &study->partition->program->blocks[at];
    const char *title = ridge_sprintf(ridge_ctx_arena(cx), "Block %s, %s %s",
                                      block->name, ridge_format_exact(block->repeat).s,
                                      block->repeat == 1 ? "time" : "times");
    ridge_table *t = ridge__section_add(
        cx, out, title ? title : "",
        study->slice ? "gives|operation|takes|>bytes|>expected|>bound"
                     : "gives|operation|takes");
    for (int i = 0; i < block->n_ops; i++)
        add_operation(cx, study, block->first_op + i, t);
    if (!study->slice)
        return;
    const ridge_block_time *time = &study->timeline.blocks[at];
    ridge__section_note(
        out, ridge_sprintf(ridge_ctx_arena(cx),
                           "A repetition takes %s: the chip waits %s for the network; "
                           "%s of the network is hidden.",
                           ridge_format_seconds(time->period_s).s,
                           ridge_format_seconds(time->exposed_s).s,
                           ridge_format_seconds(time->hidden_s).s));
}

static void add_conflicts(ridge_ctx *cx, const ridge_partition *p, ridge_sections *out)
{
    if (p->n_conflicts == 0)
        return;
    ridge_table *t = ridge__section_add(cx, out, "Conflicts", "operation|resolved");
    for (int i = 0; i < p->n_conflicts; i++) {
        ridge_table_cell(t, p->program->ops[p->conflicts[i].op].name);
        ridge_table_cell(t, p->conflicts[i].text);
    }
}

enum { SECTIONS_LEFT = 4 }; /* besides those of blocks */

static ridge_sections sections_of(ridge_ctx *cx, const ridge_partition_view *view)
{
    const ridge_partition_study *study = view->study;
    const ridge_program *program = study->partition->program;
    ridge_sections out = {.title = title_of(cx, study), .subtitle = verdict(cx, study)};
    for (int i = 0; i < program->n_blocks; i++) {
        if (out.n + SECTIONS_LEFT < RIDGE_SECTION_MAX)
            add_block(cx, study, i, &out);
    }
    add_conflicts(cx, study->partition, &out);
    if (view->run)
        ridge__partition_proof_add(cx, view, &out);
    if (study->slice) {
        ridge__placement_add(cx, &study->partition->mesh, &study->laid,
                             study->placements, &out);
    }
    return out;
}

void ridge_partition_write_text(ridge_ctx *cx, const ridge_partition_view *view,
                                bool with_colour, ridge_buf *out)
{
    const ridge_sections sections = sections_of(cx, view);
    ridge__sections_write_text(&sections, with_colour, out);
}

void ridge_partition_write_html(ridge_ctx *cx, const ridge_partition_view *view,
                                ridge_buf *out)
{
    const ridge_sections sections = sections_of(cx, view);
    ridge__page_write(&sections, out);
}
