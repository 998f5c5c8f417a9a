/*
 * Tiny transformers, dense and with experts, a whole optimizer step on real ranks:
 * under every way to parallelise and every remat policy each weight, moment and loss is
 * what the simulated machine computes in double precision on one rank.
 */
#include "instruction.h"
#include "machine.h"
#include "mesh_machine.h"
#include "model_fixture.h"
#include "ring_attention.h"
#include "seeded.h"

#include <math.h>
#include <string.h>

enum { ELEMENTS_MOST = 1 << 15, SEQUENCES = 24, TOKENS = 4 };

/* A way, as degrees. */
typedef struct way {
    const char *name;
    ridge_parallelism degrees;
    bool is_ring;
} way;

/* clang-format off */
static const way WAYS[] = {
    {"one",          {.dp = 1, .fsdp = 1, .ep = 1, .cp = 1, .tp = 1}, false},
    {"dp",           {.dp = 4, .fsdp = 1, .ep = 1, .cp = 1, .tp = 1}, false},
    {"tp, vocab",    {.dp = 1, .fsdp = 1, .ep = 1, .cp = 1, .tp = 2, .is_vocab_parallel = true}, false},
    {"tp 3",         {.dp = 1, .fsdp = 1, .ep = 1, .cp = 1, .tp = 3, .is_vocab_parallel = true}, false},
    {"tp, sp, vocab", {.dp = 2, .fsdp = 1, .ep = 1, .cp = 1, .tp = 4, .is_sequence_parallel = true,
                       .is_vocab_parallel = true}, false},
    {"zero 1",       {.dp = 2, .fsdp = 4, .ep = 1, .cp = 1, .tp = 1, .zero_stage = 1}, false},
    {"zero 2",       {.dp = 1, .fsdp = 4, .ep = 1, .cp = 1, .tp = 1, .zero_stage = 2}, false},
    {"zero 3",       {.dp = 2, .fsdp = 3, .ep = 1, .cp = 1, .tp = 1, .zero_stage = 3}, false},
    {"fsdp, tp",     {.dp = 1, .fsdp = 4, .ep = 1, .cp = 1, .tp = 2, .zero_stage = 3,
                      .is_vocab_parallel = true}, false},
    {"cp gather",    {.dp = 1, .fsdp = 2, .ep = 1, .cp = 4, .tp = 1, .zero_stage = 3}, false},
    {"cp ring",      {.dp = 1, .fsdp = 1, .ep = 1, .cp = 4, .tp = 1}, true},
    {"cp ring, tp",  {.dp = 1, .fsdp = 2, .ep = 1, .cp = 2, .tp = 2, .zero_stage = 3,
                      .is_sequence_parallel = true}, true},
    {"cp exchange",  {.dp = 2, .fsdp = 1, .ep = 1, .cp = 2, .tp = 1,
                      .context = RIDGE_CONTEXT_ALL_TO_ALL}, false},
    {"cp exchange, tp", {.dp = 1, .fsdp = 1, .ep = 1, .cp = 2, .tp = 2,
                         .is_sequence_parallel = true, .context = RIDGE_CONTEXT_ALL_TO_ALL}, false},
    {"ep",           {.dp = 2, .fsdp = 1, .ep = 4, .cp = 1, .tp = 1}, false},
    {"ep, tp",       {.dp = 1, .fsdp = 1, .ep = 4, .cp = 1, .tp = 2}, false},
    {"experts over tp", {.dp = 1, .fsdp = 1, .ep = 2, .cp = 1, .tp = 2,
                         .is_sequence_parallel = true, .is_expert_whole = true}, false},
    {"ep, tp, sp, fsdp", {.dp = 1, .fsdp = 2, .ep = 2, .cp = 1, .tp = 2, .zero_stage = 3,
                          .is_sequence_parallel = true, .is_vocab_parallel = true}, false},
    {"all",          {.dp = 1, .fsdp = 2, .ep = 2, .cp = 2, .tp = 2, .zero_stage = 3,
                      .is_sequence_parallel = true, .is_vocab_parallel = true}, true},
};

