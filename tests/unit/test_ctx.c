/* One request: its message, what is undone at its end, its cancel flag, its lock. */
#include "near.h"
#include "ridge/base.h"

#include <string.h>

static int open_ctx(void **state)
{
    *state = ridge_ctx_open();
    return *state == NULL ? -1 : 0;
}

static int close_ctx(void **state)
{
    ridge_ctx_close(*state);
    return 0;
}

static void a_new_ctx_has_no_message(void **state)
{
    assert_string_equal(ridge_ctx_message(*state), "");
}

static void a_failure_says_what_and_returns_its_status(void **state)
{
    ridge_ctx *cx = *state;
    ridge_status st = ridge_fail(cx, RIDGE_E_ARG, "tp %d: %s", 3, "take 4");
    assert_int_equal(st, RIDGE_E_ARG);
    assert_string_equal(ridge_ctx_message(cx), "tp 3: take 4");
    ridge_ctx_clear(cx);
    assert_string_equal(ridge_ctx_message(cx), "");
}

static void notes_stand_before_the_message(void **state)
{
    ridge_ctx *cx = *state;
    assert_int_equal(ridge_fail(cx, RIDGE_E_PARSE, "no"), RIDGE_E_PARSE);
    ridge_ctx_note(cx, "chip %s", "x1");
    ridge_ctx_note(cx, "slice");
    assert_string_equal(ridge_ctx_message(cx), "slice: chip x1: no");
}

static void control_characters_never_reach_the_message(void **state)
{
    ridge_ctx *cx = *state;
    assert_int_equal(ridge_fail(cx, RIDGE_E_ARG, "a%sb", "\n\033[31m\r\t\x7f"),
                     RIDGE_E_ARG);
    assert_string_equal(ridge_ctx_message(cx), "a\\n\\x1b[31m\\r\\t\\x7f"
                                               "b");
    ridge_ctx_note(cx, "x\ny");
    assert_string_equal(ridge_ctx_message(cx), "x\\ny: a\\n\\x1b[31m\\r\\t\\x7f"
                                               "b");
    /* U+009B starts a command too; letters beyond ASCII stay. */
    assert_int_equal(ridge_fail(cx, RIDGE_E_ARG,
                                "\xc2\x9b"
                                "31m \xc2\xb5s \xc3\x9b"),
                     RIDGE_E_ARG);
    assert_string_equal(ridge_ctx_message(cx), "\\u009b"
                                               "31m \xc2\xb5s \xc3\x9b");
}

static void a_message_may_quote_the_last_one(void **state)
{
    ridge_ctx *cx = *state;
    assert_int_equal(ridge_fail(cx, RIDGE_E_IO, "first"), RIDGE_E_IO);
    assert_int_equal(ridge_fail(cx, RIDGE_E_IO, "again: %s", ridge_ctx_message(cx)),
                     RIDGE_E_IO);
    assert_string_equal(ridge_ctx_message(cx), "again: first");
    ridge_ctx_note(cx, "note of %s", ridge_ctx_message(cx));
    assert_string_equal(ridge_ctx_message(cx), "note of again: first: again: first");
}

static void long_messages_are_cut_not_overrun(void **state)
{
    ridge_ctx *cx = *state;
    const char *hundred =
        "0123456789012345678901234567890123456789012345678901234567890"
        "123456789012345678901234567890123456789";
    assert_int_equal(ridge_fail(cx, RIDGE_E_ARG, "start"), RIDGE_E_ARG);
    for (int i = 0; i < 50; i++)
        ridge_ctx_note(cx, "%s", hundred);
    size_t n = strlen(ridge_ctx_message(cx));
    assert_true(n > 2000 && n < 2048);
    assert_memory_equal(ridge_ctx_message(cx), hundred, 100);
    char wide[5000];
    memset(wide, 'w', sizeof wide - 1);
    wide[sizeof wide - 1] = '\0';
    assert_int_equal(ridge_fail(cx, RIDGE_E_ARG, "%s", wide), RIDGE_E_ARG);
    ridge_ctx_note(cx, "%s", wide);
    assert_true(strlen(ridge_ctx_message(cx)) < 2048);
}

