/*
 * Derived gradients against finite differences: small models lowered for training and
 * run on one rank; each weight is moved a little both ways, and the change of the
 * summed loss compared with what the backward pass says. Scans have no kernels for
 * this.
 */
#include "mesh_machine.h"
#include "program_fixture.h"
#include "seeded.h"

#include <math.h>
#include <string.h>

enum { SEQUENCES = 2, TOKENS = 5, TRIES = 2, ELEMENTS_MOST = 1 << 14 };
static const double STEP = 1e-5;
static const double TOLERANCE = 1e-6; /* of a central difference with that step */

/* ---- running --------------------------------------------------------------------- */

typedef struct trial {
    ridge_ctx *cx;
    const ridge_program *program;
    int moved; /* tensor that is moved; -1: none */
    int64_t repetition, element;
    double by;
} trial;

static int64_t elements(const ridge_program *p, int tensor)
{
    const int64_t n = (int64_t)ridge_tensor_elements(p, &p->tensors[tensor]);
    assert_true(n <= ELEMENTS_MOST);
    return n;
}

/* Ids below every table's rows; numbers of the size of one. */
static void fill(const ridge_program *p, int tensor, seeded *at, double *out)
{
    const ridge_tensor *t = &p->tensors[tensor];
    const bool is_id = t->role == RIDGE_ROLE_INPUT;
    for (int64_t i = 0; i < elements(p, tensor); i++) {
        out[i] = is_id ? (double)seeded_pick(at, 0, TOKENS - 1)
                       : (double)seeded_pick(at, -1000, 1000) / 1000.0;
    }
}

static bool is_given(const ridge_program *p, int tensor)
{
    return p->tensors[tensor].role == RIDGE_ROLE_INPUT ||
           p->tensors[tensor].role == RIDGE_ROLE_WEIGHT;
}

static mesh_machine *run(const trial *t)
{
    mesh_machine *m = mesh_machine_new(ridge_ctx_arena(t->cx), t->program, NULL);
    double values[ELEMENTS_MOST];
    for (int i = 0; i < t->program->n_tensors; i++) {
        for (int64_t r = 0; is_given(t->program, i) && r < mesh_machine_repeats(m, i);
             r++) {
            seeded at = (seeded)(1000 * i + r);
            fill(t->program, i, &at, values);
            if (i == t->moved && r == t->repetition)
                values[t->element] += t->by;
            mesh_machine_set(m, i, r, values);
        }
    }
    mesh_machine_run(m);
    return m;
}

static double loss_of(const trial *t)
{
    double values[ELEMENTS_MOST], sum = 0;
    const int loss = ridge_program_tensor_find(t->program, "loss");
    assert_true(loss >= 0);
    mesh_machine_get(run(t), loss, 0, values);
    for (int64_t i = 0; i < elements(t->program, loss); i++)
        sum += values[i];
    return sum;
}

/* ---- comparing ------------------------------------------------------------------- */

static bool is_kept(const ridge_block *block, bool has_backward)
{
    return block->is_backward ? has_backward : strstr(block->name, "_update") == NULL;
}

/* The blocks up to the optimizer, which changes the weights, or up to the loss. */
static const ridge_program *beginning(ridge_ctx *cx, const ridge_program *p,
                                      bool has_backward)
{
    ridge_program *copy = ridge_new(ridge_ctx_arena(cx), ridge_program, 1);
    assert_non_null(copy);
    *copy = *p;
    copy->n_blocks = 0;
    while (copy->n_blocks < p->n_blocks &&
           is_kept(&p->blocks[copy->n_blocks], has_backward))
        copy->n_blocks++;
    copy->n_ops = p->blocks[copy->n_blocks].first_op;
    return copy;
}

/* What the backward pass says of one element of a weight. */
static double derived(mesh_machine *m, const trial *t)
{
    const ridge_program *p = mesh_machine_program(m);
    double values[ELEMENTS_MOST];
    const int gradient = ridge_program_gradient(p, t->moved);
    const int64_t repeat = mesh_machine_repeats(m, gradient);
    /* Backward repetition r belongs to forward repetition repeat - 1 - r. */
    mesh_machine_get(m, gradient, repeat - 1 - t->repetition, values);
    return values[t->element];
}

static void compare_element(mesh_machine *m, trial t)
{
    t.by = STEP;
    const double above = loss_of(&t);
    t.by = -STEP;
    const double below = loss_of(&t);
    const double want = (above - below) / (2 * STEP);
    const double got = derived(m, &t);
    if (fabs(got - want) <= TOLERANCE * (1 + fabs(want)))
        return;
    print_error("%s, repetition %lld, element %lld: %.9g, by differences %.9g\n",
                t.program->tensors[t.moved].name, (long long)t.repetition,
                (long long)t.element, got, want);
    fail();
}

