/* A program partitioned by rules, on the placement where it is fastest. */
#include "ridge/cost_partition.h"
#include "ridge/cost_strategy.h"

static ridge_status play(ridge_ctx *cx, const ridge_partition_request *request,
                         ridge_partition_study *study)
{
    const ridge_overlap overlap = {.has_prefetch = request->has_overlap,
                                   .has_trailing = request->has_overlap,
                                   .has_collective_matmul = request->has_overlap,
                                   .has_ring_attention = request->has_overlap};
    return ridge_timeline_build(cx, study->partition, &study->laid, request->compute,
                                &overlap, &study->timeline);
}

static ridge_status find_placement(ridge_ctx *cx,
                                   const ridge_partition_request *request,
                                   ridge_partition_study *study)
{
    const ridge_mesh *mesh = &study->partition->mesh;
    const int64_t count = ridge_mesh_place_count(mesh, study->slice);
    ridge_partition_study best = *study;
    for (int64_t i = 0; i < count; i++) {
        if (!ridge_mesh_place_try(mesh, study->slice, i, &study->laid))
            continue;
        study->placements++;
        RIDGE_TRY(play(cx, request, study));
        if (best.placements == 0 ||
            (float)study->timeline.total_s < (float)best.timeline.total_s)
            best = *study;
    }
    if (study->placements == 0) {
        return ridge_fail(cx, RIDGE_E_ARG, "the mesh does not lie on the axes of %s",
                          study->slice->text);
    }
    best.placements = study->placements;
    *study = best;
    return RIDGE_OK;
}

static ridge_status price(ridge_ctx *cx, const ridge_partition_request *request,
                          ridge_partition_study *study)
{
    const ridge_mesh *mesh = &study->partition->mesh;
    RIDGE_TRY(ridge_mesh_place_check(cx, mesh, study->slice));
    if (request->place) {
        study->placements = 1;
        RIDGE_TRY(ridge_mesh_place_parse(cx, request->place, mesh, study->slice,
                                         &study->laid));
        RIDGE_TRY(play(cx, request, study));
    } else {
        RIDGE_TRY(find_placement(cx, request, study));
    }
    ridge_operation_time *times =
        ridge_new(ridge_ctx_arena(cx), ridge_operation_time,
                  (size_t)(study->partition->program->n_ops + 1));
    if (!times)
        return ridge_fail_nomem(cx);
    RIDGE_TRY(ridge_operation_times(cx, study->partition, &study->laid,
                                    request->compute, times));
    study->times = times;
    return RIDGE_OK;
}

ridge_status ridge_partition_study_find(ridge_ctx *cx,
                                        const ridge_partition_request *request,
                                        ridge_partition_study *out)
{
    ridge_partition_study study = {.slice = request->slice,
                                   .has_overlap = request->has_overlap};
    RIDGE_TRY(ridge_partition_build(cx, request->program, request->mesh,
                                    request->rules.rules, request->rules.n, NULL, NULL,
                                    &study.partition));
    if (study.slice)
        RIDGE_TRY(price(cx, request, &study));
    *out = study;
    return RIDGE_OK;
}

static ridge_measured measured_of(const ridge_program *p, const ridge_operation *op)
{
    if (op->code == RIDGE_OPCODE_COLLECTIVE)
        return ridge_measured_of_collective((ridge_collective)op->collective);
    if (op->code == RIDGE_OPCODE_SEND)
        return RIDGE_MEASURED_SEND_RECV;
    if (op->code == RIDGE_OPCODE_ATTENTION)
        return p->phase == RIDGE_PHASE_DECODE ? RIDGE_MEASURED_ATTENTION_DECODE
                                              : RIDGE_MEASURED_ATTENTION_PREFILL;
    if (op->code != RIDGE_OPCODE_EINSUM)
        return RIDGE_MEASURED_STREAM;
    return op->part == RIDGE_PART_EXPERTS ? RIDGE_MEASURED_EXPERTS
                                          : RIDGE_MEASURED_MATMUL;
}

ridge_range ridge_partition_study_range(const ridge_partition_study *study)
{
    const ridge_program *p = study->partition->program;
    ridge_range sum = {0, 0};
    double expected_s = 0;
    for (int b = 0; b < p->n_blocks; b++) {
        const ridge_block *block = &p->blocks[b];
        for (int i = block->first_op; i < block->first_op + block->n_ops; i++) {
            const ridge_operation_time *t = &study->times[i];
            const ridge_time one = {(double)block->repeat * t->bound_s,
                                    (double)block->repeat * t->expected_s};
            sum = ridge_range_sum(sum, ridge_range_of(measured_of(p, &p->ops[i]), one));
            expected_s += one.expected_s;
        }
    }
    if (expected_s <= 0)
        return sum;
    const double share = study->timeline.total_s / expected_s;
    return (ridge_range){sum.low_s * share, sum.high_s * share};
}
