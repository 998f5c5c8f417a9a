/*
 * Optimizers over whole matrices against double precision: the first steps of a run of
 * each are worked out anew from its weights and gradients. Gradients are what a run
 * with a plain momentum keeps, at a rate so small that its weights stand still.
 */
#include "model_fixture.h"
#include "own_folder.h"

#include "ridge/execute.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { TOKENS = 16, SEQUENCES = 4, MOST = 1 << 14 };

static const double RATE = 1e-2, STILL = 1e-12, DECAY = 0.1;

static const char CONFIG[] =
    "{'architectures':['MixtralForCausalLM'],'model_type':'mixtral','hidden_size':16,"
    "'intermediate_size':24,'num_hidden_layers':1,'num_attention_heads':4,"
    "'num_key_value_heads':2,'vocab_size':64,'num_local_experts':2,"
    "'num_experts_per_tok':2,'tie_word_embeddings':false}";

typedef struct fixture {
    ridge_ctx *cx;
    const char *dir;
    const ridge_token_data *data;
    const ridge_model *model;
} fixture;

static void open_fixture(fixture *f)
{
    uint64_t x = 5;
    f->cx = ridge_ctx_open();
    f->dir = own_folder(f->cx, "update-rules");
    f->model = fixture_model(f->cx, "%s", CONFIG);
    const char *path = ridge_sprintf(ridge_ctx_arena(f->cx), "%s/text.bin", f->dir);
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    for (int i = 0; i < 2048; i++) {
        x = x * 6364136223846793005ULL + 1442695040888963407ULL;
        const uint16_t word = (uint16_t)((x >> 33) % 61);
        assert_int_equal(fwrite(&word, sizeof word, 1, file), 1);
    }
    assert_int_equal(fclose(file), 0);
    const ridge_data_options options = {.vocab = 64};
    assert_ok(f->cx, ridge_token_data_open(f->cx, NULL, &path, 1, &options, &f->data));
}

/* The checkpoint of some steps on one rank. */
static const ridge_checkpoint_reader *train(fixture *f, ridge_update update,
                                            double rate, int64_t steps)
{
    const char *dir = ridge_sprintf(ridge_ctx_arena(f->cx), "%s/%d-%g-%lld", f->dir,
                                    (int)update, rate, (long long)steps);
    ridge_train_run run = {
        .model = f->model,
        .numerics = ridge_numerics_default(),
        .layout = ridge_run_layout_single(),
        .ranks = {.engine = RIDGE_ENGINE_THREADS, .ranks = 1, .timeout_s = 100.0},
        .threads = 1,
        .seq_tokens = TOKENS,
        .batch_seqs = SEQUENCES,
        .steps = steps,
        .learning = ridge_learning_usual(),
        .data = f->data,
        .seed = 3,
        .init_scale = 0.2,
        .checkpoint_dir = dir,
        .checkpoint_every = steps};
    ridge_train_report report;
    const ridge_checkpoint_reader *reader;
    run.layout.update = update;
    run.layout.microbatch_seqs = SEQUENCES;
    run.learning.kind = RIDGE_RATE_CONSTANT;
    run.learning.rate = rate;
    run.learning.clip = 0.0;
    assert_ok(f->cx, ridge_run_train(f->cx, &run, &report));
    assert_ok(f->cx, ridge_checkpoint_reader_open(f->cx, dir, &reader));
    return reader;
}

typedef struct array {
    int n_dims;
    int64_t shape[8], n;
    double x[MOST];
} array;

