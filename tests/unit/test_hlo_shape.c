/* Shapes of HLO: what they hold and take, and where elements lie under nested tiles. */
#include "near.h"

#include "ridge/profile_hlo.h"

#include <string.h>

typedef struct world {
    ridge_ctx *cx;
} world;

static int set_up(void **state)
{
    static world w;
    w.cx = ridge_ctx_open();
    *state = &w;
    return w.cx == NULL;
}

static int tear_down(void **state)
{
    ridge_ctx_close(((world *)*state)->cx);
    return 0;
}

static ridge_hlo_shape shape_of(world *w, const char *text)
{
    ridge_hlo_shape shape;
    assert_int_equal(ridge_hlo_shape_parse(w->cx, text, &shape), RIDGE_OK);
    return shape;
}

static int64_t offset_of(world *w, const char *text, int64_t row, int64_t column)
{
    const ridge_hlo_shape shape = shape_of(w, text);
    const int64_t index[] = {row, column};
    return ridge_hlo_shape_offset(&shape, index);
}

/* The four cases of scaling-book-2025 chapter 9. */
static void tiles_pad_as_in_the_book(void **state)
{
    world *w = *state;
    const ridge_hlo_shape small = shape_of(w, "f32[3,5]{1,0:T(2,2)}");
    assert_near(ridge_hlo_shape_bytes(&small), 60, 0);
    assert_near(ridge_hlo_shape_padded_bytes(&small), 96, 0);
    const ridge_hlo_shape vmem =
        shape_of(w, "bf16[32,32,4096]{2,1,0:T(8,128)(2,1)S(1)}");
    assert_near(ridge_hlo_shape_bytes(&vmem), 8388608, 0);
    assert_near(ridge_hlo_shape_padded_bytes(&vmem), 8388608, 0);
    assert_int_equal(ridge_hlo_shape_space(&vmem), RIDGE_HLO_SPACE_FAST);
}

static void dims_are_rounded_up_to_the_outermost_tile(void **state)
{
    static const struct {
        const char *text;
        int64_t want[3];
    } cases[] = {{"bf16[30,100,1000]{2,1,0:T(8,128)(2,1)}", {30, 104, 1024}},
                 {"bf16[30,100,1000]{0,2,1:T(8,128)}", {128, 100, 1000}},
                 {"f32[5,7,9]", {5, 7, 9}}};
    for (size_t k = 0; k < RIDGE_COUNT_OF(cases); k++) {
        const ridge_hlo_shape shape = shape_of(*state, cases[k].text);
        int64_t dims[3];
        double padded = shape.layout ? 2 : 4;
        ridge_hlo_shape_padded_dims(&shape, dims);
        for (int i = 0; i < 3; i++) {
            assert_int_equal(dims[i], cases[k].want[i]);
            padded *= (double)dims[i];
        }
        assert_near(ridge_hlo_shape_padded_bytes(&shape), padded, 0);
    }
}

static void elements_lie_tile_by_tile(void **state)
{
    world *w = *state;
    const char *text = "f32[3,5]{1,0:T(2,2)}";
    const int64_t want[][3] = {{0, 0, 0}, {0, 1, 1}, {1, 0, 2},
                               {1, 1, 3}, {0, 2, 4}, {2, 4, 20}};
    for (size_t k = 0; k < RIDGE_COUNT_OF(want); k++)
        assert_int_equal(offset_of(w, text, want[k][0], want[k][1]), want[k][2]);
}

static void inner_tiles_interleave_rows(void **state)
{
    world *w = *state;
    const char *text = "bf16[4,8]{1,0:T(2,4)(2,1)}";
    const int64_t want[][3] = {{0, 0, 0}, {1, 0, 1}, {0, 1, 2},
                               {1, 3, 7}, {0, 4, 8}, {2, 0, 16}};
    for (size_t k = 0; k < RIDGE_COUNT_OF(want); k++)
        assert_int_equal(offset_of(w, text, want[k][0], want[k][1]), want[k][2]);
}

static void column_major_and_plain_orders(void **state)
{
    world *w = *state;
    assert_int_equal(offset_of(w, "f32[3,5]", 2, 1), 11);
    assert_int_equal(offset_of(w, "f32[3,5]{0,1}", 2, 1), 5);
}

static void scalars_and_single_rows_fill_a_tile(void **state)
{
    world *w = *state;
    const ridge_hlo_shape scalar = shape_of(w, "s32[]{:T(128)}");
    assert_near(ridge_hlo_shape_bytes(&scalar), 4, 0);
    assert_near(ridge_hlo_shape_padded_bytes(&scalar), 512, 0);
    const ridge_hlo_shape row = shape_of(w, "f32[1,100]{1,0:T(8,128)}");
    assert_near(ridge_hlo_shape_padded_bytes(&row), 4096, 0);
}

static void joined_dims_are_tiled_together(void **state)
{
    world *w = *state;
    const ridge_hlo_shape joined = shape_of(w, "f32[3,5,128]{2,1,0:T(*,8,128)}");
    /* 15 rows make two tiles of 8 */
    assert_near(ridge_hlo_shape_padded_bytes(&joined), 16 * 128 * 4, 0);
}

