/* The sums of a whole run: days, dollars, energy; what is unknown stays unknown. */
#include "near.h"
#include "train_fixture.h"

#include "ridge/plan_money.h"

#include <math.h>
#include <string.h>

typedef struct run_case {
    ridge_ctx *cx;
    ridge_train_request request;
    ridge_train_price price;
    ridge_site site;
    ridge_money_request money;
} run_case;

static void open_case(void **state, const char *slice, run_case *c)
{
    ridge_ctx *cx = *state;
    *c = (run_case){.cx = cx};
    c->request = train_request(train_dense_model(cx), train_slice(cx, slice), 64, 1024);
    c->request.total_tokens = 64 * 1024 * 1000.0;
    const ridge_layout layout = train_layout(1, c->request.slice->chips, 1, 1, 1);
    c->price = train_price_of(cx, &c->request, &layout);
    c->site = (ridge_site){.name = "here",
                           .pue = 1.25,
                           .write_bytes_per_s = 1e9,
                           .read_bytes_per_s = 2e9,
                           .restart_s = 100};
    c->money = (ridge_money_request){.site = &c->site, .has_mtbf = true, .mtbf_s = 1e5};
    c->money.has_price = true;
    c->money.price.usd_per_chip_hour = 2;
}

static ridge_money sums(const run_case *c)
{
    return ridge_train_money(&c->request, &c->price, &c->money);
}

static void failures_make_days_and_dollars_longer(void **state)
{
    run_case c;
    open_case(state, "h100:1x8", &c);
    const ridge_money m = sums(&c);
    assert_true(m.has_goodput && m.goodput > 0.5 && m.goodput < 1);
    assert_near(m.days * m.goodput, c.price.days, 1e-12);
    assert_near(m.usd, m.chip_hours * 2, 1e-12);
    assert_near(m.chip_hours, m.days * 24 * 8, 1e-12);
    assert_near(m.failures, m.days * 86400 / 1e5, 1e-12);
    assert_near(m.usd_per_million_tokens, m.usd / c.request.total_tokens * 1e6, 1e-9);
    assert_near(m.job.interval_s, m.interval_steps * c.price.step_time_s, 1e-12);
}

static void left_out_failures_leave_the_steps(void **state)
{
    run_case c;
    open_case(state, "h100:1x8", &c);
    c.money.is_reliable = true;
    const ridge_money m = sums(&c);
    assert_near(m.goodput, 1, 0);
    assert_near(m.days, c.price.days, 1e-12);
    assert_near(m.failures, 0, 0);
}

static void what_is_unknown_stays_unknown(void **state)
{
    run_case c;
    open_case(state, "h100:1x8", &c);
    c.money.has_mtbf = false;
    c.money.has_price = false;
    const ridge_money m = sums(&c);
    assert_false(m.has_goodput);
    assert_near(m.usd, 0, 0);
    assert_near(m.days, c.price.days, 1e-12);
    c.money.has_mtbf = true;
    c.site.write_bytes_per_s = 0;
    assert_false(sums(&c).has_goodput);
    c.money.storage_bytes_per_s = 1e9;
    assert_true(sums(&c).has_goodput);
}

static void a_checkpoint_holds_weights_master_and_moments(void **state)
{
    run_case c;
    open_case(state, "h100:1x8", &c);
    const double params = (double)ridge_model_params(c.request.model).total;
    const ridge_money m = sums(&c);
    assert_near(m.checkpoint_bytes, 14 * params, 1e-12);
    assert_near(m.write_s, 14 * params / 1e9, 1e-12);
    assert_near(m.load_s, 14 * params / 2e9, 1e-12);
    assert_near(m.copy_s, 14 * params / 8 / 6.4e10, 1e-12);
    assert_near(m.job.restart_s, 100 + m.load_s, 1e-12);
    c.price.layout.optimizer = RIDGE_OPTIMIZER_MOMENTUM; /* one fp32 moment of two */
    assert_near(sums(&c).checkpoint_bytes, 10 * params, 1e-12);
}

static void asynchronous_checkpoints_block_for_the_copy(void **state)
{
    run_case c;
    open_case(state, "h100:1x8", &c);
    const ridge_money sync = sums(&c);
    c.money.is_async = true;
    const ridge_money async = sums(&c);
    assert_near(async.job.blocked_s, async.copy_s, 0);
    assert_near(async.job.lag_s, async.write_s, 0);
    assert_near(sync.job.blocked_s, sync.write_s, 0);
    assert_near(sync.other_useful, async.share.useful, 1e-3);
    assert_true(async.goodput > sync.goodput);
}