static const char *const MODELS[] = {
    /* grouped queries, three layers alike */
    "{'architectures':['LlamaForCausalLM'],'model_type':'llama','hidden_size':8,"
    "'intermediate_size':10,'num_hidden_layers':3,'num_attention_heads':4,"
    "'num_key_value_heads':2,'head_dim':4,'vocab_size':11,'tie_word_embeddings':false}",
    /* tied embedding, biases, padding nearly everywhere */
    "{'architectures':['Qwen2ForCausalLM'],'model_type':'qwen2','hidden_size':6,"
    "'intermediate_size':7,'num_hidden_layers':2,'num_attention_heads':3,"
    "'num_key_value_heads':1,'vocab_size':7,'tie_word_embeddings':true}",
    /* experts */
    "{'architectures':['MixtralForCausalLM'],'model_type':'mixtral','hidden_size':8,"
    "'intermediate_size':6,'num_hidden_layers':2,'num_attention_heads':4,"
    "'num_key_value_heads':2,'vocab_size':9,'num_local_experts':4,"
    "'num_experts_per_tok':2,'tie_word_embeddings':false}",
    /* latent attention, a dense layer, shared and routed experts */
    "{'architectures':['DeepseekV3ForCausalLM'],'model_type':'deepseek_v3',"
    "'hidden_size':8,'intermediate_size':10,'moe_intermediate_size':6,"
    "'num_hidden_layers':3,'first_k_dense_replace':1,'num_attention_heads':4,"
    "'num_key_value_heads':4,'n_routed_experts':4,'num_experts_per_tok':2,"
    "'n_shared_experts':1,'q_lora_rank':6,'kv_lora_rank':5,'qk_nope_head_dim':4,"
    "'qk_rope_head_dim':2,'v_head_dim':4,'vocab_size':9,'tie_word_embeddings':false}",
    /* norms that subtract the mean, with biases; learned positions */
    "{'architectures':['GPT2LMHeadModel'],'model_type':'gpt2',"
    "'n_embd':8,'n_head':4,'n_layer':2,"
    "'vocab_size':9,'n_positions':8,'n_inner':10}",
};
/* clang-format on */

typedef struct trial {
    const way *way;
    ridge_remat remat;
    bool is_reduced_once, has_weight_list;
    const ridge_program *program;     /* whole */
    const ridge_partition *partition; /* as the ranks run it */
    double ***before, ***after;       /* [tensor][repetition]: whole, in doubles */
} trial;

/* ---- values ------------------------------------------------------------------------
 */

static int64_t elements(const ridge_program *p, int tensor)
{
    int64_t n = 1;
    for (int i = 0; i < p->tensors[tensor].n_dims; i++)
        n *= p->dims[p->tensors[tensor].dims[i]].size;
    assert_true(n <= ELEMENTS_MOST);
    return n;
}

static double draw(seeded *at, const ridge_tensor *t)
{
    const char *base = ridge_tensor_base(t);
    if (strcmp(base, "tokens") == 0 || strcmp(base, "labels") == 0)
        return (double)seeded_pick(at, 0, 6);
    if (t->role == RIDGE_ROLE_STATE) /* updates of small gradients stay small */
        return base[0] == 'v' ? 0.04 : 0.0;
    return (double)(float)((double)seeded_pick(at, -1000, 1000) * 5e-4);
}

static void give_values(mesh_machine *m, const ridge_program *p)
{
    static double values[ELEMENTS_MOST];
    seeded at = 11;
    for (int t = 0; t < p->n_tensors; t++) {
        const ridge_role role = p->tensors[t].role;
        if (role != RIDGE_ROLE_WEIGHT && role != RIDGE_ROLE_STATE &&
            role != RIDGE_ROLE_INPUT)
            continue;
        for (int64_t r = 0; r < mesh_machine_repeats(m, t); r++) {
            for (int64_t i = 0; i < elements(p, t); i++)
                values[i] = draw(&at, &p->tensors[t]);
            mesh_machine_set(m, t, r, values);
        }
    }
}

