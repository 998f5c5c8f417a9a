/*
 * A partitioned program on ranks against the whole one on one rank, from the same
 * seeded numbers: every tensor that an operation makes is compared.
 */
#include "held_check.h"

#include "ridge/execute_shard.h"

#include <math.h>
#include <string.h>

enum { FREQUENCIES_MOST = 1024 };

/* Of each tensor's largest number; bf16 has 8 bits. */
static const double TOLERANCE_FP32 = 1e-3, TOLERANCE_BF16 = 5e-2;

/* What all ranks share. */
typedef struct program_proof {
    const ridge_partition_run *run;
    const ridge_partition *whole; /* on one rank */
    double ***truth;              /* [n_tensors][repetitions]: whole arrays, or NULL */
    int64_t *id_limit;            /* [n_tensors]: ids are below it; 0: no ids */
    float frequencies[FREQUENCIES_MOST]; /* of rotary */
    int64_t position;                    /* of the first token: what caches hold */
    ridge_partition_result *result;
    double tolerance;
} program_proof;

/* One rank's run of either program. */
typedef struct rank_pass {
    ridge__checker k;
    program_proof *proof;
    ridge__flight flight, step; /* of the microbatch; of the optimizer's lists */
} rank_pass;

/* ---- seeded numbers ----------------------------------------------------------------
 */