static void an_own_interval_is_kept_in_whole_steps(void **state)
{
    run_case c;
    open_case(state, "h100:1x8", &c);
    c.money.has_interval = true;
    c.money.interval_s = 3.5 * c.price.step_time_s;
    const ridge_money m = sums(&c);
    assert_near(m.interval_steps, 4, 0);
    c.money.has_interval = false;
    assert_true(sums(&c).goodput >= m.goodput);
}

static void the_scope_of_a_mean_time_counts(void **state)
{
    run_case c;
    open_case(state, "h100:4x8", &c);
    const ridge_slice *slice = c.request.slice;
    assert_near(ridge_money_mtbf_s(slice, &c.money), 1e5, 0);
    c.money.mtbf_scope = RIDGE_MTBF_NODE;
    assert_near(ridge_money_mtbf_s(slice, &c.money), 1e5 / 4, 0);
    c.money.mtbf_scope = RIDGE_MTBF_CHIP;
    assert_near(ridge_money_mtbf_s(slice, &c.money), 1e5 / 32, 0);
    const ridge_failure_record record = {.failures_per_chip_hour = 1.0 / 3200};
    c.money.has_mtbf = false;
    c.money.failures = &record;
    assert_near(ridge_money_mtbf_s(slice, &c.money), 100 * 3600, 1e-12);
}

static void spares_are_paid_and_used(void **state)
{
    run_case c;
    open_case(state, "h100:4x8", &c);
    c.money.has_repair = true;
    c.money.repair_s = 1e4;
    const ridge_money none = sums(&c);
    c.money.spare_nodes = 2;
    const ridge_money two = sums(&c);
    assert_near(none.paid_chips, 32, 0);
    assert_near(two.paid_chips, 48, 0);
    assert_near(none.spare_availability, exp(-0.1), 1e-12);
    assert_true(two.spare_availability > none.spare_availability);
    assert_near(two.goodput, two.share.useful * two.spare_availability, 1e-12);
}

static void a_job_that_does_not_get_on_has_no_totals(void **state)
{
    run_case c;
    open_case(state, "h100:1x8", &c);
    c.money.mtbf_s = 1;
    const ridge_money m = sums(&c);
    assert_true(m.has_goodput && m.is_stuck);
    assert_near(m.days, 0, 0);
    assert_near(m.usd, 0, 0);
    assert_near(m.joules_per_token, 0, 0);
}

static void power_says_where_it_comes_from(void **state)
{
    run_case c;
    open_case(state, "h100:4x8", &c);
    ridge_power p = ridge_power_of(c.request.slice, &c.money);
    assert_int_equal(p.source, RIDGE_POWER_MEASURED);
    assert_near(p.chip_watts, 1050 + 81, 1e-12);
    assert_near(p.meter_watts, 1131 * 1.25, 1e-12);
    c.money.watts_per_chip = 500;
    c.money.pue = 1.1;
    p = ridge_power_of(c.request.slice, &c.money);
    assert_int_equal(p.source, RIDGE_POWER_GIVEN);
    assert_near(p.meter_watts, 550, 1e-12);
    const ridge_money m = sums(&c);
    assert_near(m.mean_watts, 550 * 32, 1e-12);
    assert_near(m.kwh, 0.55 * 32 * m.days * 24, 1e-12);
    assert_near(m.joules_per_token * c.request.total_tokens, m.kwh * 3.6e6, 1e-9);
    c.money.watts_per_chip = 0;
    p = ridge_power_of(train_slice(*state, "v5p:4x4x4"), &c.money);
    assert_int_equal(p.source, RIDGE_POWER_UNKNOWN);
}

/* A step that only computes at full rate draws what was measured of a node; one that
 * waits draws less, never less than a chip at rest. */
static void power_follows_the_load(void **state)
{
    run_case c;
    open_case(state, "h100:4x8", &c);
    const double rating = c.request.slice->chip->power_watts;
    ridge_train_price full = {.step_time_s = 10, .hfu = 0.6};
    full.parts.matmul_s = 9;
    full.parts.vector_s = 1;
    const ridge_power p = ridge_power_of_step(c.request.slice, &c.money, &full);
    assert_int_equal(p.source, RIDGE_POWER_LOAD);
    assert_near(p.chip_watts, 1050 + 81, 1e-12);
    assert_near(p.host_watts, 1050 - rating, 1e-12);
    ridge_train_price waiting = full;
    waiting.step_time_s = 20;
    waiting.parts.bubble_s = 10;
    waiting.hfu = 0.3;
    const ridge_power w = ridge_power_of_step(c.request.slice, &c.money, &waiting);
    const double idle = c.request.slice->chip->idle_power_share;
    const double busy = c.request.slice->chip->busy_power_share;
    assert_near(w.chip_load, 0.5 + 0.5 * (idle + (1 - idle) * busy), 1e-12);
    assert_near(w.chip_watts, w.chip_load * rating + w.host_watts + 81, 1e-12);
    assert_near(w.idle_watts, idle * rating + w.host_watts + 81, 1e-12);
    assert_true(w.idle_watts < w.chip_watts && w.chip_watts < p.chip_watts);
    c.money.watts_per_chip = 500;
    assert_int_equal(ridge_power_of_step(c.request.slice, &c.money, &full).source,
                     RIDGE_POWER_GIVEN);
}