/* Place in the whole array of local element i; -1: padding. */
static int64_t whole_place(const ridge__tensor_part *part, const ridge_program *p,
                           const ridge_tensor *t, int64_t i)
{
    int64_t at[RIDGE_TENSOR_DIM_MAX], place = 0;
    for (int d = part->n_dims - 1; d >= 0; d--) {
        at[d] = i % part->spans[d].length;
        i /= part->spans[d].length;
        if (at[d] >= part->spans[d].valid)
            return -1;
    }
    for (int d = 0; d < part->n_dims; d++)
        place = place * p->dims[t->dims[d]].size + part->spans[d].start + at[d];
    return place;
}

/* All values of a machine, for ranks to read at once. */
static double ***snapshot(ridge_ctx *cx, mesh_machine *m, const ridge_program *p)
{
    ridge_arena *arena = ridge_ctx_arena(cx);
    double ***all = ridge_new(arena, double **, (size_t)p->n_tensors);
    assert_non_null(all);
    for (int t = 0; t < p->n_tensors; t++) {
        const int64_t repeats = mesh_machine_repeats(m, t);
        all[t] = ridge_new(arena, double *, (size_t)repeats);
        assert_non_null(all[t]);
        for (int64_t r = 0; r < repeats; r++) {
            all[t][r] = ridge_new(arena, double, (size_t)elements(p, t));
            assert_non_null(all[t][r]);
            mesh_machine_get(m, t, r, all[t][r]);
        }
    }
    return all;
}

static const double *whole_of(const ridge__machine *m, const trial *c, double ***all,
                              int tensor, int64_t repetition)
{
    const char *name = m->program->tensors[tensor].name;
    return all[ridge_program_tensor_find(c->program, name)][repetition];
}

static void fill(ridge__machine *m, const trial *c, int tensor, int64_t repetition,
                 ridge__value *v)
{
    const ridge_tensor *t = &m->program->tensors[tensor];
    const double *whole = whole_of(m, c, c->before, tensor, repetition);
    for (int64_t i = 0; i < v->elements; i++) {
        const int64_t at = whole_place(&m->parts[tensor], m->program, t, i);
        const double x = at < 0 ? 0.0 : whole[at];
        if (t->role == RIDGE_ROLE_INPUT)
            ((int32_t *)v->p)[i] = (int32_t)x;
        else
            ((float *)v->p)[i] = (float)x;
    }
}

/* One rank's part against the whole. @return the largest difference, relative to the
 * largest of the tensor */
static double worst(const ridge__machine *m, const trial *c, int tensor,
                    int64_t repetition, const ridge__value *v)
{
    const ridge_tensor *t = &m->program->tensors[tensor];
    const double *whole = whole_of(m, c, c->after, tensor, repetition);
    double size = 1e-6, most = 0.0;
    for (int64_t i = 0; i < elements(m->program, tensor); i++)
        size = fmax(size, fabs(whole[i]));
    /* A bias of keys that do not turn moves all scores of a query alike: its gradient
     * is nothing but rounding. */
    if (strstr(t->name, "wk_bias") != NULL && size <= 1e-6)
        size = 1e-4;
    for (int64_t i = 0; i < v->elements; i++) {
        const int64_t at = whole_place(&m->parts[tensor], m->program, t, i);
        const double got = (double)((const float *)v->p)[i];
        if (at >= 0)
            most = fmax(most, fabs(got - whole[at]) / size);
        if (!isfinite(got))
            most = HUGE_VAL;
    }
    return most;
}

/* ---- a rank ------------------------------------------------------------------------
 */

