/* All states of a node. Layer-internal. */
#ifndef RIDGE_PLAN_CHAIN_STATES_H
#define RIDGE_PLAN_CHAIN_STATES_H

#include "chain_graph.h"

/** Every right way to cut an operation. @errors E_ARG too many; E_NOMEM */
RIDGE_NODISCARD ridge_status chain_states_of_op(ridge_ctx *cx,
                                                const ridge_chain_request *request,
                                                const chain_op *o, chain_node *node);
/** Every sharding of a tensor without partial sums. @errors as above */
RIDGE_NODISCARD ridge_status chain_states_of_tensor(ridge_ctx *cx,
                                                    const ridge_chain_request *request,
                                                    int tensor, chain_node *node);
/** One sharding alone. */
RIDGE_NODISCARD ridge_status chain_states_fixed(ridge_ctx *cx, const ridge_sharding *s,
                                                chain_node *node);

#endif
