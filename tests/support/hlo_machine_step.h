/* One instruction of a module while it runs on all devices. */
#ifndef RIDGE_TEST_HLO_MACHINE_STEP_H
#define RIDGE_TEST_HLO_MACHINE_STEP_H

#include "hlo_machine.h"

enum { MACHINE_RANK = 8 };

typedef struct machine {
    ridge_ctx *cx;
    const ridge_hlo_module *m;
    int devices;
    const char *fault;
} machine;

typedef struct machine_step {
    machine *k;
    const ridge_hlo_instruction *i;
    machine_value *in[64]; /* [operands][devices] */
    machine_value *out;    /* [devices] */
    int depth;
} machine_step;

/** A computation on all devices. */
void machine_evaluate(machine *k, int computation, machine_value *const *args,
                      machine_value *out, int depth);
machine_value machine_make(const machine_step *s, const ridge_hlo_shape *shape);
/** Whole numbers of an attribute, in their order. @return how many */
int machine_ints(const ridge_hlo_instruction *i, const char *key, int64_t *out);
bool machine_is_in(int64_t x, const int64_t *list, int n);
void machine_index_of(const machine_value *v, int64_t place, int64_t *out);
int64_t machine_place_of(const machine_value *v, const int64_t *index);

/** An operation on one device. @return false: it is not one of these */
bool machine_run_map(machine_step *s, int d);
bool machine_run_part(machine_step *s, int d);
bool machine_run_lookup(machine_step *s, int d);
bool machine_run_sum(machine_step *s, int d);
/** Two lists of scalars put together by what the instruction calls. */
void machine_combine(machine_step *s, const double *a, const double *b, int n,
                     double *out);

#endif