static void fill_all(ridge__machine *m, const trial *c, ridge__flight *f)
{
    for (int v = 0; v < m->unrolled.n_values; v++) {
        const int t = m->unrolled.tensor_of[v];
        if (t < 0)
            continue;
        const ridge_role role = m->program->tensors[t].role;
        const int64_t r = m->unrolled.repetition_of[v];
        if (m->unrolled.kind[v] == RIDGE__VALUE_FIXED) {
            fill(m, c, t, r, &m->fixed[v]);
        } else if (role == RIDGE_ROLE_INPUT && m->partition->copy_of[t] == t) {
            assert_ok(m->cx, ridge__value_make(m, &f->values[v], t));
            fill(m, c, t, r, &f->values[v]);
        }
    }
}

/* Weights hardly move in a step: their moments are what tells. */
static ridge_status check_values(ridge__machine *m, const trial *c)
{
    for (int v = 0; v < m->unrolled.n_values; v++) {
        const int t = m->unrolled.tensor_of[v];
        if (m->unrolled.kind[v] != RIDGE__VALUE_FIXED)
            continue;
        const double d = worst(m, c, t, m->unrolled.repetition_of[v], &m->fixed[v]);
        if (!(d < 1e-4))
            return ridge_fail(m->cx, RIDGE_E_INTERNAL, "%s of %d differs by %g",
                              m->program->tensors[t].name, m->unrolled.repetition_of[v],
                              d);
    }
    return RIDGE_OK;
}

static ridge_status run_lists(ridge__machine *m, ridge__flight *f, ridge__flight *step)
{
    RIDGE_TRY(ridge__machine_begin(m));
    RIDGE_TRY(ridge__machine_run(m, f, RIDGE__LIST_FORWARD));
    RIDGE_TRY(ridge__machine_run(m, f, RIDGE__LIST_INPUTS));
    RIDGE_TRY(ridge__machine_run(m, f, RIDGE__LIST_WEIGHTS));
    RIDGE_TRY(ridge__machine_run(m, step, RIDGE__LIST_REDUCE));
    return ridge__machine_run(m, step, RIDGE__LIST_UPDATE);
}

static void frequencies_of(float *out, int64_t h)
{
    for (int64_t i = 0; i < h / 2; i++)
        out[i] = (float)pow(10000.0, -2.0 * (double)i / (double)h);
}

static ridge_status run_rank(ridge_ctx *cx, ridge_comm *world, void *payload)
{
    const trial *c = payload;
    float frequencies[8] = {0};
    ridge__device *device;
    ridge__machine *m;
    ridge__flight f, step;
    const int h = ridge_program_dim_find(c->program, "HR");
    const int plain = ridge_program_dim_find(c->program, "H");
    frequencies_of(frequencies, c->program->dims[h >= 0 ? h : plain].size);
    const ridge__machine_options options = {
        .unrolling = {.remat = c->remat,
                      .is_reduced_once = c->is_reduced_once,
                      .has_weight_list = c->has_weight_list},
        .numbers = {.norm_epsilon = 1e-6F, .rotations = {{frequencies, 1.0F}}},
        .gradient = RIDGE_DTYPE_FP32};
    RIDGE_TRY(ridge__device_open_cpu(cx, 1, &device));
    ridge_status st =
        ridge__machine_open(cx, device, world, c->partition, &options, &m);
    if (st == RIDGE_OK) {
        m->optimizer = (ridge__optimizer){.rate = 1e-3F,
                                          .beta1 = 0.9F,
                                          .beta2 = 0.95F,
                                          .epsilon = 1e-8F,
                                          .correction1 = 1.0F,
                                          .correction2 = 1.0F,
                                          .scale = 1.0F};
        st = ridge__flight_open(m, &f);
        st = st == RIDGE_OK ? ridge__flight_open(m, &step) : st;
    }
    if (st == RIDGE_OK) {
        fill_all(m, c, &f);
        st = run_lists(m, &f, &step);
        st = st == RIDGE_OK ? check_values(m, c) : st;
    }
    ridge__device_close(device);
    return st;
}

