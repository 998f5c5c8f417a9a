/* What pairs of servers could at best be, before any number of them is priced: most of
 * the pairs of a large search cannot change its answer. Layer-internal. */
#ifndef RIDGE_PLAN_SERVICE_BOUND_H
#define RIDGE_PLAN_SERVICE_BOUND_H

#include "service_pair.h"

/** What bounds take of a decode server, or the best of each number of several. */
typedef struct service_partner {
    double chips, chip_s;     /* chip_s: chips for a request a second */
    double tpot_s, latency_s; /* at its lightest batch */
    double tpot_quantile_s;   /* the same at the goals' quantile */
    double joining_s;         /* of a first token */
    double transfer_s, transfer_bytes_per_s;
} service_partner;

/** Decode servers that pairs are made with, and blocks of them that are alike. */
typedef struct service_partners {
    int n;
    const service_option *of; /* [n] */
    service_partner *each;    /* [n] */
    int *order;               /* [n]: blocks are of neighbours in it */
    int n_blocks;
    service_partner *blocks;       /* [n_blocks] */
    service_partner *large_blocks; /* of several each */
    bool *is_wanted;               /* [n] */
} service_partners;

/** @errors E_NOMEM */
RIDGE_NODISCARD ridge_status service_partners_open(const service_pair_search *s,
                                                   const service_options *decode,
                                                   service_partners *out);

/** Say of each partner whether it could change the answer with a prefill server:
 * is_wanted. Those of whole blocks that could not are left out;
 * service_bound_excludes() says it of one. */
void service_partners_mark(const service_pair_search *s, const service_option *prefill,
                           service_partners *partners);

/** Neither the ranking nor the fronts could change, whatever the numbers of servers.
 * @param k  of the partners */
bool service_bound_excludes(const service_pair_search *s, const service_option *prefill,
                            const service_partners *partners, int k);

/** What a first token takes in the decoding server: the rest of the iteration under
 * way, and one of its own where that server makes it. */
double service_joining_s(const ridge_service_request *r, const service_option *decode,
                         double tpot_s);

/** A request's cache on its way from one server to another. */
double service_transfer_s(const service_option *prefill, const service_option *decode);

#endif
