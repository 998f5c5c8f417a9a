/* A collective as JSON: the keys of `ridge collective --json`. */
#include "ridge/report.h"

static void set_axis(ridge_json *object, const char *key,
                     const ridge_collective_study *study, int axis)
{
    ridge_json_set_text(object, key, axis < 0 ? NULL : study->slice->axes[axis].name);
}

static void set_cost(ridge_json *object, const ridge_collective_study *study,
                     const ridge_collective_cost *cost)
{
    ridge_json_set_text(object, "algorithm", ridge_algorithm_text(cost->algorithm));
    ridge_json_set_double(object, "time_s", cost->expected_s);
    ridge_json_set_double(object, "bound_time_s", cost->bound_s);
    ridge_json_set_double(object, "bus_bytes_per_s", cost->bus_bytes_per_s);
    ridge_json_set_text(object, "bound_by", ridge_bound_text(cost->bound_by));
    set_axis(object, "slowest_axis", study, cost->slowest_axis);
}

static void set_algorithms(ridge_ctx *cx, const ridge_collective_cost *cost,
                           ridge_json *object)
{
    ridge_json *rows = ridge_json_set_array(cx, object, "algorithms");
    for (int i = 0; i < cost->n_algorithms; i++) {
        const ridge_algorithm_cost *a = &cost->algorithms[i];
        ridge_json *row = ridge_json_push_object(cx, rows);
        ridge_json_set_text(row, "algorithm", ridge_algorithm_text(a->algorithm));
        ridge_json_set_double(row, "time_s", a->expected_s);
        ridge_json_set_double(row, "latency_s", a->latency_s);
        ridge_json_set_double(row, "bandwidth_s", a->bandwidth_s);
        ridge_json_set_double(row, "bound_time_s", a->bound_s);
    }
}

static void set_levels(ridge_ctx *cx, const ridge_collective_study *study,
                       ridge_json *object)
{
    ridge_json *rows = ridge_json_set_array(cx, object, "levels");
    for (int i = 0; i < study->group.n_spans; i++) {
        const ridge_span *span = &study->group.spans[i];
        const ridge_axis *axis = &study->slice->axes[span->axis];
        ridge_json *row = ridge_json_push_object(cx, rows);
        ridge_json_set_text(row, "axis", axis->name);
        ridge_json_set_text(row, "kind", ridge_axis_kind_text(axis->kind));
        ridge_json_set_i64(row, "ranks", span->size);
        ridge_json_set_i64(row, "stride", span->stride);
        ridge_json_set_bool(row, "has_wraparound",
                            ridge_span_has_wraparound(study->slice, span));
        ridge_json_set_double(row, "bytes_per_s", axis->bytes_per_s);
        ridge_json_set_double(row, "latency_s", axis->latency_s);
        const ridge_collective_level *level = &study->levels[i];
        ridge_json_set_positive(row, "unit_chips", level->unit_chips);
        ridge_json_set_positive(row, "unit_bytes_per_s", level->unit_bytes_per_s);
        ridge_json_set_double(row, "unit_sent_bytes", level->unit_sent_bytes);
        ridge_json_set_double(row, "bound_time_s", level->bound_s);
    }
}

void ridge_collective_write_json(ridge_ctx *cx, const ridge_collective_study *study,
                                 ridge_json *object)
{
    ridge_json_set_text(object, "kind", ridge_collective_text(study->kind));
    ridge_json_set_double(object, "bytes", study->bytes);
    ridge_json_set_i64(object, "ranks", study->group.ranks);
    ridge_json_set_text(object, "slice", study->slice->text);
    set_cost(object, study, &study->cost);
    ridge_json_set_double(object, "algorithm_bytes_per_s",
                          study->algorithm_bytes_per_s);
    ridge_json_set_double(object, "bound_bus_bytes_per_s",
                          study->bound_bus_bytes_per_s);
    ridge_json_set_double(object, "critical_bytes", study->critical_bytes);
    ridge_json_set_double(object, "bound_critical_bytes", study->bound_critical_bytes);
    ridge_json_set_double(object, "ridge_flops_per_byte", study->ridge_flops_per_byte);
    set_algorithms(cx, &study->cost, object);
    set_levels(cx, study, object);
    if (study->n_points == 0)
        return;
    ridge_json *sweep = ridge_json_set_array(cx, object, "sweep");
    for (size_t i = 0; i < study->n_points; i++) {
        ridge_json *point = ridge_json_push_object(cx, sweep);
        ridge_json_set_double(point, "bytes", study->points[i].bytes);
        set_cost(point, study, &study->points[i].cost);
    }
}