static void check_model(const char *config)
{
    ridge_ctx *cx = ridge_ctx_open();
    assert_non_null(cx);
    const ridge_program *whole = fixture_lower(cx, fixture_model(cx, "%s", config),
                                               RIDGE_PHASE_TRAIN, SEQUENCES, TOKENS);
    const ridge_program *p = beginning(cx, whole, true);
    trial t = {.cx = cx, .program = p, .moved = -1};
    mesh_machine *m = run(&t);
    t.program = beginning(cx, whole, false);
    seeded at = 7;
    int checked = 0;
    for (t.moved = 0; t.moved < p->n_tensors; t.moved++) {
        if (p->tensors[t.moved].role != RIDGE_ROLE_WEIGHT ||
            ridge_program_gradient(p, t.moved) < 0)
            continue;
        for (int i = 0; i < TRIES; i++) {
            t.repetition = seeded_pick(&at, 0, mesh_machine_repeats(m, t.moved) - 1);
            t.element = seeded_pick(&at, 0, elements(p, t.moved) - 1);
            compare_element(m, t);
            checked++;
        }
    }
    assert_true(checked > 20);
    ridge_ctx_close(cx);
}

/* ---- models ---------------------------------------------------------------------- */

#define SIZES                                                                          \
    "'hidden_size':8,'num_hidden_layers':3,'num_attention_heads':4,'vocab_size':7,"    \
    "'max_position_embeddings':16,'intermediate_size':6"

static void grouped_queries_and_gates(void **state)
{
    (void)state;
    check_model("{'model_type':'llama'," SIZES ",'num_key_value_heads':2}");
    check_model("{'model_type':'qwen3'," SIZES
                ",'num_key_value_heads':1,'head_dim':4,'tie_word_embeddings':true}");
}

static void biases_tables_and_tied_words(void **state)
{
    (void)state;
    check_model("{'model_type':'gpt2','n_embd':8,'n_layer':2,'n_head':2,"
                "'vocab_size':7,'n_positions':64}");
    check_model("{'model_type':'falcon','hidden_size':8,'num_hidden_layers':2,"
                "'num_attention_heads':4,'vocab_size':7,'multi_query':true}");
}

static void windows_between_whole_layers(void **state)
{
    (void)state;
    check_model("{'model_type':'gemma2'," SIZES
                ",'num_key_value_heads':2,'head_dim':2,'sliding_window':2}");
}

static void experts(void **state)
{
    (void)state;
    check_model("{'model_type':'mixtral'," SIZES
                ",'num_key_value_heads':2,'num_local_experts':3,"
                "'num_experts_per_tok':2}");
    check_model("{'model_type':'gpt_oss'," SIZES
                ",'num_key_value_heads':2,'head_dim':2,'num_local_experts':4,"
                "'num_experts_per_tok':2,'sliding_window':2}");
}

static void latents_and_shared_experts(void **state)
{
    (void)state;
    check_model("{'model_type':'deepseek_v3'," SIZES
                ",'q_lora_rank':5,'kv_lora_rank':3,'qk_nope_head_dim':2,"
                "'qk_rope_head_dim':2,'v_head_dim':3,'n_routed_experts':4,"
                "'num_experts_per_tok':2,'moe_intermediate_size':3,"
                "'n_shared_experts':1,'first_k_dense_replace':1}");
}

static void two_stacks(void **state)
{
    (void)state;
    check_model("{'model_type':'t5','d_model':8,'num_layers':2,'num_heads':2,"
                "'d_kv':4,'d_ff':6,'vocab_size':7,'tie_word_embeddings':true}");
}

static void weights_shared_between_layers(void **state)
{
    (void)state;
    check_model("{'model_type':'albert','architectures':['AlbertForMaskedLM'],"
                "'hidden_size':8,'num_hidden_layers':3,'num_attention_heads':4,"
                "'vocab_size':40,'max_position_embeddings':16,'intermediate_size':6,"
                "'embedding_size':4,'type_vocab_size':2}");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(grouped_queries_and_gates),
        cmocka_unit_test(biases_tables_and_tied_words),
        cmocka_unit_test(windows_between_whole_layers),
        cmocka_unit_test(experts),
        cmocka_unit_test(latents_and_shared_experts),
        cmocka_unit_test(two_stacks),
        cmocka_unit_test(weights_shared_between_layers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
