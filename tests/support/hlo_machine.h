/*
 * HLO modules run on numbers: a device after the other within each instruction, so that
 * collectives find what all of them have. Everything is held in doubles.
 */
#ifndef RIDGE_TEST_HLO_MACHINE_H
#define RIDGE_TEST_HLO_MACHINE_H

#include "ridge/profile_hlo.h"

enum { HLO_MACHINE_DEVICES_MAX = 16 };

/** An array, or a tuple of them. */
typedef struct machine_value machine_value;
struct machine_value {
    int n_parts; /* of a tuple; -1: an array */
    machine_value *parts;
    ridge_hlo_type type;
    int n;
    int64_t dims[8];
    int64_t size;
    double *data;
};

/** Room for an array. */
machine_value machine_array(ridge_ctx *cx, ridge_hlo_type type, int n,
                            const int64_t *dims);

/**
 * Run the entry of a module on some devices.
 * @param arguments  [parameters][devices]
 * @param results    out: [devices]
 * @return NULL, or the instruction that is not known here
 */
const char *machine_run(ridge_ctx *cx, const ridge_hlo_module *module, int devices,
                        machine_value *const *arguments, machine_value *results);

#endif