/* ---- the trials --------------------------------------------------------------------
 */

static const ridge_program *lower(ridge_ctx *cx, const char *config)
{
    const ridge_lowering lowering = {.phase = RIDGE_PHASE_TRAIN,
                                     .sequences = SEQUENCES,
                                     .query_tokens = TOKENS,
                                     .context_tokens = TOKENS,
                                     .weight = RIDGE_DTYPE_FP32,
                                     .activation = RIDGE_DTYPE_FP32,
                                     .cache = RIDGE_DTYPE_FP32};
    const ridge_program *program;
    assert_ok(cx, ridge_program_lower(cx, fixture_model(cx, "%s", config), &lowering,
                                      &program));
    for (int d = 0; d < program->n_dims; d++) {
        if (strcmp(program->dims[d].name, "C") == 0)
            assert_ok(cx, ridge_program_resize(cx, program, "C", SEQUENCES * TOKENS,
                                               &program));
    }
    return program;
}

static void try_way(ridge_ctx *cx, trial *c)
{
    const ridge_rule *rules;
    ridge_mesh mesh;
    int n;
    assert_ok(cx, ridge_parallelism_rules(cx, c->program, &c->way->degrees, &mesh,
                                          &rules, &n));
    assert_ok(cx, ridge_partition_build(cx, c->program, &mesh, rules, n, NULL, NULL,
                                        &c->partition));
    if (c->way->is_ring)
        assert_ok(cx, ridge__ring_attention(cx, c->partition, &c->partition));
    const ridge_ranks ranks = {.engine = RIDGE_ENGINE_THREADS,
                               .ranks = (int)ridge_mesh_size(&mesh),
                               .timeout_s = 60.0};
    const ridge_status st = ridge_ranks_run(cx, &ranks, run_rank, c);
    if (st != RIDGE_OK)
        fail_msg("%s, %s, remat %s: %s", c->program->name, c->way->name,
                 ridge_remat_text(c->remat), ridge_ctx_message(cx));
}

static void check_model(const char *config)
{
    ridge_ctx *cx = ridge_ctx_open();
    trial c = {.program = lower(cx, config)};
    mesh_machine *m = mesh_machine_new(ridge_ctx_arena(cx), c.program, NULL);
    give_values(m, c.program);
    c.before = snapshot(cx, m, c.program);
    mesh_machine_run(m);
    c.after = snapshot(cx, m, c.program);
    for (size_t i = 0; i < RIDGE_COUNT_OF(WAYS); i++) {
        c.way = &WAYS[i];
        c.remat = (ridge_remat)(i % RIDGE_REMAT_COUNT);
        c.is_reduced_once = WAYS[i].degrees.zero_stage < 2;
        c.has_weight_list = i % 3 == 1;
        try_way(cx, &c);
    }
    for (int remat = 0; remat < RIDGE_REMAT_COUNT; remat++) {
        c.way = &WAYS[4];
        c.remat = (ridge_remat)remat;
        try_way(cx, &c);
    }
    ridge_ctx_close(cx);
}

static void grouped_queries_train_as_in_doubles(void **state)
{
    (void)state;
    check_model(MODELS[0]);
}

static void tied_and_padded_trains_as_in_doubles(void **state)
{
    (void)state;
    check_model(MODELS[1]);
}

static void experts_train_as_in_doubles(void **state)
{
    (void)state;
    check_model(MODELS[2]);
}

static void latent_attention_trains_as_in_doubles(void **state)
{
    (void)state;
    check_model(MODELS[3]);
}

static void layer_norms_train_as_in_doubles(void **state)
{
    (void)state;
    check_model(MODELS[4]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(grouped_queries_train_as_in_doubles),
        cmocka_unit_test(tied_and_padded_trains_as_in_doubles),
        cmocka_unit_test(experts_train_as_in_doubles),
        cmocka_unit_test(latent_attention_trains_as_in_doubles),
        cmocka_unit_test(layer_norms_train_as_in_doubles),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