typedef struct trace {
    char order[8];
    size_t n;
} trace;

typedef struct step {
    trace *trace;
    char name;
} step;

static void record(void *payload)
{
    step *s = payload;
    s->trace->order[s->trace->n++] = s->name;
}

static void deferred_calls_run_last_in_first_out(void **state)
{
    (void)state;
    trace t = {{0}, 0};
    step steps[3] = {{&t, 'a'}, {&t, 'b'}, {&t, 'c'}};
    ridge_ctx *cx = ridge_ctx_open();
    for (int i = 0; i < 3; i++)
        assert_int_equal(ridge_ctx_defer(cx, record, &steps[i]), RIDGE_OK);
    assert_int_equal(t.n, 0);
    ridge_ctx_close(cx);
    assert_string_equal(t.order, "cba");
}

static void without_memory_the_deferred_call_runs_at_once(void **state)
{
    (void)state;
    trace t = {{0}, 0};
    step s = {&t, 'a'};
    ridge_ctx *cx = ridge_ctx_open_budget(0);
    assert_int_equal(ridge_ctx_defer(cx, record, &s), RIDGE_E_NOMEM);
    assert_string_equal(t.order, "a");
    assert_non_null(strstr(ridge_ctx_message(cx), "budget of 0 bytes"));
    ridge_ctx_close(cx);
    assert_string_equal(t.order, "a");
}

static void a_cancel_stays(void **state)
{
    (void)state;
    ridge_ctx *cx = ridge_ctx_open();
    assert_false(ridge_ctx_is_cancelled(cx));
    ridge_ctx_cancel(cx);
    assert_true(ridge_ctx_is_cancelled(cx));
    ridge_ctx_clear(cx);
    assert_true(ridge_ctx_is_cancelled(cx));
    ridge_ctx_close(cx);
}

static void closing_nothing_is_allowed(void **state)
{
    (void)state;
    ridge_ctx_close(NULL);
}

static void a_lock_may_be_taken_again_by_its_holder(void **state)
{
    ridge_lock *lock = NULL;
    assert_int_equal(ridge_lock_open(*state, &lock), RIDGE_OK);
    ridge_lock_take(lock);
    ridge_lock_take(lock);
    ridge_lock_give(lock);
    ridge_lock_give(lock);
}

static void each_status_has_a_text_of_its_own(void **state)
{
    (void)state;
    for (int a = RIDGE_OK; a <= RIDGE_E_INTERNAL; a++) {
        for (int b = RIDGE_OK; b < a; b++) {
            assert_string_not_equal(ridge_status_text((ridge_status)a),
                                    ridge_status_text((ridge_status)b));
        }
    }
    assert_string_equal(ridge_status_text(RIDGE_E_NOTFOUND), "unknown name");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_new_ctx_has_no_message),
        cmocka_unit_test(a_failure_says_what_and_returns_its_status),
        cmocka_unit_test(notes_stand_before_the_message),
        cmocka_unit_test(control_characters_never_reach_the_message),
        cmocka_unit_test(a_message_may_quote_the_last_one),
        cmocka_unit_test(long_messages_are_cut_not_overrun),
        cmocka_unit_test(deferred_calls_run_last_in_first_out),
        cmocka_unit_test(without_memory_the_deferred_call_runs_at_once),
        cmocka_unit_test(a_cancel_stays),
        cmocka_unit_test(closing_nothing_is_allowed),
        cmocka_unit_test(a_lock_may_be_taken_again_by_its_holder),
        cmocka_unit_test(each_status_has_a_text_of_its_own),
    };
    return cmocka_run_group_tests(tests, open_ctx, close_ctx);
}
