/* A small catalogue with round numbers, so that tests do not move with data/. */
#ifndef RIDGE_TEST_HARDWARE_FIXTURE_H
#define RIDGE_TEST_HARDWARE_FIXTURE_H

#include "ridge/hardware.h"

/* A fact of that value, as JSON text. */
#define FACT(value) "{\"value\":" #value ",\"source\":\"fixture\",\"date\":\"2024-05\"}"

/* The five numbers of a link, without braces, and those of a level. */
#define LINK                                                                           \
    "\"bytes_per_s\":" FACT(50e9) ",\"latency_s\":" FACT(1e-6) ",\"startup_s\":" FACT( \
        5e-6) ",\"efficiency\":" FACT(0.8) ",\"half_rate_bytes\":" FACT(1e6)
#define LEVEL(name, kind, size)                                                        \
    "{\"name\":\"" name "\",\"kind\":\"" kind "\",\"size\":" #size "," LINK "}"

/* The least that a chip must say, without braces. */
#define CHIP_LEAST                                                                     \
    "\"full_name\":\"Fixture\",\"vendor\":\"Acme\",\"kind\":\"gpu\",\"year\":2024,"    \
    "\"default_system\":\"pod\",\"peak_flops_per_s\":{\"bf16\":" FACT(                 \
        1e15) "},"                                                                     \
              "\"vector_flops_per_s\":" FACT(6e13) ",\"hbm_bytes\":" FACT(             \
                  8e10) ",\"hbm_bytes_per_s\":" FACT(3e12)

/**
 * Chips: gpu, rack, cube (3D torus), flat (2D torus), board (one node of a bus), pair
 * (levels of 2 x 4 inside a node, leaf and spine of 4).
 * Systems: pod (nvlink 8, leaf 32, spine), rack-72 (nvlink 72, hosts of 4), cube-pod
 * (16 x 20 x 28), flat-pod (16 x 16), board-1, pair-net.
 */
ridge_embedded_set fixture_data(void);

/** A catalogue of that data; a failure ends the test. */
const ridge_catalog *fixture_catalog(ridge_ctx *cx);

/** A ctx and that catalogue: the state of a group of tests. */
typedef struct fixture_world {
    ridge_ctx *cx;
    const ridge_catalog *catalog;
} fixture_world;

/** Set-up and tear-down for cmocka. */
int fixture_world_open(void **state);
int fixture_world_close(void **state);

/** The slice, or the test fails with the message. */
const ridge_slice *fixture_slice(ridge_ctx *cx, const ridge_catalog *catalog,
                                 const char *text);

#endif
