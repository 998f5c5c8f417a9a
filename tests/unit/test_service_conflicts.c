/* Knobs that contradict each other, the model or the slice are refused, by name. */
#include "service_fixture.h"

#include <string.h>

typedef struct knob {
    const char *key, *value;
} knob;

enum { KNOBS_MOST = 5 };

/* A search of a small dense model on eight chips under knobs, and what it says. */
static void refuse(bool has_experts, const knob knobs[KNOBS_MOST], const char *says)
{
    ridge_ctx *cx = ridge_ctx_open();
    const ridge_model *model =
        has_experts ? train_moe_model(cx) : train_dense_model(cx);
    ridge_service_request r = service_request(cx, model, "h100:1x8");
    ridge_service_result *out = ridge_new(ridge_ctx_arena(cx), ridge_service_result, 1);
    for (int i = 0; i < KNOBS_MOST && knobs[i].key != NULL; i++)
        assert_ok(cx,
                  ridge_service_knobs_set(cx, &r.knobs, knobs[i].key, knobs[i].value));
    const ridge_status st = ridge_service_search(cx, &r, out);
    if (says == NULL) {
        assert_ok(cx, st);
        assert_true(out->n_layouts > 0);
    } else {
        if (st != RIDGE_E_ARG || strstr(ridge_ctx_message(cx), says) == NULL)
            fail_msg("%s=%s says: %s", knobs[0].key, knobs[0].value,
                     ridge_ctx_message(cx));
    }
    ridge_ctx_close(cx);
}

#define KNOBS(...) ((const knob[KNOBS_MOST]){__VA_ARGS__})

static void knobs_of_two_pools_need_two(void **state)
{
    (void)state;
    refuse(false, KNOBS({"mode", "aggregated"}, {"prefill_tp", "2"}), "prefill_tp=");
    refuse(false, KNOBS({"decode_pp", "2"}, {"mode", "aggregated"}), "decode_pp=");
    refuse(false, KNOBS({"mode", "aggregated"}, {"tp", "2"}), NULL);
    refuse(false, KNOBS({"tp", "2"}, {"servers", "2"}), NULL);
}

static void drafts_and_experts_have_to_be_there(void **state)
{
    (void)state;
    refuse(false, KNOBS({"depth", "2"}), "depth=2 is of drafts");
    refuse(false, KNOBS({"depth", "0"}), NULL);
    refuse(false, KNOBS({"ep", "2"}), "ep= is of experts");
    refuse(true, KNOBS({"ep", "2"}), NULL);
}

static void the_knob_that_leaves_nothing_is_named(void **state)
{
    (void)state;
    refuse(false, KNOBS({"pp", "2"}, {"tp", "3"}), "the tp= that is asked for");
    refuse(false, KNOBS({"tp", "2"}, {"pp", "16"}), "the pp= that is asked for");
    refuse(true, KNOBS({"ep", "3"}), "the ep= that is asked for");
    refuse(false, KNOBS({"mode", "aggregated"}, {"servers", "9"}),
           "the servers= that is asked for");
    refuse(false, KNOBS({"tp", "4"}, {"pp", "4"}), "together");
}

static void two_pools_need_room_beside_each_other(void **state)
{
    (void)state;
    const knob two = {"mode", "disaggregated"};
    refuse(false, KNOBS(two, {"prefill_tp", "8"}), "no prefill servers beside");
    refuse(false, KNOBS(two, {"decode_tp", "8"}), "no decode servers beside");
    refuse(false,
           KNOBS(two, {"prefill_tp", "4"}, {"decode_tp", "4"}, {"decode_servers", "2"}),
           "prefill servers take 4 chips at least and decode servers 8");
    refuse(false, KNOBS(two, {"prefill_tp", "4"}, {"decode_tp", "4"}), NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(knobs_of_two_pools_need_two),
        cmocka_unit_test(drafts_and_experts_have_to_be_there),
        cmocka_unit_test(the_knob_that_leaves_nothing_is_named),
        cmocka_unit_test(two_pools_need_room_beside_each_other),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
