/* What a search keeps of the deployments that it scores. Layer-internal. */
#ifndef RIDGE_PLAN_SERVICE_CHOICE_H
#define RIDGE_PLAN_SERVICE_CHOICE_H

#include "service_score.h"

/** A pool of servers of one layout at one batch, for deployments of two pools. */
typedef struct service_option {
    int format; /* caches are sent between layouts of the same alone */
    /* But for the next two. Borrowed: a search keeps tens of thousands of options */
    const ridge_serving_layout *layout;
    int64_t budget_tokens, sequences;
    int64_t chips;
    double batch;
    double requests_per_s;          /* most of one server */
    double latency_s;               /* of its phase, in the mean, without waiting */
    double latency_quantile_s;      /* at the goals' quantile; the mean without one */
    double tpot_s, tpot_quantile_s; /* decode */
    /* Decode, at the next smaller batch of the layout; 0: there is none. */
    double before_per_s, before_latency_s, before_tpot_s;
    double cache_use;
    double transfer_bytes;       /* of a request's cache */
    double transfer_bytes_per_s; /* of the server's chips of one request; 0: none */
    double transfer_s;           /* of a transfer, beside its bytes */
    double transfer_ranks;       /* that send or receive at once */
} service_option;

typedef struct service_options {
    int n, cap;
    service_option *of;
} service_options;

/** A pool of a deployment in few bytes. */
typedef struct service_seat {
    const ridge_serving_layout *layout; /* but for the next two; outlives the search */
    int64_t budget_tokens, sequences, servers;
    double batch;
} service_seat;

/** A deployment of the fronts, which are kept by rising latency. */
typedef struct service_point {
    int n_pools; /* 1: aggregated; 2: prefill and decode */
    service_seat pools[2];
    double tpot_s, e2e_s, tokens_per_s_per_chip;
    int order; /* of the search: settles ties */
} service_point;

typedef struct service_points {
    int n, cap;
    service_point *of;
} service_points;

/** Keep an option unless another of as many chips does at least as many requests no
 * slower; forget those that it beats. @return false: no memory */
bool service_options_add(ridge_arena *arena, service_options *set,
                         const service_option *option);

/** The same options in no more room than they take. @return false: no memory */
bool service_options_copy(ridge_arena *arena, const service_options *from,
                          service_options *out);

/** Options by the chips of their servers and their format. */
typedef struct service_shelves {
    int n, cap;
    service_options *of; /* none is empty */
} service_shelves;

/** Add each of a set's options as service_options_add() does. @return false: no memory
 */
bool service_shelves_add(ridge_arena *arena, service_shelves *shelves,
                         const service_options *options);

/** All options of a format, the most requests a second and chip first.
 * @return false: no memory */
bool service_shelves_of(ridge_arena *arena, const service_shelves *shelves, int format,
                        service_options *out);

/** The deployment of a point. */
ridge_service_choice service_point_choice(const service_point *point);

/** Whether a front has a point that is no slower and gives no less. */
bool service_points_have(const service_points *set, double tpot_s, double e2e_s,
                         double tokens_per_s_per_chip, bool is_cost);

/** Keep a point unless another has no longer a TPOT (or, is_cost, time to the last
 * token) and no fewer tokens/s a chip; of points that are equal in both, to a
 * millionth, the one whose other latency is shorter. @return false: no memory */
bool service_points_add(ridge_arena *arena, service_points *set,
                        const service_point *point, bool is_cost);

/** The same points in no more room than they take. @return false: no memory */
bool service_points_copy(ridge_arena *arena, const service_points *from,
                         service_points *out);

/** The most tokens/s a chip first, @p most of them evenly spread over the front. */
void service_points_thin(service_points *set, int most);

/** What was refused, by reason. */
typedef struct service_tally {
    int n;
    ridge_service_refusal of[RIDGE_SERVICE_REFUSAL_MAX];
} service_tally;

/** Count a refusal. @param why  NULL: the fit's own words; borrowed. @param nearest
 * how far it is from doing, less is nearer */
void service_tally_add(service_tally *tally, ridge_service_fit fit, const char *why,
                       const ridge_serving_layout *layout, double nearest);
void service_tally_merge(service_tally *to, const service_tally *from);
/** Most first. */
void service_tally_sort(service_tally *tally);

/** What comes nearest to goals, whether it keeps them or not. */
typedef struct service_nearest {
    bool has_all, has_most, has_least[RIDGE_SERVICE_LATENCY_COUNT];
    double excess; /* largest ratio of a latency to its goal */
    ridge_service_price all, most, least[RIDGE_SERVICE_LATENCY_COUNT];
} service_nearest;

void service_nearest_add(const ridge_service_request *request, service_nearest *nearest,
                         const ridge_service_price *price);
void service_nearest_merge(const ridge_service_request *request, service_nearest *to,
                           const service_nearest *from);

/** The best few, one of each layout (or pair of layouts). */
typedef struct service_ranking {
    int n, top;
    ridge_service_aim aim;
    ridge_service_price *prices;
} service_ranking;

void service_ranking_insert(service_ranking *ranking, const ridge_service_price *price);

/** The best deployment of each layout of the last pool, of the best few of those. */
typedef struct service_variety {
    int n, top;
    int worst; /* place of the one that is left first */
    ridge_service_aim aim;
    ridge_service_price *prices; /* in no order */
} service_variety;

void service_variety_insert(service_variety *variety, const ridge_service_price *price);

/** What a deployment that is not priced could at best be. */
typedef struct service_bound {
    double e2e_s, tpot_s, tokens_per_s_per_chip, usd_per_million_tokens, paid_chips;
    double joules_per_token; /* 0: not known */
} service_bound;

/** Whether such a one could take a place in a ranking. */
bool service_ranking_wants(const service_ranking *ranking, const service_bound *bound);

/** Whether one whose last pool is @p last could take a place. @param last  NULL: any */
bool service_variety_wants(const service_variety *variety, ridge_service_mode mode,
                           const ridge_serving_layout *last,
                           const service_bound *bound);

/** Whether two deployments differ in batches, budgets and servers alone. */
bool service_choice_is_alike(const ridge_service_choice *a,
                             const ridge_service_choice *b);

#endif