static void read_array(fixture *f, const ridge_checkpoint_reader *reader,
                       const char *name, array *out)
{
    static float room[MOST];
    for (size_t i = 0; i < ridge_checkpoint_reader_count(reader); i++) {
        const ridge_checkpoint_tensor t = ridge_checkpoint_reader_tensor(reader, i);
        if (strcmp(t.name, name) != 0)
            continue;
        const ridge_checkpoint_part want = {.name = t.name,
                                            .layer = t.layer,
                                            .element = RIDGE_ELEMENT_F32,
                                            .region =
                                                ridge_region_whole(t.n_dims, t.shape)};
        out->n = ridge_region_elements(&want.region);
        out->n_dims = t.n_dims;
        memcpy(out->shape, t.shape, (size_t)t.n_dims * sizeof *t.shape);
        assert_true(out->n <= MOST);
        assert_ok(f->cx, ridge_checkpoint_reader_read(f->cx, reader, &want, room));
        for (int64_t k = 0; k < out->n; k++)
            out->x[k] = (double)room[k];
        return;
    }
    fail_msg("no %s in the checkpoint", name);
}

/* A weight as [batch, rows, columns]. */
typedef struct matrix {
    const char *name;
    int64_t batch, rows, columns;
} matrix;

static const matrix MATRICES[] = {{"wq", 1, 16, 16},        {"wk", 1, 16, 8},
                                  {"wo", 1, 16, 16},        {"router", 1, 16, 2},
                                  {"expert_up", 2, 16, 24}, {"expert_down", 2, 24, 16}};
static const char *const VECTORS[] = {"h_weight", "embedding", "unembedding"};

static void compare(const char *what, const char *name, const array *got,
                    const double *want, double rel)
{
    double size = 1e-30, most = 0.0;
    for (int64_t i = 0; i < got->n; i++) {
        size = fmax(size, fabs(want[i]));
        most = fmax(most, fabs(want[i] - got->x[i]));
    }
    if (!(most <= rel * size))
        fail_msg("%s of %s differs by %g of %g", what, name, most, size);
}

static const char *state_of(fixture *f, const char *letter, const char *name)
{
    return ridge_sprintf(ridge_ctx_arena(f->cx), "%s_%s", letter, name);
}

/* ---- Newton and Schulz in double precision
 * ------------------------------------------- */

/* c [n, p] = a [n, m] b [m, p] */
static void product(const double *a, const double *b, double *c, int64_t n, int64_t m,
                    int64_t p)
{
    for (int64_t i = 0; i < n; i++) {
        for (int64_t j = 0; j < p; j++) {
            double sum = 0.0;
            for (int64_t k = 0; k < m; k++)
                sum += a[i * m + k] * b[k * p + j];
            c[i * p + j] = sum;
        }
    }
}

static void orthogonal(double *x, int64_t rows, int64_t columns)
{
    static double turned[MOST], g[MOST], g2[MOST], next[MOST];
    double squares = 0.0;
    for (int64_t i = 0; i < rows * columns; i++)
        squares += x[i] * x[i];
    for (int64_t i = 0; i < rows * columns; i++)
        x[i] /= sqrt(squares) + 1e-7;
    for (int step = 0; step < 5; step++) {
        for (int64_t i = 0; i < rows; i++) {
            for (int64_t j = 0; j < columns; j++)
                turned[j * rows + i] = x[i * columns + j];
        }
        product(x, turned, g, rows, columns, rows);
        product(g, g, g2, rows, rows, rows);
        for (int64_t i = 0; i < rows * rows; i++)
            g2[i] = -4.7750 * g[i] + 2.0315 * g2[i];
        product(g2, x, next, rows, rows, columns);
        for (int64_t i = 0; i < rows * columns; i++)
            x[i] = 3.4445 * x[i] + next[i];
    }
}

