/* Notation of meshes and sharded einsums: what is read, and how faults are told. */
#include "near.h"

#include "ridge/shard.h"

#include <string.h>

static int open_ctx(void **state)
{
    *state = ridge_ctx_open();
    return *state ? 0 : 1;
}

static int close_ctx(void **state)
{
    ridge_ctx_close(*state);
    return 0;
}

/* ---- what is read ---------------------------------------------------------------- */

/** The expression on mesh x=4,y=2,tp=2,dp=3 written again. */
static const char *again(ridge_ctx *cx, const char *text)
{
    ridge_expr e;
    ridge_buf b;
    ridge_buf dims;
    ridge_buf_init(&dims, ridge_ctx_arena(cx));
    for (const char *dim = "IJK"; *dim; dim++) {
        if (strchr(text, *dim))
            ridge_buf_printf(&dims, "%s%c=4k", dims.n ? "," : "", *dim);
    }
    if (ridge_expr_parse(cx, text, "x=4,y=2,tp=2,dp=3", ridge_buf_text(&dims), &e) !=
        RIDGE_OK)
        fail_msg("%s", ridge_ctx_message(cx));
    ridge_buf_init(&b, ridge_ctx_arena(cx));
    ridge_expr_write(&e, &b);
    return ridge_buf_text(&b);
}

static void the_notations_mean_the_same(void **state)
{
    ridge_ctx *cx = *state;
    static const char *const same[] = {
        "A[I@x,J] * B[J,K@y] -> C[I@x,K@y]",
        "A[I@x,J]B[J,K@y]->C[I@x,K@y]",
        "  A [ I @ x , J ] * B [ J , K @ y ] -> C [ I @ x , K @ y ]  ",
        "A[I_X, J] B[J, K_Y] -> C[I_X, K_Y]",
        "A[I_{X}, J] * B[J, K@(y)] -> C[I@X, K_y]",
    };
    for (size_t i = 0; i < RIDGE_COUNT_OF(same); i++)
        assert_string_equal(again(cx, same[i]), same[0]);
}

static void several_axes_cut_one_dim(void **state)
{
    ridge_ctx *cx = *state;
    static const char *const letters[] = {"A[I@yx] -> C[I@yx]", "A[I_YX] -> C[I@(y,x)]",
                                          "A[I@y+x] -> C[I_{yx}]"};
    static const char *const words[] = {"A[I@(tp,x)] -> C[I@(dp,tp)]",
                                        "A[I@tp+x] -> C[I@dp+tp]"};
    for (size_t i = 0; i < RIDGE_COUNT_OF(letters); i++)
        assert_string_equal(again(cx, letters[i]), letters[0]);
    for (size_t i = 0; i < RIDGE_COUNT_OF(words); i++)
        assert_string_equal(again(cx, words[i]), words[0]);
}

static void partial_sums_are_read(void **state)
{
    ridge_ctx *cx = *state;
    assert_string_equal(again(cx, "A[I]{U@x} * B[J]{U_YX}->C[I,J]{ U @ (y,x) }"),
                        "A[I]{U@x} * B[J]{U@xy} -> C[I,J]{U@xy}");
}

static void arrays_may_be_scalars(void **state)
{
    assert_string_equal(again(*state, "A[] -> C[]{U@x}"), "A[] -> C[]{U@x}");
}

static void an_output_is_implied(void **state)
{
    ridge_ctx *cx = *state;
    assert_string_equal(again(cx, "A[I@x,J@y] * B[J,K@y]"),
                        "A[I@x,J@y] * B[J,K@y] -> out[I@x,K@y]");
    /* x cannot cut both of its dims */
    assert_string_equal(again(cx, "A[I@x,J] * B[J,K@x]"),
                        "A[I@x,J] * B[J,K@x] -> out[I@x,K]");
}

static void a_dim_may_have_an_underscore(void **state)
{
    ridge_ctx *cx = *state;
    ridge_expr e;
    assert_int_equal(
        ridge_expr_parse(cx, "A[d_x@y, I_x] -> C[d_x, I]", "x=2,y=2", "d_x=8,I=4", &e),
        RIDGE_OK);
    assert_string_equal(e.dims[0].name, "d_x");
    assert_int_equal(e.inputs[0].sharding.dims[0].axes[0], 1);
    assert_string_equal(e.dims[1].name, "I");
    assert_int_equal(e.inputs[0].sharding.dims[1].axes[0], 0);
}

