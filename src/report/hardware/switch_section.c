#include "switch_section.h"

#include "ridge/hardware_switches.h"

static double per_node(const ridge_switch_plan *plan, const ridge_switch_tier *tier)
{
    return tier->bytes_per_s / (double)plan->nodes;
}

static void add_row(const ridge_switch_plan *plan, const ridge_switch_tier *tier,
                    ridge_table *t)
{
    const double ports = (double)tier->kind->ports * tier->kind->port_bytes_per_s;
    ridge_table_cell(t, tier->name);
    ridge_table_cell(t, tier->kind->name);
    ridge_table_cellf(t, "%lld", (long long)tier->kind->ports);
    ridge_table_cell(t, ridge_format_si(ports, "B/s").s);
    ridge_table_cell(t, ridge_format_exact(tier->switches).s);
    ridge_table_cell(t, ridge_format_exact(tier->cables).s);
    ridge_table_cell(t, ridge_format_si(tier->bytes_per_s, "B/s").s);
    ridge_table_cell(t, ridge_format_si(per_node(plan, tier), "B/s").s);
}

static const char *note_of(ridge_ctx *cx, const ridge_switch_plan *plan)
{
    ridge_buf b;
    ridge_buf_init(&b, ridge_ctx_arena(cx));
    if (plan->is_beyond) {
        ridge_buf_printf(&b,
                         "More NICs than a fat tree of three tiers of these switches "
                         "reaches.");
        return ridge_buf_text(&b);
    }
    if (plan->n > 0 && plan->tiers[plan->n - 1].is_derived) {
        ridge_buf_printf(&b,
                         "Between nodes: the fewest switches that carry what the "
                         "network states, as many cables from a leaf to each spine. ");
        if (plan->taper > 1)
            ridge_buf_printf(&b, "Above the leaves %.3g : 1. ", plan->taper);
        else
            ridge_buf_printf(&b,
                             "Full bisection: each tier carries all that nodes send. ");
    }
    ridge_buf_printf(&b,
                     "Cables: links to what lies below; rates: one way, over them.");
    return ridge_buf_text(&b);
}

void ridge__switches_add(ridge_ctx *cx, const ridge_slice *slice, ridge_sections *out)
{
    ridge_switch_plan plan;
    ridge_slice_switches(slice, &plan);
    if (plan.n == 0 && !plan.is_beyond)
        return;
    const char *title =
        ridge_sprintf(ridge_ctx_arena(cx), "Switches of %s", slice->text);
    ridge_table *t = ridge__section_add(cx, out, title ? title : "Switches",
                                        "tier|switch|>ports|>a switch, one way|"
                                        ">switches|>cables|>all cables|>a node");
    for (int i = 0; i < plan.n; i++)
        add_row(&plan, &plan.tiers[i], t);
    ridge__section_note(out, note_of(cx, &plan));
}

void ridge__switches_set(ridge_ctx *cx, const ridge_slice *slice, ridge_json *row)
{
    ridge_switch_plan plan;
    ridge_slice_switches(slice, &plan);
    if (plan.n == 0)
        return;
    ridge_json_set_double(row, "fabric_taper", plan.taper);
    ridge_json *tiers = ridge_json_set_array(cx, row, "switches");
    for (int i = 0; i < plan.n; i++) {
        const ridge_switch_tier *tier = &plan.tiers[i];
        ridge_json *object = ridge_json_push_object(cx, tiers);
        ridge_json_set_text(object, "tier", tier->name);
        ridge_json_set_text(object, "switch", tier->kind->name);
        ridge_json_set_i64(object, "ports", tier->kind->ports);
        ridge_json_set_double(object, "port_bytes_per_s", tier->kind->port_bytes_per_s);
        ridge_json_set_i64(object, "switches", tier->switches);
        ridge_json_set_i64(object, "cables", tier->cables);
        ridge_json_set_double(object, "bytes_per_s", tier->bytes_per_s);
        ridge_json_set_double(object, "bytes_per_s_per_node", per_node(&plan, tier));
    }
}