static void muon_is_orthogonal_in_double_precision(void **state)
{
    static array w, g, got;
    static double want[MOST];
    fixture f;
    (void)state;
    open_fixture(&f);
    const ridge_checkpoint_reader *still = train(&f, RIDGE_UPDATE_MOMENTUM, STILL, 1);
    const ridge_checkpoint_reader *moved = train(&f, RIDGE_UPDATE_MUON, RATE, 1);
    for (size_t i = 0; i < RIDGE_COUNT_OF(MATRICES); i++) {
        const matrix *m = &MATRICES[i];
        const int64_t n = m->rows * m->columns;
        const double size = 0.2 * sqrt(fmax((double)m->rows, (double)m->columns));
        read_array(&f, still, m->name, &w);
        read_array(&f, still, state_of(&f, "m", m->name), &g);
        read_array(&f, moved, state_of(&f, "m", m->name), &got);
        assert_int_equal(w.n, m->batch * n);
        compare("momentum", m->name, &got, g.x, 1e-6);
        for (int64_t k = 0; k < g.n; k++)
            want[k] = (1.0 + 0.95) * g.x[k];
        for (int64_t b = 0; b < m->batch; b++)
            orthogonal(want + b * n, m->rows, m->columns);
        for (int64_t k = 0; k < g.n; k++)
            want[k] = w.x[k] - RATE * (size * want[k] + DECAY * w.x[k]);
        read_array(&f, moved, m->name, &got);
        compare("weight", m->name, &got, want, 1e-5);
    }
    own_folder_remove(f.dir);
    ridge_ctx_close(f.cx);
}

/* ---- Adafactor
 * ------------------------------------------------------------------------- */

/* Mean squares of a step: rows [batch, rows], columns [batch, columns]. */
static void mean_squares(const matrix *m, const double *g, double *rows,
                         double *columns)
{
    for (int64_t b = 0; b < m->batch; b++) {
        for (int64_t i = 0; i < m->rows; i++) {
            for (int64_t j = 0; j < m->columns; j++) {
                const double x = g[(b * m->rows + i) * m->columns + j];
                rows[b * m->rows + i] += (x * x) / (double)m->columns;
                columns[b * m->columns + j] += (x * x) / (double)m->rows;
            }
        }
    }
}

static void limited(double *u, int64_t n)
{
    double squares = 0.0;
    for (int64_t i = 0; i < n; i++)
        squares += u[i] * u[i];
    for (int64_t i = 0; i < n; i++)
        u[i] /= fmax(1.0, sqrt(squares / (double)n));
}

static void factored(const matrix *m, const double *g, const double *rows,
                     const double *columns, double *u)
{
    for (int64_t b = 0; b < m->batch; b++) {
        double mean = 0.0;
        for (int64_t i = 0; i < m->rows; i++)
            mean += rows[b * m->rows + i] / (double)m->rows;
        for (int64_t i = 0; i < m->rows; i++) {
            for (int64_t j = 0; j < m->columns; j++) {
                const int64_t at = (b * m->rows + i) * m->columns + j;
                const double v = rows[b * m->rows + i] * columns[b * m->columns + j];
                u[at] = g[at] / sqrt(v / mean);
            }
        }
        limited(u + b * m->rows * m->columns, m->rows * m->columns);
    }
}

static void adafactor_factors_in_double_precision(void **state)
{
    static array w, g, got;
    static double rows[MOST], columns[MOST], want[MOST];
    fixture f;
    (void)state;
    open_fixture(&f);
    const ridge_checkpoint_reader *still = train(&f, RIDGE_UPDATE_MOMENTUM, STILL, 1);
    const ridge_checkpoint_reader *moved = train(&f, RIDGE_UPDATE_ADAFACTOR, RATE, 1);
    for (size_t i = 0; i < RIDGE_COUNT_OF(MATRICES); i++) {
        const matrix *m = &MATRICES[i];
        memset(rows, 0, sizeof rows);
        memset(columns, 0, sizeof columns);
        read_array(&f, still, m->name, &w);
        read_array(&f, still, state_of(&f, "m", m->name), &g);
        mean_squares(m, g.x, rows, columns);
        read_array(&f, moved, state_of(&f, "vr", m->name), &got);
        assert_int_equal(got.n, m->batch * m->rows);
        compare("rows", m->name, &got, rows, 1e-5);
        read_array(&f, moved, state_of(&f, "vc", m->name), &got);
        compare("columns", m->name, &got, columns, 1e-5);
        factored(m, g.x, rows, columns, want);
        for (int64_t k = 0; k < g.n; k++)
            want[k] = w.x[k] - RATE * (want[k] + DECAY * w.x[k]);
        read_array(&f, moved, m->name, &got);
        compare("weight", m->name, &got, want, 1e-5);
    }
    own_folder_remove(f.dir);
    ridge_ctx_close(f.cx);
}

