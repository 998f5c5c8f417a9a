/* Chrome traces, and XProf's tables, of any bytes: read, or refused; what is read is
 * attributed, and each step's parts sum to it. */
#include "profile_builder.h"
#include "trace_reader.h"
#include "xprof_table.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_step(const ridge_profile_step *step)
{
    int64_t sum = 0;
    for (int part = 0; part < RIDGE_PROFILE_PART_COUNT; part++) {
        if (step->times.part_ns[part] < 0 || step->times.hidden_ns[part] < 0)
            __builtin_trap();
        sum += step->times.part_ns[part];
    }
    if (sum != step->times.total_ns || sum != step->end_ns - step->start_ns)
        __builtin_trap();
}

static ridge_status profile_of(ridge_ctx *cx, ridge_str text, ridge_profile *out)
{
    const ridge_profile_request request = {.path = "fuzz", .keeps_step = true};
    byte_window w = byte_window_of(cx, text);
    trace_store store;
    profile_builder builder;
    RIDGE_TRY(trace_store_init(cx, ridge_ctx_scratch(cx), &store));
    bool is_table = false;
    RIDGE_TRY(chrome_reader_read(&w, "fuzz", &store, &is_table));
    if (is_table)
        RIDGE_TRY(xprof_table_of(cx, text, "fuzz", &store));
    RIDGE_TRY(profile_builder_init(cx, &request, out, &builder));
    RIDGE_TRY(profile_builder_add(&builder, "fuzz", &store));
    RIDGE_TRY(profile_builder_end(&builder));
    RIDGE_TRY(profile_roofline_set(cx, &request, out));
    return profile_advice_set(cx, out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    enum { BUDGET_BYTES = 256 << 20 };
    ridge_ctx *cx = ridge_ctx_open_budget(BUDGET_BYTES);
    ridge_profile profile = {.path = "fuzz"};
    if (cx == NULL)
        return 0;
    if (profile_of(cx, (ridge_str){(const char *)data, size}, &profile) == RIDGE_OK) {
        for (int i = 0; i < profile.n_devices; i++) {
            for (int k = 0; k < profile.devices[i].n_steps; k++)
                check_step(&profile.devices[i].steps[k]);
        }
    }
    ridge_ctx_close(cx);
    return 0;
}