static void a_mesh_is_read(void **state)
{
    ridge_ctx *cx = *state;
    ridge_mesh mesh;
    assert_int_equal(ridge_mesh_parse(cx, " x = 4, tp=2 ", &mesh), RIDGE_OK);
    assert_int_equal(mesh.n, 2);
    assert_int_equal(ridge_mesh_size(&mesh), 8);
    assert_int_equal(ridge_mesh_find(&mesh, "TP"), 1);
    assert_int_equal(ridge_mesh_find(&mesh, "t"), -1);
    assert_int_equal(ridge_mesh_parse(cx, "", &mesh), RIDGE_OK);
    assert_int_equal(ridge_mesh_size(&mesh), 1);
}

/* ---- faults ---------------------------------------------------------------------- */

typedef struct fault_case {
    const char *expr, *mesh, *dims;
    ridge_status status;
    const char *of; /* the text that is wrong: "e", "m" or "d" */
    size_t column;
    const char *message; /* a part of it */
} fault_case;

static void check_fault(ridge_ctx *cx, const fault_case *c)
{
    const ridge_expr_texts texts = {c->expr, c->mesh, c->dims};
    ridge_expr_fault fault;
    ridge_expr e;
    const char *text = *c->of == 'e' ? c->expr : *c->of == 'm' ? c->mesh : c->dims;
    const ridge_status st = ridge_expr_parse_at(cx, &texts, &fault, &e);
    if (st != c->status || fault.column != c->column ||
        !strstr(ridge_ctx_message(cx), c->message)) {
        fail_msg("%s: status %d, column %d: %s", c->expr, (int)st, (int)fault.column,
                 ridge_ctx_message(cx));
    }
    assert_ptr_equal(fault.text, text);
    assert_non_null(
        strstr(ridge_ctx_message(cx),
               ridge_sprintf(ridge_ctx_arena(cx), ": column %d: ", (int)c->column)));
}

#define MESH "x=4,y=2"
#define DIMS "I=8,J=6,K=4"

static const fault_case faults[] = {
    {"A[I@x,J * B", MESH, DIMS, RIDGE_E_PARSE, "e", 9, "expected ','"},
    {"A[I@x,J@x] * B[J] -> C[I]", MESH, DIMS, RIDGE_E_ARG, "e", 9,
     "axis x cuts two dims of A"},
    {"A[I@xx,J]", MESH, DIMS, RIDGE_E_ARG, "e", 6, "axis x stands twice"},
    {"A[I@x,J]{U@x}", MESH, DIMS, RIDGE_E_ARG, "e", 12,
     "axis x both cuts a dim and carries partial sums of A"},
    {"A[I@q]", MESH, DIMS, RIDGE_E_ARG, "e", 5, "no axis 'q': it has x, y"},
    {"A[I_Q]", MESH, DIMS, RIDGE_E_ARG, "e", 5, "no axis 'Q': it has x, y"},
    {"A[I@xq]", "", DIMS, RIDGE_E_ARG, "e", 5, "no axis 'xq': it has none"},
    {"A[I@]", MESH, DIMS, RIDGE_E_PARSE, "e", 5, "expected mesh axes"},
    {"A[I@(x]", MESH, DIMS, RIDGE_E_PARSE, "e", 7, "not closed: expected ')'"},
    {"A[I_{x]", MESH, DIMS, RIDGE_E_PARSE, "e", 7, "not closed: expected '}'"},
    {"A[I,L]", MESH, DIMS, RIDGE_E_ARG, "e", 5, "dim 'L' has no size: add L=N"},
    {"A[I,I]", MESH, DIMS, RIDGE_E_PARSE, "e", 5, "diagonals are not taken"},
    {"A[I,]", MESH, DIMS, RIDGE_E_PARSE, "e", 5, "expected a dim"},
    {"A", MESH, DIMS, RIDGE_E_PARSE, "e", 2, "expected '['"},
    {"", MESH, DIMS, RIDGE_E_PARSE, "e", 1, "expected an array"},
    {"A[I] * ", MESH, DIMS, RIDGE_E_PARSE, "e", 8, "expected an array"},
    {"A[I] * A[J]", MESH, DIMS, RIDGE_E_PARSE, "e", 8, "has this name"},
    {"A[I] -> A[I]", MESH, DIMS, RIDGE_E_PARSE, "e", 9, "has this name"},
    {"A[I] - C[I]", MESH, DIMS, RIDGE_E_PARSE, "e", 6, "expected '->'"},
    {"A[I] -> C[J]", MESH, DIMS, RIDGE_E_PARSE, "e", 11, "is in no input"},
    {"A[I] -> C[I] D[J]", MESH, DIMS, RIDGE_E_PARSE, "e", 14, "behind the output"},
    {"A[I]{V@x}", MESH, DIMS, RIDGE_E_PARSE, "e", 6, "as {U@y}"},
    {"A[I]{U}", MESH, DIMS, RIDGE_E_PARSE, "e", 6, "as {U@y}"},
    {"A[I]{U@x", MESH, DIMS, RIDGE_E_PARSE, "e", 9, "expected '}'"},
    {"A[I]B[I]C[I]D[I]E[I]", MESH, DIMS, RIDGE_E_PARSE, "e", 17, "at most 4"},
    {"A[I]", "x", DIMS, RIDGE_E_PARSE, "m", 2, "write axes as"},
    {"A[I]", "x=0", DIMS, RIDGE_E_PARSE, "m", 3, "whole number from 1"},
    {"A[I]", "x=2,X=2", DIMS, RIDGE_E_PARSE, "m", 5, "there already"},
    {"A[I]", "x=2 y=2", DIMS, RIDGE_E_PARSE, "m", 5, "expected a comma"},
    {"A[I]", "x=4294967296,y=4294967296", DIMS, RIDGE_E_PARSE, "m", 16,
     "more than 2^63"},
    {"A[I]", "a=1,b=1,c=1,d=1,e=1,f=1,g=1,h=1,i=1", DIMS, RIDGE_E_PARSE, "m", 33,
     "at most 8 axes"},
    {"A[I]", MESH, "I", RIDGE_E_PARSE, "d", 2, "write sizes as"},
    {"A[I]", MESH, "I=1.5", RIDGE_E_PARSE, "d", 3, "whole number from 1"},
    {"A[I]", MESH, "I=2,I=3", RIDGE_E_PARSE, "d", 5, "has a size already"},
    {"A[I]", MESH, "I=2;", RIDGE_E_PARSE, "d", 3, "whole number"},
    {"A[I]", MESH, "I=2,Z=3", RIDGE_E_ARG, "d", 1, "'Z' is no dim"},
    {"A[I,J]", MESH, "I=8e15,J=8e15", RIDGE_E_ARG, "d", 1, "beyond 2^63"},
};

