/*
 * What a slice stands in and what befalls it: prices by name, sites (power overhead,
 * storage, how long a restart takes) and published counts of failures. Facts come from
 * data/prices, data/sites and data/failures.
 */
#ifndef RIDGE_HARDWARE_SITE_H
#define RIDGE_HARDWARE_SITE_H

#include "ridge/hardware.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- prices ---------------------------------------------------------------------- */

/**
 * The price that a text names: "2.5" or "$2.5" (dollars per chip and hour, one's own),
 * or words joined by ':', each a provider (or another name of it), a region or a kind,
 * in any order: "aws", "spot", "google:us-east5:reserved-1y". Of several that have all
 * words the first of the chip's list: on-demand first, then the cheapest.
 * @param text  "" takes the first of the list
 * @param out   provider "own" and no source for one's own
 * @owner the catalogue
 * @errors E_NOTFOUND: no such word (with the nearest) or no price that has them all
 *         (with what the chip has); E_ARG: an own price that is not above 0
 */
RIDGE_NODISCARD ridge_status ridge_price_choose(ridge_ctx *cx, const ridge_chip *chip,
                                                const char *text, ridge_price *out);

/** "aws us-east-1 on-demand, 2026-11", in the ctx's arena. */
const char *ridge_price_text(ridge_ctx *cx, const ridge_price *price);

/* ---- sites ----------------------------------------------------------------------- */

/* Numbers of a site; each a fact or not known (0). name, least, most, what */
/* clang-format off */
#define RIDGE_SITE_LIST(X)                                                               \
    X(pue, 1, 5, "energy at the meter over energy of the machines")                      \
    X(network_watts_per_chip, 0, 1e5, "switches and optics, a chip's share")             \
    X(write_bytes_per_s, 1e3, 1e18, "most that its storage takes from all nodes")        \
    X(write_bytes_per_s_per_node, 1e3, 1e15, "what it takes from each node")             \
    X(read_bytes_per_s, 1e3, 1e18, "most that its storage gives to all nodes")           \
    X(read_bytes_per_s_per_node, 1e3, 1e15, "what it gives to each node")                \
    X(restart_s, 0, 1e6, "from a failure until the job starts again, without loading")   \
    X(repair_s, 0, 1e8, "until a node that failed is back")
/* clang-format on */

/** A place where machines stand. Immutable, owned by the catalogue. */
typedef struct ridge_site {
    const char *name;
    const char *full_name;
    const char *const *aliases; /* NULL-terminated */
#define RIDGE_SITE_FIELD(name, low, high, what) double name;
    RIDGE_SITE_LIST(RIDGE_SITE_FIELD)
#undef RIDGE_SITE_FIELD
    const ridge_fact *facts;
    size_t n_facts;
} ridge_site;

/** The site that is taken when none is named. */
#define RIDGE_SITE_DEFAULT "reference"

/** By name or alias, any letter case. @owner the catalogue
 * @errors E_NOTFOUND with the nearest names; E_PARSE, E_NOMEM when it is first read */
RIDGE_NODISCARD ridge_status ridge_site_find(ridge_ctx *cx,
                                             const ridge_catalog *catalog,
                                             const char *name, const ridge_site **out);

/** Bytes per second that the storage takes from (or gives to) @p nodes at once: the
 * nodes' shares, no more than the whole; 0: not known. */
double ridge_site_write_bytes_per_s(const ridge_site *site, double nodes);
double ridge_site_read_bytes_per_s(const ridge_site *site, double nodes);

/** The fact of that key, or NULL. */
const ridge_fact *ridge_site_fact(const ridge_site *site, const char *key);

/* ---- failures -------------------------------------------------------------------- */

typedef struct ridge_failure_cause {
    const char *cause;
    int64_t count;
} ridge_failure_cause;

/** A published count of what interrupted jobs. Immutable, owned by the catalogue. */
typedef struct ridge_failure_record {
    const char *name; /* "llama-3-2024" */
    const char *full_name;
    const char *const *aliases;    /* NULL-terminated */
    const char *const *chips;      /* names of the chips it was counted on; the same */
    double failures_per_chip_hour; /* > 0 */
    size_t n_causes;               /* 0: not published */
    const ridge_failure_cause *causes;
    const char *source;
    const char *date;
    const char *note; /* or NULL */
    const ridge_fact *facts;
    size_t n_facts;
} ridge_failure_record;

/** @errors E_NOTFOUND with the nearest names; E_PARSE, E_NOMEM when it is first read */
RIDGE_NODISCARD ridge_status ridge_failure_find(ridge_ctx *cx,
                                                const ridge_catalog *catalog,
                                                const char *name,
                                                const ridge_failure_record **out);

/** The record that was counted on a chip; of several the newest, then the first by
 * name. NULL in @p out: none is published. @errors E_PARSE, E_NOMEM */
RIDGE_NODISCARD ridge_status ridge_failure_of_chip(ridge_ctx *cx,
                                                   const ridge_catalog *catalog,
                                                   const ridge_chip *chip,
                                                   const ridge_failure_record **out);

/** Number and listing, in order of names. NULL beyond the last. @threads any */
size_t ridge_catalog_failure_count(const ridge_catalog *catalog);
const ridge_failure_record *ridge_catalog_failure(const ridge_catalog *catalog,
                                                  size_t index);
size_t ridge_catalog_site_count(const ridge_catalog *catalog);
const ridge_site *ridge_catalog_site(const ridge_catalog *catalog, size_t index);

/* ---- slices like another --------------------------------------------------------- */

/**
 * A slice like @p base with another number of chips: of several slices more or fewer of
 * them; of one torus the most compact legal one, or as few slices over DCN as will do,
 * none smaller than @p base; of nodes as many nodes of the same size (of a chip alone,
 * of the system's size; or of the largest size that divides the chips).
 * @owner the ctx
 * @errors E_ARG when no legal slice has that many chips
 */
RIDGE_NODISCARD ridge_status ridge_slice_with_chips(ridge_ctx *cx,
                                                    const ridge_catalog *catalog,
                                                    const ridge_slice *base,
                                                    int64_t chips,
                                                    const ridge_slice **out);

#ifdef __cplusplus
}
#endif

#endif