static uint64_t mixed(uint64_t z)
{
    z += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

typedef struct seeded_array {
    uint64_t at;
    int64_t id_limit;
    bool is_variance; /* second moments of an optimizer: never negative */
    bool is_moment;
} seeded_array;

static double number_at(void *payload, int64_t place)
{
    const seeded_array *s = payload;
    const uint64_t bits = mixed(s->at + (uint64_t)place);
    if (s->id_limit > 0)
        return (double)(bits % (uint64_t)s->id_limit);
    if (s->is_variance)
        return 0x1p-5;
    if (s->is_moment)
        return 0.0;
    /* a multiple of 1/256 within a half: in every format */
    return ((double)(bits % 255) - 127.0) / 256.0;
}

static ridge_status fill(rank_pass *p, int tensor, int repetition,
                         const ridge__value *v)
{
    const ridge_tensor *t = &p->proof->run->program->tensors[tensor];
    const bool is_state = t->role == RIDGE_ROLE_STATE;
    const char first = ridge_tensor_base(t)[0];
    seeded_array s = {.at = mixed(mixed(p->proof->run->seed + (uint64_t)tensor) +
                                  (uint64_t)repetition),
                      .id_limit = p->proof->id_limit[tensor],
                      .is_variance = is_state && first == 'v',
                      .is_moment = is_state && first == 'm' &&
                                   strncmp(ridge_tensor_base(t), "master", 6) != 0};
    return ridge__held_fill(&p->k, tensor, v, s.id_limit > 0, number_at, &s);
}

/* Tensors of the program given stand first, with the same numbers, in a partitioned
 * one; what has no maker is given. */
static ridge_status fill_all(rank_pass *p)
{
    ridge__machine *m = p->k.m;
    const ridge_program *program = p->proof->run->program;
    for (int v = 0; v < m->unrolled.n_values; v++) {
        const int t = m->unrolled.tensor_of[v];
        if (t < 0 || t >= program->n_tensors)
            continue;
        const bool is_fixed = m->unrolled.kind[v] == RIDGE__VALUE_FIXED;
        if (!is_fixed && ridge__tensor_maker(program, t) >= 0)
            continue;
        ridge__value *value = ridge__machine_value(m, &p->flight, v);
        RIDGE_TRY(ridge__value_make(m, value, t));
        RIDGE_TRY(fill(p, t, m->unrolled.repetition_of[v], value));
    }
    return RIDGE_OK;
}

/* ---- one pass -----------------------------------------------------------------------
 */

/* Everything stays, to be compared. */
static void keep_all(ridge__machine *m)
{
    for (int l = 0; l < RIDGE__LIST_COUNT; l++) {
        for (int i = 0; i < m->unrolled.lists[l].n; i++)
            m->unrolled.lists[l].at[i].n_free = 0;
    }
}

static ridge_status run_lists(rank_pass *p, double *seconds)
{
    ridge__machine *m = p->k.m;
    RIDGE_TRY(ridge__machine_begin(m));
    RIDGE_TRY(ridge_barrier(p->k.cx, p->k.world));
    const double start_s = ridge_clock_s();
    for (int l = 0; l < RIDGE__LIST_COUNT; l++) {
        RIDGE_TRY(
            ridge__machine_run(m, l < (int)RIDGE__LIST_REDUCE ? &p->flight : &p->step,
                               (ridge__list_kind)l));
    }
    RIDGE_TRY(m->device->ops->finish(m->device));
    *seconds = ridge_clock_s() - start_s;
    return RIDGE_OK;
}

static ridge__machine_options options_of(const program_proof *proof)
{
    return (ridge__machine_options){
        .numbers = {.norm_epsilon = 1e-6F, .rotations = {{proof->frequencies, 1.0F}}},
        .gradient = RIDGE_DTYPE_FP32};
}

static ridge_status open_pass(rank_pass *p, const ridge_partition *partition,
                              ridge__device *device)
{
    const ridge__machine_options options = options_of(p->proof);
    RIDGE_TRY(
        ridge__machine_open(p->k.cx, device, p->k.world, partition, &options, &p->k.m));
    p->k.m->position = p->proof->position;
    p->k.m->optimizer = (ridge__optimizer){.rate = 1e-3F,
                                           .beta1 = 0.9F,
                                           .beta2 = 0.95F,
                                           .epsilon = 1e-8F,
                                           .correction1 = 1.0F,
                                           .correction2 = 1.0F,
                                           .scale = 1.0F};
    keep_all(p->k.m);
    RIDGE_TRY(ridge__flight_open(p->k.m, &p->flight));
    RIDGE_TRY(ridge__flight_open(p->k.m, &p->step));
    return fill_all(p);
}

typedef ridge_status after_fn(rank_pass *p, double seconds);

static ridge_status run_pass(ridge_ctx *cx, ridge_comm *world, program_proof *proof,
                             const ridge_partition *partition, after_fn *after)
{
    rank_pass p = {.k = {.cx = cx, .world = world}, .proof = proof};
    const int given = proof->run->threads;
    const int threads = ridge_processor_count() / ridge_comm_size(world);
    ridge__device *device;
    double seconds = 0.0;
    if (ridge_comm_engine(world) == RIDGE_ENGINE_CUDA) {
        RIDGE_TRY(ridge__device_open_cuda(cx, ridge_comm_rank(world), &device));
    } else {
        RIDGE_TRY(ridge__device_open_cpu(cx,
                                         given > 0     ? given
                                         : threads > 0 ? threads
                                                       : 1,
                                         &device));
    }
    ridge_status st = open_pass(&p, partition, device);
    st = st == RIDGE_OK ? run_lists(&p, &seconds) : st;
    st = st == RIDGE_OK ? after(&p, seconds) : st;
    if (st != RIDGE_OK)
        ridge_comm_abandon(world);
    ridge__device_close(device);
    return st;
}

/* The value of a tensor's repetition, if it is compared: made by an operation, no rows
 * of experts. */
static const ridge__value *made(rank_pass *p, int tensor, int64_t repetition)
{
    ridge__machine *m = p->k.m;
    const ridge_program *program = p->proof->run->program;
    const int maker = ridge__tensor_maker(program, tensor);
    if (maker < 0 || m->parts[tensor].is_rows ||
        program->ops[maker].code == RIDGE_OPCODE_SEND)
        return NULL;
    const int v = m->unrolled.first_value[tensor] + (int)repetition;
    const ridge__value *value = ridge__machine_value(m, &p->flight, v);
    return value->p ? value : ridge__machine_value(m, &p->step, v);
}

/* ---- the whole program --------------------------------------------------------------
 */

static ridge_status keep_tensor(rank_pass *p, int tensor)
{
    ridge_arena *scratch = ridge_ctx_scratch(p->k.cx);
    const int64_t n = ridge__tensor_repeats(p->proof->run->program, tensor);
    for (int64_t i = 0; i < n; i++) {
        const ridge__value *v = made(p, tensor, i);
        const ridge_mark mark = ridge_arena_mark(scratch);
        double *numbers;
        if (v == NULL || v->p == NULL)
            continue;
        RIDGE_TRY(ridge__held_read(&p->k, v, &numbers));
        memcpy(p->proof->truth[tensor][i], numbers,
               (size_t)v->elements * sizeof *numbers);
        ridge_arena_rewind(scratch, mark);
    }
    return RIDGE_OK;
}

static ridge_status keep_truth(rank_pass *p, double seconds)
{
    p->proof->result->whole_s = seconds;
    for (int t = 0; t < p->proof->run->program->n_tensors; t++) {
        if (p->proof->truth[t])
            RIDGE_TRY(keep_tensor(p, t));
    }
    return RIDGE_OK;
}

static ridge_status run_whole(ridge_ctx *cx, ridge_comm *world, void *payload)
{
    program_proof *proof = payload;
    return run_pass(cx, world, proof, proof->whole, keep_truth);
}

/* ---- the partitioned one ------------------------------------------------------------
 */

static double largest_of(const double *numbers, int64_t n)
{
    double most = 1e-6;
    for (int64_t i = 0; i < n; i++)
        most = fmax(most, fabs(numbers[i]));
    return most;
}

static ridge_status check_tensor(rank_pass *p, int tensor, ridge_tensor_check *out)
{
    const ridge_program *program = p->proof->run->program;
    const int64_t n = ridge__tensor_repeats(program, tensor);
    const int64_t elements =
        (int64_t)ridge_tensor_elements(program, &program->tensors[tensor]);
    float seen[3] = {0.0F, 0.0F, 0.0F};
    for (int64_t i = 0; i < n; i++) {
        const double *whole = p->proof->truth[tensor][i];
        const ridge__value *v = made(p, tensor, i);
        ridge__held_check h;
        if (v->p == NULL) {
            return ridge_fail(p->k.cx, RIDGE_E_INTERNAL, "%s has not been made",
                              program->tensors[tensor].name);
        }
        RIDGE_TRY(ridge__held_compare(&p->k, tensor, v, whole, &h));
        seen[0] = fmaxf(seen[0], (float)h.error);
        seen[1] = fmaxf(seen[1], (float)(h.error / largest_of(whole, elements)));
        seen[2] = h.is_unlike ? 1.0F : seen[2];
    }
    RIDGE_TRY(ridge__ranks_agree(&p->k, seen, 3));
    *out = (ridge_tensor_check){.tensor = tensor,
                                .max_abs_error = (double)seen[0],
                                .max_rel_error = (double)seen[1],
                                .has_equal_replicas = !(seen[2] > 0.0F)};
    return RIDGE_OK;
}

static void note(program_proof *proof, int place, const ridge_tensor_check *check)
{
    ridge_partition_result *r = proof->result;
    r->checks[place] = *check;
    r->max_abs_error = fmax(r->max_abs_error, check->max_abs_error);
    r->max_rel_error = fmax(r->max_rel_error, check->max_rel_error);
    r->is_right = r->max_rel_error <= proof->tolerance;
}

static ridge_status check_all(rank_pass *p, double seconds)
{
    program_proof *proof = p->proof;
    const bool speaks = ridge_comm_rank(p->k.world) == 0 ||
                        ridge_comm_engine(p->k.world) == RIDGE_ENGINE_MPI;
    float slowest = (float)seconds;
    int place = 0;
    RIDGE_TRY(ridge__ranks_agree(&p->k, &slowest, 1));
    for (int t = 0; t < proof->run->program->n_tensors; t++) {
        ridge_tensor_check check = {.tensor = t};
        if (!proof->truth[t])
            continue;
        RIDGE_TRY(check_tensor(p, t, &check));
        if (speaks)
            note(proof, place++, &check);
    }
    if (speaks)
        proof->result->measured_s = (double)slowest;
    return RIDGE_OK;
}

static ridge_status run_partitioned(ridge_ctx *cx, ridge_comm *world, void *payload)
{
    program_proof *proof = payload;
    return run_pass(cx, world, proof, proof->run->partition, check_all);
}

/* ---- what the program asks for ------------------------------------------------------
 */

/* Ids index a table's first dim, labels the last of the logits. */
static void find_ids(program_proof *proof)
{
    const ridge_program *p = proof->run->program;
    for (int i = 0; i < p->n_ops; i++) {
        const ridge_operation *op = &p->ops[i];
        if (op->is_backward)
            continue;
        const ridge_tensor *t = &p->tensors[op->inputs[0]];
        if (op->code == RIDGE_OPCODE_GATHER)
            proof->id_limit[op->inputs[1]] = p->dims[t->dims[0]].size;
        if (op->code == RIDGE_OPCODE_LOSS)
            proof->id_limit[op->inputs[1]] = p->dims[t->dims[t->n_dims - 1]].size;
    }
}

/* Rotary turns all heads alike: of one length. */
static ridge_status find_frequencies(ridge_ctx *cx, program_proof *proof)
{
    const ridge_program *p = proof->run->program;
    int64_t known = 0;
    for (int i = 0; i < p->n_ops; i++) {
        const ridge_operation *op = &p->ops[i];
        if (op->code != RIDGE_OPCODE_ELEMENTWISE ||
            op->function != RIDGE_FUNCTION_ROTARY)
            continue;
        const ridge_tensor *t = &p->tensors[op->outputs[0]];
        const int64_t h = p->dims[t->dims[t->n_dims - 1]].size;
        if ((known != 0 && h != known) || h / 2 > FREQUENCIES_MOST) {
            return ridge_fail(cx, RIDGE_E_ARG,
                              "%s turns %lld numbers: one length of heads, at most "
                              "%d, can be run",
                              op->name, (long long)h, 2 * FREQUENCIES_MOST);
        }
        known = h;
        for (int64_t k = 0; k < h / 2; k++)
            proof->frequencies[k] = (float)pow(10000.0, -2.0 * (double)k / (double)h);
    }
    return RIDGE_OK;
}

/* In decode the cache holds what comes before the query. */
static void find_position(program_proof *proof)
{
    const ridge_program *p = proof->run->program;
    ridge_attention_shape s;
    for (int i = 0; i < p->n_ops && p->phase == RIDGE_PHASE_DECODE; i++) {
        if (!ridge_attention_shape_of(p, &p->ops[i], &s) || s.s == s.t)
            continue;
        proof->position = p->dims[s.s].size - p->dims[s.t].size;
        return;
    }
}

/* ---- room ---------------------------------------------------------------------------
 */

static ridge_status room_for_tensor(ridge_ctx *cx, program_proof *proof, int tensor)
{
    ridge_arena *arena = ridge_ctx_arena(cx);
    const ridge_program *p = proof->run->program;
    const int maker = ridge__tensor_maker(p, tensor);
    if (maker < 0 || ridge__tensor_is_rows(p, tensor))
        return RIDGE_OK;
    const size_t n = (size_t)ridge__tensor_repeats(p, tensor);
    const double elements = ridge_tensor_elements(p, &p->tensors[tensor]);
    double **all = ridge_new(arena, double *, n);
    if (!all || elements > 0x1p40)
        return ridge_fail_nomem(cx);
    for (size_t i = 0; i < n; i++) {
        all[i] = ridge_new(arena, double, (size_t)elements);
        if (!all[i])
            return ridge_fail_nomem(cx);
    }
    proof->truth[tensor] = all;
    proof->result->n++;
    return RIDGE_OK;
}

static ridge_status open_proof(ridge_ctx *cx, program_proof *proof)
{
    const ridge_program *p = proof->run->program;
    ridge_arena *arena = ridge_ctx_arena(cx);
    const size_t n = (size_t)p->n_tensors + 1;
    const ridge_mesh single = {.n = 0};
    proof->truth = ridge_new(arena, double **, n);
    proof->id_limit = ridge_new(arena, int64_t, n);
    proof->result->checks = ridge_new(arena, ridge_tensor_check, n);
    if (!proof->truth || !proof->id_limit || !proof->result->checks)
        return ridge_fail_nomem(cx);
    proof->tolerance = TOLERANCE_FP32;
    for (int t = 0; t < p->n_tensors; t++) {
        if (p->tensors[t].dtype == RIDGE_DTYPE_BF16)
            proof->tolerance = TOLERANCE_BF16;
        RIDGE_TRY(room_for_tensor(cx, proof, t));
    }
    find_ids(proof);
    find_position(proof);
    RIDGE_TRY(find_frequencies(cx, proof));
    return ridge_partition_build(cx, p, &single, NULL, 0, NULL, NULL, &proof->whole);
}

static ridge_status check_run(ridge_ctx *cx, const ridge_partition_run *run)
{
    const int64_t ranks = ridge_mesh_size(&run->partition->mesh);
    for (int i = 0; i < run->program->n_ops; i++) {
        if (run->program->ops[i].code == RIDGE_OPCODE_SEND) {
            return ridge_fail(cx, RIDGE_E_ARG,
                              "%s sends to another stage: run the program whole",
                              run->program->ops[i].name);
        }
    }
    if (ranks != run->ranks.ranks) {
        return ridge_fail(cx, RIDGE_E_ARG,
                          "a mesh of %lld runs on as many ranks, not %d",
                          (long long)ranks, run->ranks.ranks);
    }
    return ridge__machine_check(cx, NULL, run->partition);
}

ridge_status ridge_partition_run_check(ridge_ctx *cx, const ridge_partition_run *run,
                                       ridge_partition_result *out)
{
    const ridge_ranks one = {
        .engine = RIDGE_ENGINE_THREADS, .ranks = 1, .timeout_s = run->ranks.timeout_s};
    ridge_partition_result result = {.is_right = true};
    program_proof *proof = ridge_new(ridge_ctx_arena(cx), program_proof, 1);
    if (proof == NULL)
        return ridge_fail_nomem(cx);
    *proof = (program_proof){.run = run, .result = &result};
    RIDGE_TRY(check_run(cx, run));
    RIDGE_TRY(open_proof(cx, proof));
    RIDGE_TRY(ridge_ranks_run(cx, &one, run_whole, proof));
    RIDGE_TRY(ridge_ranks_run(cx, &run->ranks, run_partitioned, proof));
    *out = result;
    return RIDGE_OK;
}
