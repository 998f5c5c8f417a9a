/* HLO text: every form of an instruction, what is lacking, what is wrong and where. */
#include "near.h"

#include "ridge/profile_hlo.h"

#include <string.h>

typedef struct world {
    ridge_ctx *cx;
    ridge_hlo_file file;
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

static const ridge_hlo_module *read(world *w, const char *text)
{
    const ridge_status st =
        ridge_hlo_parse(w->cx, ridge_str_of(text), "t.hlo", &w->file);
    if (st != RIDGE_OK)
        print_message("%s\n", ridge_ctx_message(w->cx));
    assert_int_equal(st, RIDGE_OK);
    return &w->file.modules[0];
}

static const ridge_hlo_instruction *entry_at(const ridge_hlo_module *m, int index)
{
    return &m->computations[m->entry].instructions[index];
}

static void assert_text(ridge_str s, const char *want)
{
    assert_int_equal(s.n, strlen(want));
    assert_memory_equal(s.p, want, s.n);
}

static void heads_and_entries(void **state)
{
    const ridge_hlo_module *m =
        read(*state, "HloModule jit_f, is_scheduled=true, num_partitions=4, "
                     "replica_count=2\n\n"
                     "%add (a: f32[], b: f32[]) -> f32[] {\n"
                     "  %a = f32[] parameter(0)\n  %b = f32[] parameter(1)\n"
                     "  ROOT %c = f32[] add(%a, %b)\n}\n\n"
                     "ENTRY %main (x: f32[8]) -> f32[] {\n"
                     "  %x = f32[8]{0} parameter(0)\n"
                     "  %z = f32[] constant(0) // a comment\n"
                     "  ROOT %r = f32[] reduce(%x, %z), dimensions={0}, to_apply=%add\n"
                     "}\n");
    assert_text(m->name, "jit_f");
    assert_true(m->is_scheduled);
    assert_int_equal(m->partitions, 4);
    assert_int_equal(m->replicas, 2);
    assert_int_equal(m->entry, 1);
    assert_int_equal(m->computations[1].root, 2);
    assert_int_equal(entry_at(m, 2)->called[0], 0);
    assert_int_equal(entry_at(m, 2)->line, 12);
    assert_text(entry_at(m, 1)->literal, "0");
}

static void attributes_go_over_lines_and_braces(void **state)
{
    const ridge_hlo_module *m = read(
        *state,
        "e {\n  a = f32[2,3] parameter(0)\n  b = f32[3,4] parameter(1)\n"
        "  d = f32[2,4] dot(a, b),\n    lhs_contracting_dims={1},\n"
        "    rhs_contracting_dims={0}, backend_config={\"k\":[1,2],\"s\":\"a,b}\"},\n"
        "    metadata={op_name=\"jit(f)/x/dot\" source_file=\"f.py\" source_line=7}\n"
        "}\n");
    const ridge_hlo_instruction *d = entry_at(m, 2);
    ridge_str file;
    int line;
    assert_int_equal(d->n_attributes, 4);
    assert_text(ridge_hlo_attribute_of(d, "backend_config"),
                "{\"k\":[1,2],\"s\":\"a,b}\"}");
    assert_text(ridge_hlo_scope_of(d), "jit(f)/x/dot");
    assert_true(ridge_hlo_source_of(m, d, &file, &line));
    assert_text(file, "f.py");
    assert_int_equal(line, 7);
    assert_null(ridge_hlo_attribute_of(d, "sharding").p);
}

static void sources_come_from_the_tables(void **state)
{
    const ridge_hlo_module *m =
        read(*state, "HloModule m\n\nFileNames\n1 \"a.py\"\n2 \"b.py\"\n\n"
                     "FunctionNames\n1 \"f\"\n\nFileLocations\n"
                     "1 {file_name_id=2 function_name_id=1 line=5 end_line=6}\n\n"
                     "StackFrames\n1 {file_location_id=1 parent_frame_id=1}\n\n"
                     "ENTRY e {\n  ROOT a = f32[] parameter(0), "
                     "metadata={op_name=\"x\" stack_frame_id=1}\n}\n");
    ridge_str file;
    int line;
    assert_true(ridge_hlo_source_of(m, entry_at(m, 0), &file, &line));
    assert_text(file, "b.py");
    assert_int_equal(line, 5);
    assert_int_equal(m->frames[0].parent, -1);
}

static void ends_of_asynchronous_operations(void **state)
{
    const ridge_hlo_module *m =
        read(*state,
             "c {\n  p = f32[4] parameter(0)\n  s = f32[2] slice(p), slice={[0:2]}\n}\n"
             "ENTRY e {\n  a = f32[4] parameter(0)\n"
             "  g = (f32[4], f32[8]) all-gather-start(a), dimensions={0}\n"
             "  h = f32[8] all-gather-done(g)\n"
             "  s = ((f32[4]), f32[2], u32[]) async-start(a), calls=c\n"
             "  u = ((f32[4]), f32[2], u32[]) async-update(s)\n"
             "  d = f32[2] async-done(u)\n"
             "  ROOT q = f32[2] slice-start(a)\n}\n");
    const struct {
        ridge_hlo_opcode code;
        ridge_hlo_phase phase;
    } want[] = {{RIDGE_HLO_OP_PARAMETER, RIDGE_HLO_WHOLE},
                {RIDGE_HLO_OP_ALL_GATHER, RIDGE_HLO_START},
                {RIDGE_HLO_OP_ALL_GATHER, RIDGE_HLO_DONE},
                {RIDGE_HLO_OP_ASYNC, RIDGE_HLO_START},
                {RIDGE_HLO_OP_ASYNC, RIDGE_HLO_UPDATE},
                {RIDGE_HLO_OP_ASYNC, RIDGE_HLO_DONE},
                {RIDGE_HLO_OP_SLICE, RIDGE_HLO_START}};
    for (size_t k = 0; k < RIDGE_COUNT_OF(want); k++) {
        assert_int_equal(entry_at(m, (int)k)->code, want[k].code);
        assert_int_equal(entry_at(m, (int)k)->phase, want[k].phase);
    }
}

/* Text that other tools print: operands with shapes, instructions in place of operands,
 * parameters only in the head, shapes and computations left out. */
static void loose_text_is_read_and_what_lacks_is_told(void **state)
{
    const ridge_hlo_module *m =
        read(*state, "%body (p: (s32[], f32[8])) -> (s32[], f32[8]) {\n"
                     "  %i = s32[] get-tuple-element(p), index=0\n"
                     "  %n = s32[] add(%i, s32[] constant(1))\n"
                     "  %x = f32[8] get-tuple-element((s32[], f32[8]) %p), index=1\n"
                     "  %r = f32[8] all-reduce(%x), to_apply=nowhere\n"
                     "  ROOT %t = (s32[], f32[8]) tuple(%n, %r)\n}\n"
                     "ENTRY %e (p: f32[8]) -> f32[8] {\n  %p = f32[8] parameter(0)\n"
                     "  %w = while(%p), condition=%nowhere2, body=%body\n"
                     "  ROOT %r = f32[8] negate(%w)\n}\n");
    assert_int_equal(m->computations[0].n, 7); /* with the parameter and the constant */
    assert_int_equal(m->n_missing, 3);
    assert_string_equal(m->missing, "the shape of w");
    assert_int_equal(entry_at(m, 1)->called[0], -1);
    assert_int_equal(entry_at(m, 1)->called[1], 0);
    assert_int_equal(entry_at(m, 1)->shape.dims[0], 8);
}

static void modules_follow_each_other(void **state)
{
    world *w = *state;
    read(w,
         "// RUN: x\n\nHloModule a\nENTRY e { ROOT x = f32[] parameter(0) }\n"
         "// -----\ne { x = f32[2] parameter(0) }\n// -----\n"
         "e { x = f32[3] parameter(0) }\nHloModule b\nf { x = f32[4] parameter(0) }");
    assert_int_equal(w->file.n_modules, 4);
    assert_text(w->file.modules[3].name, "b");
    assert_int_equal(entry_at(&w->file.modules[2], 0)->shape.dims[0], 3);
}

static void a_cut_text_gives_what_is_whole(void **state)
{
    const ridge_hlo_module *m =
        read(*state, "HloModule m\n\nc {\n  a = f32[2] parameter(0)\n"
                     "  b = f32[2] negate(a)\n  c = f32[2] add(a, ");
    assert_int_equal(m->computations[0].n, 2);
    assert_non_null(strstr(m->cut, "within computation 'c'"));
    assert_int_equal(m->entry, -1);
    m = read(*state, "HloModule m\n\nc {\n  a = f32[2] parameter(0)\n}\n\n"
                     "%d (p: f32[2], q: f3");
    assert_int_equal(m->n_computations, 1);
    assert_non_null(strstr(m->cut, "in the head of a computation"));
}

static void faults_name_their_place(void **state)
{
    world *w = *state;
    static const struct {
        const char *text, *message;
    } rows[] = {
        {"  \n", "t.hlo: is empty"},
        {"<html>",
         "t.hlo:1:1: HloModule, ENTRY or the name of a computation is wanted"},
        {"HloModule m\n", "t.hlo: module 'm' has no computation: is the file cut?"},
        {"e {\n  x = f32[2] add(y)\n  z = f32[2] negate(x)\n}",
         "t.hlo:2:18: operand 'y' is not defined before it is used"},
        {"e {\n  x = f32[2,] parameter(0)\n  y = f32[] constant(0)\n}",
         "t.hlo:2:13: a size of at most 2^53 is wanted as a dim"},
        {"e {\n  x f32[2] parameter(0)\n  y = f32[] constant(0)\n}",
         "t.hlo:2:5: '=' is wanted behind the name of an instruction"},
        {"e {\n  x = f32[2] iota(), 7\n  y = f32[] constant(0)\n}",
         "'=' is wanted behind the attribute '7'"},
        {"e {\n  x = f32[2] call(), to_apply=e\n}",
         "t.hlo:1:1: computation 'e' calls itself"},
        {"a { x = f32[] call(), to_apply=b\n}\nb { x = f32[] call(), to_apply=a\n}",
         "calls itself, through others or not"},
    };
    for (size_t k = 0; k < RIDGE_COUNT_OF(rows); k++) {
        assert_int_equal(
            ridge_hlo_parse(w->cx, ridge_str_of(rows[k].text), "t.hlo", &w->file),
            RIDGE_E_PARSE);
        if (!strstr(ridge_ctx_message(w->cx), rows[k].message))
            fail_msg("'%s' is not in '%s'", rows[k].message, ridge_ctx_message(w->cx));
    }
}

static void deep_nesting_is_refused(void **state)
{
    world *w = *state;
    static char text[1 << 16];
    size_t n = 0;
    n += (size_t)snprintf(text, sizeof text, "e {\n  x = ");
    memset(text + n, '(', 1000);
    n += 1000;
    snprintf(text + n, sizeof text - n, "f32[]\n  y = f32[] constant(0)\n}");
    assert_int_equal(ridge_hlo_parse(w->cx, ridge_str_of(text), "t", &w->file),
                     RIDGE_E_PARSE);
    assert_non_null(strstr(ridge_ctx_message(w->cx), "tuples lie deeper than"));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(heads_and_entries),
        TEST(attributes_go_over_lines_and_braces),
        TEST(sources_come_from_the_tables),
        TEST(ends_of_asynchronous_operations),
        TEST(loose_text_is_read_and_what_lacks_is_told),
        TEST(modules_follow_each_other),
        TEST(a_cut_text_gives_what_is_whole),
        TEST(faults_name_their_place),
        TEST(deep_nesting_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