/* In the second step an average keeps 1 - 2^-0.8 of the first one's. */
static void adafactor_averages_over_steps(void **state)
{
    static array first, both, got;
    static double rows[MOST], columns[MOST];
    const double kept = 1.0 - pow(2.0, -0.8);
    fixture f;
    (void)state;
    open_fixture(&f);
    const ridge_checkpoint_reader *one = train(&f, RIDGE_UPDATE_MOMENTUM, STILL, 1);
    const ridge_checkpoint_reader *two = train(&f, RIDGE_UPDATE_MOMENTUM, STILL, 2);
    const ridge_checkpoint_reader *got2 = train(&f, RIDGE_UPDATE_ADAFACTOR, STILL, 2);
    for (size_t i = 0; i < RIDGE_COUNT_OF(MATRICES); i++) {
        const matrix *m = &MATRICES[i];
        memset(rows, 0, sizeof rows);
        memset(columns, 0, sizeof columns);
        read_array(&f, one, state_of(&f, "m", m->name), &first);
        read_array(&f, two, state_of(&f, "m", m->name), &both);
        for (int64_t k = 0; k < first.n; k++) { /* m = 0.9 m + g */
            both.x[k] = (both.x[k] - 0.9 * first.x[k]) * sqrt(1.0 - kept);
            first.x[k] *= sqrt(kept);
        }
        mean_squares(m, first.x, rows, columns);
        mean_squares(m, both.x, rows, columns);
        read_array(&f, got2, state_of(&f, "vr", m->name), &got);
        compare("rows", m->name, &got, rows, 1e-4);
        read_array(&f, got2, state_of(&f, "vc", m->name), &got);
        compare("columns", m->name, &got, columns, 1e-4);
    }
    own_folder_remove(f.dir);
    ridge_ctx_close(f.cx);
}

static void vectors_keep_every_second_moment(void **state)
{
    static array g, got;
    static double want[MOST];
    fixture f;
    (void)state;
    open_fixture(&f);
    const ridge_checkpoint_reader *still = train(&f, RIDGE_UPDATE_MOMENTUM, STILL, 1);
    const ridge_checkpoint_reader *factors = train(&f, RIDGE_UPDATE_ADAFACTOR, RATE, 1);
    const ridge_checkpoint_reader *muon = train(&f, RIDGE_UPDATE_MUON, RATE, 1);
    for (size_t i = 0; i < RIDGE_COUNT_OF(VECTORS); i++) {
        read_array(&f, still, state_of(&f, "m", VECTORS[i]), &g);
        for (int64_t k = 0; k < g.n; k++)
            want[k] = g.x[k] * g.x[k];
        read_array(&f, factors, state_of(&f, "v", VECTORS[i]), &got);
        compare("Adafactor's v", VECTORS[i], &got, want, 1e-5);
        for (int64_t k = 0; k < g.n; k++)
            want[k] *= 0.05; /* AdamW's */
        read_array(&f, muon, state_of(&f, "v", VECTORS[i]), &got);
        compare("AdamW's v beside Muon", VECTORS[i], &got, want, 1e-5);
    }
    own_folder_remove(f.dir);
    ridge_ctx_close(f.cx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(muon_is_orthogonal_in_double_precision),
        cmocka_unit_test(adafactor_factors_in_double_precision),
        cmocka_unit_test(adafactor_averages_over_steps),
        cmocka_unit_test(vectors_keep_every_second_moment),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
