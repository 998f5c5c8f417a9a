/* Documents packed into sequences: closed forms against token by token, and what it
 * makes of a step. */
#include "model_fixture.h"

#include "ridge/plan_documents.h"
#include "ridge/simulate_chance.h"

#include <math.h>
#include <stdlib.h>

#include "near.h"

static ridge_documents documents_of(ridge_ctx *cx, ridge_length length, double seq)
{
    ridge_documents d;
    assert_ok(cx, ridge_documents_of(cx, &length, seq, &d));
    return d;
}

/* Tokens of one kind of document, counted: each at its age and at each place where its
 * sequence may begin. */
static double counted_context(int length, int seq)
{
    double sum = 0;
    for (int age = 0; age < length; age++) {
        for (int place = 0; place < seq; place++)
            sum += age < place ? age : place;
    }
    return sum / ((double)length * seq);
}

static void equal_documents_are_as_counted(void **state)
{
    static const int ROWS[][2] = {
        {100, 400}, {400, 400}, {399, 400}, {1000, 400}, {7, 400}};
    for (size_t i = 0; i < RIDGE_COUNT_OF(ROWS); i++) {
        const ridge_documents d = documents_of(
            *state, (ridge_length){.kind = RIDGE_LENGTH_FIXED, .mean = ROWS[i][0]},
            ROWS[i][1]);
        /* whole tokens against lengths: half a token apart */
        assert_true(fabs(d.tokens / 2 - counted_context(ROWS[i][0], ROWS[i][1])) < 0.6);
    }
}

/* Sequences cut from drawn documents, one behind the other, token by token. */
static void drawn_documents_have_that_mean(void **state)
{
    enum { SEQ = 2048, TOKENS = 40000000 };
    const ridge_length length = {
        .kind = RIDGE_LENGTH_LOGNORMAL, .mean = 900, .spread = 1.5};
    const ridge_documents d = documents_of(*state, length, SEQ);
    const double sigma2 = log1p(1.5 * 1.5);
    ridge_chance chance = ridge_chance_of(3, 0);
    double left = 0, sum = 0, age = 0;
    for (int i = 0; i < TOKENS; i++) {
        if (i % SEQ == 0)
            age = 0;
        if (left < 1) {
            left = exp(log(900) - sigma2 / 2 +
                       sqrt(sigma2) *
                           ridge_normal_quantile(ridge_chance_uniform(&chance)));
            age = 0;
        }
        sum += age;
        age++;
        left--;
    }
    assert_near(d.tokens / 2, sum / TOKENS, 0.02);
    assert_true(d.spread > 0.2 && d.spread < 1.0);
}

/* On both sides of where drawing ends the spread falls as the root of the documents. */
static void many_documents_spread_less(void **state)
{
    const ridge_length length = {
        .kind = RIDGE_LENGTH_LOGNORMAL, .mean = 100, .spread = 0.9};
    const double drawn = documents_of(*state, length, 90000).spread;
    const double limit = documents_of(*state, length, 91000).spread;
    assert_near(limit, drawn * sqrt(90.0 / 91.0), 0.05);
    assert_near(documents_of(*state, length, 4 * 91000).spread, limit / 2, 1e-12);
    assert_true(limit > 0.03 && limit < 0.2);
}

/* Long documents are few and count by their square: half of E[L^2] / E[L]. */
static void tails_are_counted(void **state)
{
    static const double SPREADS[] = {0.5, 1.5, 4.0, 10.0};
    for (size_t i = 0; i < RIDGE_COUNT_OF(SPREADS); i++) {
        const ridge_length length = {
            .kind = RIDGE_LENGTH_LOGNORMAL, .mean = 5000, .spread = SPREADS[i]};
        const double want = 5000 * (1 + SPREADS[i] * SPREADS[i]);
        assert_near(documents_of(*state, length, 1e12).tokens, want, 0.01);
    }
}

static void whole_sequences_are_the_limit(void **state)
{
    const ridge_documents d = documents_of(
        *state, (ridge_length){.kind = RIDGE_LENGTH_FIXED, .mean = 1e9}, 4096);
    assert_near(d.tokens, 4096.0, 1e-5);
    assert_near(d.spread, 0.0, 1e-12);
    assert_near(ridge_documents_wait(&d, 64, 1), 0.0, 0.0);
}

/* The largest of n normal variables, by drawing. */
static void the_wait_is_that_of_the_largest(void **state)
{
    enum { REPLICAS = 32, ROUNDS = 20000 };
    const ridge_documents d = {.tokens = 100, .spread = 0.5};
    ridge_chance chance = ridge_chance_of(5, 0);
    double sum = 0;
    (void)state;
    for (int r = 0; r < ROUNDS; r++) {
        double most = -10;
        for (int i = 0; i < REPLICAS; i++)
            most = fmax(most, ridge_normal_quantile(ridge_chance_uniform(&chance)));
        sum += most;
    }
    assert_near(ridge_documents_wait(&d, REPLICAS, 4), 0.25 * sum / ROUNDS, 0.02);
    assert_near(ridge_documents_wait(&d, 1, 4), 0.0, 0.0);
}