static void faults_name_their_place(void **state)
{
    for (size_t i = 0; i < RIDGE_COUNT_OF(faults); i++)
        check_fault(*state, &faults[i]);
}

static void a_caret_stands_under_the_fault(void **state)
{
    ridge_buf b;
    const ridge_expr_fault near_start = {"A[I@x,J * B", 9}, none = {NULL, 0};
    const ridge_expr_fault at_end = {"A[I] * ", 8};
    ridge_buf_init(&b, ridge_ctx_arena(*state));
    ridge_expr_fault_write(&near_start, &b);
    assert_string_equal(ridge_buf_text(&b), "  A[I@x,J * B\n          ^\n");
    ridge_buf_init(&b, ridge_ctx_arena(*state));
    ridge_expr_fault_write(&at_end, &b);
    assert_string_equal(ridge_buf_text(&b), "  A[I] * \n         ^\n");
    ridge_buf_init(&b, ridge_ctx_arena(*state));
    ridge_expr_fault_write(&none, &b);
    assert_string_equal(ridge_buf_text(&b), "");
}

static void a_long_line_is_cut_around_the_caret(void **state)
{
    char text[201];
    ridge_buf b;
    memset(text, 'a', 200);
    text[200] = '\0';
    text[150] = '\t';
    const ridge_expr_fault fault = {text, 152};
    ridge_buf_init(&b, ridge_ctx_arena(*state));
    ridge_expr_fault_write(&fault, &b);
    const char *line = ridge_buf_text(&b);
    const char *end = strchr(line, '\n'), *caret = strchr(line, '^');
    assert_int_equal(end - line, 2 + 80);
    assert_int_equal(caret - end - 1, 2 + 60);
    assert_int_equal(line[2 + 59], '?');
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_notations_mean_the_same),
        cmocka_unit_test(several_axes_cut_one_dim),
        cmocka_unit_test(partial_sums_are_read),
        cmocka_unit_test(arrays_may_be_scalars),
        cmocka_unit_test(an_output_is_implied),
        cmocka_unit_test(a_dim_may_have_an_underscore),
        cmocka_unit_test(a_mesh_is_read),
        cmocka_unit_test(faults_name_their_place),
        cmocka_unit_test(a_caret_stands_under_the_fault),
        cmocka_unit_test(a_long_line_is_cut_around_the_caret),
    };
    return cmocka_run_group_tests(tests, open_ctx, close_ctx);
}
