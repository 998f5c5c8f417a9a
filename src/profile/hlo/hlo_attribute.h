/* What attributes of instructions say, read when asked for. Layer-internal. */
#ifndef RIDGE_HLO_ATTRIBUTE_H
#define RIDGE_HLO_ATTRIBUTE_H

#include "ridge/profile_hlo.h"

/** Whole numbers of "{0,1}", "{}", "3". @return how many; -1: it is none of these, or
 *  more than @p most */
int hlo_ints_parse(ridge_str text, int64_t *out, int most);
/** The same of an attribute; 0 when there is none. */
int hlo_attribute_ints(const ridge_hlo_instruction *i, const char *key, int64_t *out,
                       int most);
/** One whole number of an attribute, or @p fallback. */
int64_t hlo_attribute_int(const ridge_hlo_instruction *i, const char *key,
                          int64_t fallback);

/** A dim of a window of a convolution or a reduction. */
typedef struct hlo_window_dim {
    int64_t size, stride, pad_low, pad_high, lhs_dilation, rhs_dilation;
} hlo_window_dim;

typedef struct hlo_window {
    int n;
    hlo_window_dim dims[RIDGE_HLO_RANK_MAX];
} hlo_window;

/** window={size=3x3 stride=2x2 pad=1_1x1_1 ...}; none: n 0. @return false: malformed */
bool hlo_window_parse(ridge_str text, hlo_window *out);

/** dim_labels=b01f_01io->b01f: which dim of each array plays what part. */
typedef struct hlo_conv_dims {
    int n; /* spatial */
    int lhs_batch, lhs_feature, lhs_spatial[RIDGE_HLO_RANK_MAX];
    int rhs_in, rhs_out, rhs_spatial[RIDGE_HLO_RANK_MAX];
    int out_batch, out_feature, out_spatial[RIDGE_HLO_RANK_MAX];
} hlo_conv_dims;

/** @return false: malformed, or not for arrays of that many dims */
bool hlo_conv_dims_parse(ridge_str text, int rank, hlo_conv_dims *out);

/** backend_config as JSON: an object, or one in quotes. Not JSON: absent.
 *  @owner cx */
ridge_node hlo_config_of(ridge_ctx *cx, const ridge_hlo_instruction *i);
/** The first member of that name at any depth of an object; absent: none. */
ridge_json_kind hlo_config_find(const ridge_node *node, const char *key, int depth,
                                ridge_node *out);
/** Whole number of "key = 128 : i64", as MLIR writes attributes. @return false: none */
bool hlo_typed_int(ridge_str text, const char *key, int64_t *out);
/** Value of key="..." or key=... within "{key=value key=value}"; p NULL: none. */
ridge_str hlo_field_of(ridge_str text, const char *key);
/** custom_call_target without its quotes; p NULL: none. */
ridge_str hlo_target_of(const ridge_hlo_instruction *i);
/** Whether @p z stands anywhere in a text. */
bool hlo_text_has(ridge_str text, const char *z);

#endif