static void narrow_types_are_packed_where_the_layout_says_so(void **state)
{
    world *w = *state;
    const ridge_hlo_shape plain = shape_of(w, "u4[1024,512]");
    const ridge_hlo_shape packed = shape_of(w, "u4[1024,512]{1,0:E(4)}");
    const ridge_hlo_shape loose = shape_of(w, "s4[1024,512]{0,1}");
    const ridge_hlo_shape fp8 = shape_of(w, "f8e4m3fnuz[7]");
    assert_near(ridge_hlo_shape_bytes(&plain), 262144, 0);
    assert_near(ridge_hlo_shape_padded_bytes(&packed), 262144, 0);
    assert_near(ridge_hlo_shape_padded_bytes(&loose), 524288, 0);
    assert_near(ridge_hlo_shape_bytes(&fp8), 7, 0);
}

static void tuples_and_bounds(void **state)
{
    world *w = *state;
    const ridge_hlo_shape tuple =
        shape_of(w, "(f32[2,3]{1,0}, (bf16[<=8], token[]), /*index=2*/pred[4])");
    assert_int_equal(tuple.n, 3);
    assert_near(ridge_hlo_shape_bytes(&tuple), 24 + 16 + 4, 0);
    assert_int_equal(tuple.parts[1].parts[0].dynamic, 1);
}

static void text_is_written_back(void **state)
{
    world *w = *state;
    static const char *const texts[] = {
        "bf16[32,32,4096]{2,1,0:T(8,128)(2,1)S(1)}",
        "(f32[2], (s4[<=8,3]{0,1:E(4)}, token[]))",
        "pred[]",
        "f32[4,8]{1,0:T(*,128)}",
    };
    for (size_t k = 0; k < RIDGE_COUNT_OF(texts); k++) {
        const ridge_hlo_shape shape = shape_of(w, texts[k]);
        ridge_buf b;
        ridge_buf_init(&b, ridge_ctx_arena(w->cx));
        ridge_hlo_shape_write(&shape, &b);
        assert_string_equal(ridge_buf_text(&b), texts[k]);
    }
}

static void faults_name_their_place(void **state)
{
    world *w = *state;
    static const struct {
        const char *text, *message;
    } rows[] = {
        {"f99[2]", "1:1: an element type such as f32 is wanted"},
        {"f32[2,-1]", "a size of at most 2^53 is wanted as a dim"},
        {"f32[9223372036854775807]", "a size of at most 2^53 is wanted as a dim"},
        {"f32[2,3]{0,0}", "a layout names each of 2 dims once"},
        {"f32[2,3]{1}", "a layout of 2 dims is wanted"},
        {"f32[2]{0:T(0)}", "a size of at most 2^31 or * is wanted in a tile"},
        {"f32[2]{0:T(4294967296)}", "a size of at most 2^31 or * is wanted in a tile"},
        {"f32[2]{0:Q(1)}", "T(..), E(..), S(..) or } is wanted"},
        {"(f32[2]", "',' is wanted between the shapes of a tuple, found the end"},
        {"f32[2] x", "nothing more is wanted behind the shape, found 'x'"},
        {"f32[1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1]",
         "an array has more than 32 dims"},
    };
    for (size_t k = 0; k < RIDGE_COUNT_OF(rows); k++) {
        ridge_hlo_shape shape;
        assert_int_equal(ridge_hlo_shape_parse(w->cx, rows[k].text, &shape),
                         RIDGE_E_PARSE);
        assert_non_null(strstr(ridge_ctx_message(w->cx), rows[k].message));
    }
}

static void every_type_has_a_number_format(void **state)
{
    (void)state;
    for (int t = 0; t < RIDGE_HLO_TYPE_COUNT; t++) {
        ridge_hlo_type found;
        const char *text = ridge_hlo_type_text((ridge_hlo_type)t);
        assert_true(ridge_hlo_type_find(ridge_str_of(text), &found));
        assert_int_equal(found, t);
    }
    assert_int_equal(ridge_hlo_type_dtype(RIDGE_HLO_F8E5M2), RIDGE_DTYPE_FP8);
    assert_int_equal(ridge_hlo_type_dtype(RIDGE_HLO_F4E2M1FN), RIDGE_DTYPE_FP4);
    assert_int_equal(ridge_hlo_type_dtype(RIDGE_HLO_S8), RIDGE_DTYPE_INT8);
    assert_int_equal(ridge_hlo_type_dtype(RIDGE_HLO_F32), RIDGE_DTYPE_FP32);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(tiles_pad_as_in_the_book),
        TEST(dims_are_rounded_up_to_the_outermost_tile),
        TEST(elements_lie_tile_by_tile),
        TEST(inner_tiles_interleave_rows),
        TEST(column_major_and_plain_orders),
        TEST(scalars_and_single_rows_fill_a_tile),
        TEST(joined_dims_are_tiled_together),
        TEST(narrow_types_are_packed_where_the_layout_says_so),
        TEST(tuples_and_bounds),
        TEST(text_is_written_back),
        TEST(faults_name_their_place),
        TEST(every_type_has_a_number_format),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