/* Spares rest. */
static void a_spare_draws_less_than_a_chip_at_work(void **state)
{
    run_case c;
    open_case(state, "h100:4x8", &c);
    const ridge_money without = sums(&c);
    c.money.spare_nodes = 1;
    const ridge_money with = sums(&c);
    assert_true(with.mean_watts > without.mean_watts);
    assert_near(with.mean_watts - without.mean_watts, 8 * with.power.idle_watts * 1.25,
                1e-9);
    assert_near(without.joules_per_step, without.mean_watts * c.price.step_time_s,
                1e-12);
}

static void cost_is_proportional_to_price(void **state)
{
    run_case c;
    open_case(state, "h100:1x8", &c);
    const ridge_money once = sums(&c);
    c.money.price.usd_per_chip_hour *= 3;
    const ridge_money thrice = sums(&c);
    assert_near(thrice.usd, 3 * once.usd, 1e-12);
    assert_near(thrice.days, once.days, 0);
}

/* ---- texts ---------------------------------------------------------------------- */

static void durations_have_units(void **state)
{
    static const struct {
        const char *text;
        double seconds;
    } cases[] = {{"90", 90},     {"90s", 90},    {"30m", 1800},  {"30 min", 1800},
                 {"2.5h", 9000}, {"4d", 345600}, {"1w", 604800}, {"1y", 31557600}};
    double s = 0;
    for (size_t i = 0; i < RIDGE_COUNT_OF(cases); i++) {
        assert_int_equal(ridge_duration_parse(*state, cases[i].text, &s), RIDGE_OK);
        assert_near(s, cases[i].seconds, 1e-12);
    }
    static const char *const wrong[] = {"", "h", "-1h", "1x", "1e99y", "1h2", "nan"};
    for (size_t i = 0; i < RIDGE_COUNT_OF(wrong); i++) {
        if (ridge_duration_parse(*state, wrong[i], &s) != RIDGE_E_ARG)
            fail_msg("'%s' was taken", wrong[i]);
    }
}

static void mean_times_have_a_scope(void **state)
{
    ridge_money_request r = {0};
    assert_int_equal(ridge_mtbf_parse(*state, "node:4000h", &r), RIDGE_OK);
    assert_int_equal(r.mtbf_scope, RIDGE_MTBF_NODE);
    assert_near(r.mtbf_s, 4000 * 3600.0, 0);
    assert_int_equal(ridge_mtbf_parse(*state, "2.8h", &r), RIDGE_OK);
    assert_int_equal(r.mtbf_scope, RIDGE_MTBF_JOB);
    static const char *const wrong[] = {"rack:1h", "0", "job:", ":1h", "chip:0s"};
    for (size_t i = 0; i < RIDGE_COUNT_OF(wrong); i++)
        assert_int_equal(ridge_mtbf_parse(*state, wrong[i], &r), RIDGE_E_ARG);
}

static void checkpoints_have_a_way_and_an_interval(void **state)
{
    ridge_money_request r = {0};
    assert_int_equal(ridge_checkpoint_parse(*state, "async", &r), RIDGE_OK);
    assert_true(r.is_async && !r.has_interval);
    assert_int_equal(ridge_checkpoint_parse(*state, "async:10m", &r), RIDGE_OK);
    assert_true(r.is_async && r.has_interval);
    assert_near(r.interval_s, 600, 0);
    assert_int_equal(ridge_checkpoint_parse(*state, "30m", &r), RIDGE_OK);
    assert_true(!r.is_async && r.has_interval);
    static const char *const wrong[] = {"asinc", "sync:", "async:0", "", "0"};
    for (size_t i = 0; i < RIDGE_COUNT_OF(wrong); i++)
        assert_int_equal(ridge_checkpoint_parse(*state, wrong[i], &r), RIDGE_E_ARG);
}

