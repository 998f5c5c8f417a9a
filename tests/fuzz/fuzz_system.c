/* Any bytes as a file of data/systems: a status and a message, never a crash. */
#include <stdlib.h>

#include "system_read.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define FACT(value) "{\"value\":" #value ",\"source\":\"s\",\"date\":\"2024\"}"
#define LINK                                                                           \
    "\"bytes_per_s\":" FACT(1e9) ",\"latency_s\":" FACT(0) ",\"startup_s\":" FACT(     \
        0) ",\"efficiency\":" FACT(1) ",\"half_rate_bytes\":" FACT(0)

static const char chip_text[] =
    "{\"name\":\"c\",\"full_name\":\"C\",\"vendor\":\"v\","
    "\"kind\":\"gpu\",\"year\":2024,"
    "\"default_system\":\"s\",\"peak_flops_per_s\":{"
    "\"bf16\":" FACT(1e15) "},\"vector_flops_per_s\":" FACT(
        1e13) ",\"hbm_bytes\":" FACT(1e10) ",\"hbm_bytes_"
                                           "per_s\":" FACT(1e12) "}";
static const char system_text[] =
    "{\"name\":\"s\",\"chip\":\"c\",\"torus\":{\"dims\":2,\"max_shape\":[4,4],"
    "\"host_shape\":[2,2],\"wrap_rule\":\"full-axis\",\"link\":{" LINK "}}}";

static const ridge_embedded files[] = {
    {"chips/c.json", chip_text, sizeof chip_text - 1},
    {"systems/s.json", system_text, sizeof system_text - 1},
};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const ridge_embedded_set set = {files, 2};
    const ridge_catalog *catalog = NULL;
    const ridge_system *base = NULL;
    ridge_system *system = NULL;
    ridge_node root;
    ridge_ctx *cx = ridge_ctx_open_budget((size_t)64 << 20);
    if (cx == NULL)
        return 0;
    if (ridge_catalog_open_data(cx, &set, NULL, &catalog) != RIDGE_OK ||
        ridge_system_find(cx, catalog, "s", &base) != RIDGE_OK)
        abort();
    const ridge_str text = {(const char *)data, size};
    if (ridge_json_parse(cx, text, "fuzz.json", &root) == RIDGE_OK) {
        if (ridge__system_read(cx, root, catalog, NULL, &system) == RIDGE_OK &&
            (system->torus_dims == 0) == (system->n_levels == 0))
            abort();
        if (ridge__system_read(cx, root, catalog, base, &system) == RIDGE_OK &&
            system->chips_per_node < 1)
            abort();
    }
    ridge_ctx_close(cx);
    return 0;
}
