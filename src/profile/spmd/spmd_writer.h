/*
 * The partitioned module while it is written: instructions as HLO text, each value in
 * the forms in which it is there already. Layer-internal.
 */
#ifndef RIDGE_SPMD_WRITER_H
#define RIDGE_SPMD_WRITER_H

#include "spmd.h"

/** An array of one device as an instruction of the text. */
typedef struct spmd_array {
    const char *name; /* with '%' */
    ridge_hlo_type type;
    int n;
    int64_t dims[RIDGE_HLO_RANK_MAX];
    const ridge_hlo_layout *layout; /* of as many dims, or not used */
} spmd_array;

/** "f32[2,4]{0,1}" */
void spmd_type_put(ridge_buf *out, const spmd_array *a);

/** A value in one of the ways in which it is there. */
typedef struct spmd_form {
    int value, graph;
    int next; /* another form of the value; -1: none */
    ridge_sharding sharding;
    spmd_array array;
} spmd_form;

/** Where a device's part of a dim begins, and how much of it is no padding. */
typedef struct spmd_place {
    int graph;
    ridge_dim_axes axes;
    int64_t size;
    const char *offset; /* s32[] */
    const char *length; /* s32[]; NULL: all of it */
} spmd_place;

typedef struct spmd_writer {
    spmd *m;
    ridge_buf *out;
    ridge_buf functions; /* computations that are called */
    int graph;
    int n_names, n_channels;
    hlo_list forms, places, steps, gathered, laid;
    int *first_form;    /* [values] */
    int *same_as;       /* [values] the value that it is another name of, or itself */
    bool *has_function; /* [computations] that stand in functions */
    unsigned combiners[RIDGE_HLO_TYPE_COUNT]; /* bit: a reducer of that type stands */
    const spmd_op *op; /* that asks for what is written; NULL: none */
    const char *why;
    spmd_reducer reducer; /* of partial sums that are put together */
} spmd_writer;

/** Begin an array: "  %name = type[dims] "; what follows is its operation. */
void spmd_array_open(spmd_writer *w, const char *stem, spmd_array *out);
/** One line: an array of @p type and @p dims made by @p fmt. */
RIDGE_PRINTF(4, 5)
spmd_array spmd_array_put(spmd_writer *w, const char *stem, const spmd_array *like,
                          const char *fmt, ...);
/** An array of that type and those dims, without a name. */
spmd_array spmd_array_of(ridge_hlo_type type, int n, const int64_t *dims);
spmd_array spmd_scalar_of(ridge_hlo_type type);
/** What one device holds of a value. */
spmd_array spmd_array_local(const spmd *m, int value, const ridge_sharding *s);
/** A scalar, or an array of one value. */
spmd_array spmd_constant_put(spmd_writer *w, const spmd_array *like, const char *text);
/** The same element everywhere. */
spmd_array spmd_broadcast_put(spmd_writer *w, const spmd_array *like,
                              const char *scalar);
/** Elements of @p array up to @p length along a dim, a constant behind. */
spmd_array spmd_mask_put(spmd_writer *w, const spmd_array *array, int dim,
                         const char *length, const char *neutral);

/** This device's coordinate along some axes, outermost first: s32[]. */
const char *spmd_coordinate(spmd_writer *w, const ridge_dim_axes *axes);
/** Its part of a dim of that size. */
spmd_place spmd_place_of(spmd_writer *w, const ridge_dim_axes *axes, int64_t size);

/** The name of a called computation, written with what it calls. "" : it is not there
 */
const char *spmd_function_name(spmd_writer *w, int computation);
/** The name of a computation that puts two scalars together. */
const char *spmd_combiner_name(spmd_writer *w, spmd_reducer reducer,
                               ridge_hlo_type type);
/** What changes nothing: "0", "-inf". */
const char *spmd_neutral_of(spmd_reducer reducer, ridge_hlo_type type);

/** "[x,_]", "[_] sums over x". */
const char *spmd_sharding_text(const spmd *m, const ridge_sharding *s);

/** A value is there in this form. @errors E_NOMEM */
RIDGE_NODISCARD ridge_status spmd_form_add(spmd_writer *w, int value,
                                           const ridge_sharding *s,
                                           const spmd_array *array);
/** The value lying in a given way: found, or brought there. @errors E_ARG no way;
 * E_NOMEM
 */
RIDGE_NODISCARD ridge_status spmd_form_want(spmd_writer *w, int value,
                                            const ridge_sharding *s, spmd_array *out);
/** One array brought from one sharding to another. */
RIDGE_NODISCARD ridge_status spmd_reshard_put(spmd_writer *w, int value,
                                              const ridge_sharding *from,
                                              const ridge_sharding *to,
                                              spmd_array *array);

/** A graph as a computation; those that it calls stand before it. @errors E_ARG a
 * module that does not fit itself; E_NOMEM */
RIDGE_NODISCARD ridge_status spmd_graph_write(spmd_writer *w, int graph);
/** An operation on parts. @param axes  of its factors. @errors E_ARG, E_NOMEM */
RIDGE_NODISCARD ridge_status spmd_op_write(spmd_writer *w, const spmd_op *op,
                                           const ridge_dim_axes *axes);
/** Whether an operation only names the value that it takes, or says how it lies. */
bool spmd_op_is_name(const spmd *m, const spmd_op *op);
/** An operation on parts while it is written. */
typedef struct spmd_part {
    spmd_writer *w;
    const spmd_op *op;
    const ridge_dim_axes *axes; /* [factors] */
    spmd_array *arrays;         /* [op->n] operands, then results without names */
} spmd_part;
/** Axes that cut a dim of a tensor of the operation. */
ridge_dim_axes spmd_part_axes(const spmd_part *p, int tensor, int64_t dim);
/** Attributes behind an operation, without what says where and how it lies, and without
 *  @p but; then where it comes from. */
void spmd_attributes_put(spmd_writer *w, const ridge_hlo_instruction *i,
                         const char *const *but);
/** Operations whose places are a device's own: iota, gather, scatter, update.
 *  @return false: not one of these, or nothing of that kind is cut */
bool spmd_index_write(spmd_part *p);

#endif