static void explain(run_case *c, const char *quantity, ridge_explanation *out)
{
    assert_ok(c->cx, ridge_money_explain(c->cx, &c->request, &c->price, &c->money,
                                         quantity, out));
    assert_true(out->n_reasons >= 1 && out->n_reasons <= RIDGE_REASON_MAX);
    assert_string_equal(out->reasons[0].name, quantity);
    assert_int_equal(out->reasons[0].depth, 0);
    for (int i = 0; i < out->n_reasons; i++) {
        assert_true(out->reasons[i].name[0] != '\0');
        assert_non_null(out->reasons[i].values);
        assert_true(i == 0 || out->reasons[i].depth >= 1);
    }
}

static bool tells(const ridge_explanation *e, const char *name, const char *result)
{
    for (int i = 0; i < e->n_reasons; i++) {
        if (strcmp(e->reasons[i].name, name) == 0 &&
            strcmp(e->reasons[i].result, result) == 0)
            return true;
    }
    return false;
}

static void quantities_of_a_run_are_derived(void **state)
{
    run_case c;
    ridge_explanation e;
    open_case(state, "h100:1x8", &c);
    c.money.price = (ridge_price){.usd_per_chip_hour = 2,
                                  .provider = "own",
                                  .region = "",
                                  .kind = "",
                                  .date = ""};
    const ridge_money m = sums(&c);
    const char *const *names = ridge_money_quantities();
    for (; *names != NULL; names++) {
        explain(&c, *names, &e);
        assert_true(tells(&e, "goodput", ridge_format_percent(m.goodput).s));
        assert_true(tells(&e, "mtbf", ridge_format_seconds(1e5).s));
        assert_true(tells(&e, "write", ridge_format_seconds(m.write_s).s));
    }
    assert_true(tells(&e, "usd", ridge_format_usd(m.usd).s));
    assert_true(tells(&e, "days", ridge_format_seconds(m.days * 86400).s));
    assert_int_equal(
        ridge_money_explain(c.cx, &c.request, &c.price, &c.money, "fame", &e),
        RIDGE_E_NOTFOUND);
}

static void what_is_unknown_is_named_in_derivations(void **state)
{
    run_case c;
    ridge_explanation e;
    open_case(state, "h100:1x8", &c);
    c.money.has_mtbf = c.money.has_price = false;
    c.site.write_bytes_per_s = 0;
    explain(&c, "usd", &e);
    assert_true(tells(&e, "usd", "not known") && tells(&e, "goodput", "not known") &&
                tells(&e, "mtbf", "not known") && tells(&e, "write", "not known"));
    c.money.is_reliable = true;
    c.site.write_bytes_per_s = 1e9;
    explain(&c, "goodput", &e);
    assert_true(tells(&e, "mtbf", "no failures"));
    assert_true(tells(&e, "interval", "no checkpoints"));
    c.price.has_total = false;
    explain(&c, "days", &e);
    assert_true(tells(&e, "days", "not asked"));
}

static int open_ctx(void **state)
{
    *state = ridge_ctx_open();
    return *state == NULL;
}

static int close_ctx(void **state)
{
    ridge_ctx_close(*state);
    return 0;
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, open_ctx, close_ctx)

/* DeepSeek-V3: 14.8 T tokens, 37 B active parameters, 2.788 M hours of H800.
 * @source scaling-book-2025 chapter 4, with the peak that it takes */
static void hours_of_a_published_run_are_its_mfu(void **state)
{
    (void)state;
    assert_near(ridge_run_mfu(6 * 37e9, 14.8e12, 2.788e6, 1.513e15), 0.2164, 1e-3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(failures_make_days_and_dollars_longer),
        CASE(left_out_failures_leave_the_steps),
        CASE(what_is_unknown_stays_unknown),
        CASE(a_checkpoint_holds_weights_master_and_moments),
        CASE(asynchronous_checkpoints_block_for_the_copy),
        CASE(an_own_interval_is_kept_in_whole_steps),
        CASE(the_scope_of_a_mean_time_counts),
        CASE(spares_are_paid_and_used),
        CASE(a_job_that_does_not_get_on_has_no_totals),
        CASE(power_says_where_it_comes_from),
        CASE(power_follows_the_load),
        CASE(a_spare_draws_less_than_a_chip_at_work),
        CASE(cost_is_proportional_to_price),
        CASE(quantities_of_a_run_are_derived),
        CASE(what_is_unknown_is_named_in_derivations),
        CASE(hours_of_a_published_run_are_its_mfu),
        CASE(durations_have_units),
        CASE(mean_times_have_a_scope),
        CASE(checkpoints_have_a_way_and_an_interval),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