/* Scores of each rank's two chunks, token by token, in sequences of documents of one
 * length one behind the other. */
static double counted_cp_wait(int length, int seq, int cp)
{
    double most = 0, all = 0, *load = calloc((size_t)cp, sizeof *load);
    assert_non_null(load);
    int left = 0;
    for (int n = 0; n < 256; n++) {
        double busiest = 0;
        for (int r = 0; r < cp; r++)
            load[r] = 0;
        for (int t = 0, age = 0; t < seq; t++, age++, left--) {
            if (left == 0) {
                left = length;
                age = 0;
            }
            const int chunk = (int)((int64_t)t * 2 * cp / seq);
            load[chunk < cp ? chunk : 2 * cp - 1 - chunk] += age + 0.5;
        }
        for (int r = 0; r < cp; r++) {
            busiest = fmax(busiest, load[r]);
            all += load[r];
        }
        most += busiest * cp;
    }
    free(load);
    return most / all - 1;
}

static void ranks_of_cp_are_as_counted(void **state)
{
    static const int ROWS[][3] = {{1000, 4096, 2}, {1000, 4096, 8}, {3000, 8192, 16}};
    for (size_t i = 0; i < RIDGE_COUNT_OF(ROWS); i++) {
        const ridge_documents d = documents_of(
            *state, (ridge_length){.kind = RIDGE_LENGTH_FIXED, .mean = ROWS[i][0]},
            ROWS[i][1]);
        const double want = counted_cp_wait(ROWS[i][0], ROWS[i][1], ROWS[i][2]);
        const double got = ridge_documents_cp_wait(&d, ROWS[i][2], 1);
        assert_true(fabs(got - want) < 0.01 * (1 + want));
        assert_near(ridge_documents_cp_wait(&d, ROWS[i][2], 4), got / 2, 1e-12);
        assert_near(ridge_documents_cp_wait(&d, 1, 1), 0, 0);
    }
    const ridge_documents whole = documents_of(
        *state, (ridge_length){.kind = RIDGE_LENGTH_FIXED, .mean = 4096}, 4096);
    assert_true(ridge_documents_cp_wait(&whole, 64, 1) < 1e-9);
}

static void only_full_attention_is_cut(void **state)
{
    ridge_ctx *cx = *state;
    const ridge_model *model = fixture_model(
        cx,
        "{'architectures':['Gemma2ForCausalLM'],'model_type':'gemma2','hidden_size':64,"
        "'intermediate_size':64,'num_hidden_layers':4,'num_attention_heads':4,"
        "'num_key_value_heads':2,'head_dim':16,'vocab_size':64,'sliding_window':512,"
        "'max_position_embeddings':8192}");
    const ridge_model *cut;
    assert_ok(cx, ridge_model_with_documents(cx, model, 1000.4, &cut));
    int n_full = 0;
    for (int i = 0; i < model->n_layers; i++) {
        const ridge_mixer *was = &model->layers[i].mixer, *is = &cut->layers[i].mixer;
        assert_int_equal(is->window, was->window == 0 ? 1000 : was->window);
        assert_int_equal(is->is_window_chunked, was->window == 0);
        n_full += was->window == 0;
    }
    assert_int_equal(n_full, 1);
}

static void wrong_lengths_are_refused(void **state)
{
    static const ridge_length ROWS[] = {
        {.kind = RIDGE_LENGTH_FIXED, .mean = 0.5},
        {.kind = RIDGE_LENGTH_FIXED, .mean = 2e9},
        {.kind = RIDGE_LENGTH_UNIFORM, .mean = 100, .spread = 1.5},
        {.kind = RIDGE_LENGTH_LOGNORMAL, .mean = 100, .spread = 11}};
    for (size_t i = 0; i < RIDGE_COUNT_OF(ROWS); i++) {
        ridge_documents d;
        assert_int_equal(ridge_documents_of(*state, &ROWS[i], 4096, &d), RIDGE_E_ARG);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(equal_documents_are_as_counted),
        cmocka_unit_test(drawn_documents_have_that_mean),
        cmocka_unit_test(many_documents_spread_less),
        cmocka_unit_test(tails_are_counted),
        cmocka_unit_test(whole_sequences_are_the_limit),
        cmocka_unit_test(the_wait_is_that_of_the_largest),
        cmocka_unit_test(ranks_of_cp_are_as_counted),
        cmocka_unit_test(only_full_attention_is_cut),
        cmocka_unit_test(wrong_lengths_are_refused),
    };
    return cmocka_run_group_tests(tests, fixture_open, fixture_close);
}
