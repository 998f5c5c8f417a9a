/*
 * A small catalogue with round numbers, so that tests of slices, placements and readers
 * do not move with data/.
 */
#include "hardware_fixture.h"

#include "near.h"

#define CHIP(name, aliases, system)                                                         \
    "{\"name\":\"" name "\",\"full_name\":\"Fixture " name                                  \
    "\",\"vendor\":\"Acme\",\"kind\":\"gpu\",\"year\":2024,\"aliases\":[" aliases           \
    "],\"default_system\":\"" system                                                        \
    "\",\"peak_flops_per_s\":{\"bf16\":" FACT(1e15) ",\"fp8\":" FACT(                       \
        2e15) "},\"vector_flops_per_s\":" FACT(6e13) ",\"hbm_bytes\":" FACT(8e10) ","       \
                                                                                  "\""      \
                                                                                  "hb"      \
                                                                                  "m_"      \
                                                                                  "by"      \
                                                                                  "te"      \
                                                                                  "s_"      \
                                                                                  "pe"      \
                                                                                  "r_"      \
                                                                                  "s"       \
                                                                                  "\""      \
                                                                                  ":" FACT( \
                                                                                      2e12) "}"

#define TORUS(name, chip, dims, max, host, rule)                                       \
    "{\"name\":\"" name "\",\"chip\":\"" chip "\",\"torus\":{\"dims\":" #dims          \
    ",\"max_shape\":[" max "],\"host_shape\":[" host "],\"wrap_rule\":\"" rule         \
    "\",\"link\":{" LINK "}},\"dcn\":{" LINK "}}"

#define SWITCHED(name, chip, per_node, levels)                                         \
    "{\"name\":\"" name "\",\"chip\":\"" chip "\",\"chips_per_node\":" #per_node       \
    ",\"levels\":[" levels "]}"

#define FILE_OF(path, text)                                                            \
    {                                                                                  \
        path, text, sizeof(text) - 1                                                   \
    }

static const ridge_embedded files[] = {
    FILE_OF("chips/board.json", CHIP("board", "", "board-1")),
    FILE_OF("chips/cube.json", CHIP("cube", "\"cube v5\"", "cube-pod")),
    FILE_OF("chips/flat.json", CHIP("flat", "", "flat-pod")),
    FILE_OF("chips/gpu.json", CHIP("gpu", "\"gpu-80gb\"", "pod")),
    FILE_OF("chips/pair.json", CHIP("pair", "", "pair-net")),
    FILE_OF("chips/rack.json", CHIP("rack", "", "rack-72")),
    FILE_OF(
        "prices/acme.json",
        "{\"provider\":\"acme\",\"prices\":[{\"chip\":\"gpu-80gb\",\"region\":\"eu\","
        "\"kind\":\"spot\",\"usd_per_chip_hour\":1.5,\"source\":\"fixture\","
        "\"date\":\"2024\"},{\"chip\":\"gpu\",\"kind\":\"on-demand\","
        "\"usd_per_chip_hour\":4,\"source\":\"fixture\",\"date\":\"2024\"}]}"),
    FILE_OF("systems/board-1.json",
            SWITCHED("board-1", "board", 4, LEVEL("pcie", "bus", 4))),
    FILE_OF("systems/cube-pod.json",
            TORUS("cube-pod", "cube", 3, "16,20,28", "2,2,1", "cubes-of-4")),
    FILE_OF("systems/flat-pod.json",
            TORUS("flat-pod", "flat", 2, "16,16", "4,2", "full-axis")),
    FILE_OF("systems/pair-net.json",
            SWITCHED("pair-net", "pair", 8,
                     LEVEL("bridge", "mesh", 2) "," LEVEL("pcie", "bus", 4) "," LEVEL(
                         "leaf", "fabric", 4) "," LEVEL("spine", "fabric", 4))),
    FILE_OF("systems/pod.json",
            SWITCHED("pod", "gpu", 8,
                     LEVEL("nvlink", "switch", 8) "," LEVEL(
                         "leaf", "fabric", 32) "," LEVEL("spine", "fabric", 0))),
    FILE_OF("systems/rack-72.json",
            SWITCHED("rack-72", "rack", 4,
                     LEVEL("nvlink", "switch", 72) "," LEVEL("leaf", "fabric", 0))),
};

ridge_embedded_set fixture_data(void)
{
    return (ridge_embedded_set){files, RIDGE_COUNT_OF(files)};
}

const ridge_catalog *fixture_catalog(ridge_ctx *cx)
{
    const ridge_embedded_set data = fixture_data();
    const ridge_catalog *catalog = NULL;
    if (ridge_catalog_open_data(cx, &data, NULL, &catalog) != RIDGE_OK)
        fail_msg("%s", ridge_ctx_message(cx));
    return catalog;
}

int fixture_world_open(void **state)
{
    static fixture_world w; /* one per process, as cmocka runs tests in turn */
    w.cx = ridge_ctx_open();
    w.catalog = fixture_catalog(w.cx);
    *state = &w;
    return 0;
}

int fixture_world_close(void **state)
{
    fixture_world *w = *state;
    ridge_ctx_close(w->cx);
    return 0;
}

const ridge_slice *fixture_slice(ridge_ctx *cx, const ridge_catalog *catalog,
                                 const char *text)
{
    const ridge_slice *slice = NULL;
    if (ridge_slice_parse(cx, catalog, text, &slice) != RIDGE_OK)
        fail_msg("%s: %s", text, ridge_ctx_message(cx));
    return slice;
}
