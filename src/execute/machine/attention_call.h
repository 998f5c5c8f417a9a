/* An attention operation as the kernel takes it, shared by whole and ring attention. */
#ifndef RIDGE_EXECUTE_ATTENTION_CALL_H
#define RIDGE_EXECUTE_ATTENTION_CALL_H

#include "machine.h"

/** What was laid out anew for the kernel, to be given back. */
typedef struct ridge__attention_setup {
    ridge__attention a;
    int64_t k_heads;  /* that k and v have in the program */
    int64_t rope;     /* R that was joined to H; 0: none */
    bool is_expanded; /* each query head got keys of its own */
    ridge__array taken[8];
    int n_taken;
} ridge__attention_setup;

/** Keys pass around the ring of ranks over which the tokens are cut.
 * @param a  of the rank's own queries and entries; backward where d_o is there */
RIDGE_NODISCARD ridge_status ridge__attention_ring(ridge__call *c, ridge_comm *ring,
                                                   ridge__attention *a);

#endif
