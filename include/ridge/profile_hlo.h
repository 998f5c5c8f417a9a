/*
 * HLO modules: what XLA's text and protos, and StableHLO's text, say. Shapes, layouts,
 * instructions, computations; attributes stay text until they are asked for. What a
 * module costs is in profile_hlo_study.h.
 */
#ifndef RIDGE_PROFILE_HLO_H
#define RIDGE_PROFILE_HLO_H

#include "ridge/base.h"
#include "ridge/hardware.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- element types --------------------------------------------------------------- */

/* name, text, bits, number in xla_data.proto */
/* clang-format off */
#define RIDGE_HLO_TYPE_LIST(X)                  \
    X(PRED, "pred", 8, 1)                       \
    X(S1, "s1", 1, 30)                          \
    X(S2, "s2", 2, 26)                          \
    X(S4, "s4", 4, 21)                          \
    X(S8, "s8", 8, 2)                           \
    X(S16, "s16", 16, 3)                        \
    X(S32, "s32", 32, 4)                        \
    X(S64, "s64", 64, 5)                        \
    X(U1, "u1", 1, 31)                          \
    X(U2, "u2", 2, 27)                          \
    X(U4, "u4", 4, 22)                          \
    X(U8, "u8", 8, 6)                           \
    X(U16, "u16", 16, 7)                        \
    X(U32, "u32", 32, 8)                        \
    X(U64, "u64", 64, 9)                        \
    X(F4E2M1FN, "f4e2m1fn", 4, 32)              \
    X(F8E3M4, "f8e3m4", 8, 29)                  \
    X(F8E4M3, "f8e4m3", 8, 28)                  \
    X(F8E4M3FN, "f8e4m3fn", 8, 20)              \
    X(F8E4M3B11FNUZ, "f8e4m3b11fnuz", 8, 23)    \
    X(F8E4M3FNUZ, "f8e4m3fnuz", 8, 25)          \
    X(F8E5M2, "f8e5m2", 8, 19)                  \
    X(F8E5M2FNUZ, "f8e5m2fnuz", 8, 24)          \
    X(F8E8M0FNU, "f8e8m0fnu", 8, 33)            \
    X(F16, "f16", 16, 10)                       \
    X(BF16, "bf16", 16, 16)                     \
    X(F32, "f32", 32, 11)                       \
    X(F64, "f64", 64, 12)                       \
    X(C64, "c64", 64, 15)                       \
    X(C128, "c128", 128, 18)                    \
    X(TOKEN, "token", 0, 17)                    \
    X(OPAQUE, "opaque", 0, 14)                  \
    X(BUFFER, "buffer", 0, 35)                  \
    X(TUPLE, "tuple", 0, 13)
/* clang-format on */

typedef enum ridge_hlo_type {
#define RIDGE_HLO_TYPE_ENUM(name, text, bits, proto) RIDGE_HLO_##name,
    RIDGE_HLO_TYPE_LIST(RIDGE_HLO_TYPE_ENUM)
#undef RIDGE_HLO_TYPE_ENUM
} ridge_hlo_type;

#define RIDGE_HLO_TYPE_ONE(name, text, bits, proto) +1
enum { RIDGE_HLO_TYPE_COUNT = 0 RIDGE_HLO_TYPE_LIST(RIDGE_HLO_TYPE_ONE) };
#undef RIDGE_HLO_TYPE_ONE

const char *ridge_hlo_type_text(ridge_hlo_type type);
int ridge_hlo_type_bits(ridge_hlo_type type);
/** "bf16", "f8e4m3fn". @return false: no such type; *out is then untouched */
bool ridge_hlo_type_find(ridge_str text, ridge_hlo_type *out);
/** The number format of Ridge that its arithmetic runs in and whose size it has:
 *  integers as int8 or fp32, complex as fp64's size. */
ridge_dtype ridge_hlo_type_dtype(ridge_hlo_type type);
bool ridge_hlo_type_is_float(ridge_hlo_type type);

/* ---- shapes ---------------------------------------------------------------------- */

enum {
    RIDGE_HLO_RANK_MAX = 32,
    RIDGE_HLO_TILE_MAX = 4,    /* levels of tiling */
    RIDGE_HLO_TILE_DIM_MAX = 8 /* dims of a tile */
};

/** One level of tiling. A size of -1 ("*") joins its dim to the next inner one. */
typedef struct ridge_hlo_tile {
    int n;
    int64_t dims[RIDGE_HLO_TILE_DIM_MAX];
} ridge_hlo_tile;

/** How an array lies in memory: {2,1,0:T(8,128)(2,1)E(4)S(1)}. */
typedef struct ridge_hlo_layout {
    int n; /* rank */
    signed char minor_to_major[RIDGE_HLO_RANK_MAX];
    int n_tiles;
    ridge_hlo_tile tiles[RIDGE_HLO_TILE_MAX]; /* the first is the outermost */
    int element_bits;                         /* 0: the type's own */
    int memory_space;                         /* S(n): 0 HBM, 1 VMEM, 5 the host */
} ridge_hlo_layout;

/** XLA's numbers of memory spaces. @source xla-layout-2025 */
enum { RIDGE_HLO_SPACE_HBM = 0, RIDGE_HLO_SPACE_FAST = 1, RIDGE_HLO_SPACE_HOST = 5 };

typedef struct ridge_hlo_shape ridge_hlo_shape;
/** An array, or a tuple of shapes. */
struct ridge_hlo_shape {
    ridge_hlo_type type;
    int n;            /* dims, or parts of a tuple */
    uint32_t dynamic; /* bit d: dims[d] is an upper bound */
    bool is_unknown;  /* the file does not say */
    const int64_t *dims;
    const ridge_hlo_layout *layout; /* NULL: row-major, untiled, in HBM */
    const ridge_hlo_shape *parts;   /* [n] of a tuple */
};

/** "bf16[8,128]{1,0:T(8,128)(2,1)}", a tuple in parentheses.
 * @errors E_PARSE with the column; E_NOMEM */
RIDGE_NODISCARD ridge_status ridge_hlo_shape_parse(ridge_ctx *cx, const char *text,
                                                   ridge_hlo_shape *out);
/** Append it as HLO writes it, with the layout when it says more than row-major. */
void ridge_hlo_shape_write(const ridge_hlo_shape *shape, ridge_buf *out);
bool ridge_hlo_shape_is_tuple(const ridge_hlo_shape *shape);
/** Elements of an array; of a tuple the sum of its parts'. */
double ridge_hlo_shape_elements(const ridge_hlo_shape *shape);
/** Bytes without padding; sub-byte types packed, as cost analyses count them. */
double ridge_hlo_shape_bytes(const ridge_hlo_shape *shape);
/** Bytes that it takes: dims rounded up to the tiles, elements as wide as stored. */
double ridge_hlo_shape_padded_bytes(const ridge_hlo_shape *shape);
int ridge_hlo_shape_space(const ridge_hlo_shape *shape);
/** Dims of an array rounded up to its outermost tile; as they are where it has none.
 * @param out  [shape->n] */
void ridge_hlo_shape_padded_dims(const ridge_hlo_shape *shape, int64_t *out);
/** Where an element lies, in elements from the start, under nested tiles; -1 when a
 *  joined dim keeps that from being told.
 * @param index  of each dim, within it */
int64_t ridge_hlo_shape_offset(const ridge_hlo_shape *shape, const int64_t *index);

/* ---- instructions ---------------------------------------------------------------- */

/* name, text, kind: what it asks of a chip. In order of kinds.
 *   FREE a name for data that are there already; CONST made without reading; MOVE data
 *   laid out anew; MAP one operation an element; HARD one that takes many (exp);
 *   REDUCE; PRODUCT; NETWORK; LIBRARY a kernel of its own; CONTROL runs computations;
 *   HOST waits for the host */
/* clang-format off */
#define RIDGE_HLO_OPCODE_LIST(X)                                        \
    X(PARAMETER, "parameter", FREE)                                     \
    X(TUPLE, "tuple", FREE)                                             \
    X(GET_TUPLE_ELEMENT, "get-tuple-element", FREE)                     \
    X(BITCAST, "bitcast", FREE)                                         \
    X(BITCAST_CONVERT, "bitcast-convert", FREE)                         \
    X(RESHAPE, "reshape", FREE)                                         \
    X(AFTER_ALL, "after-all", FREE)                                     \
    X(ADD_DEPENDENCY, "add-dependency", FREE)                           \
    X(OPTIMIZATION_BARRIER, "opt-barrier", FREE)                        \
    X(DOMAIN, "domain", FREE)                                           \
    X(GET_DIMENSION_SIZE, "get-dimension-size", FREE)                   \
    X(SET_DIMENSION_SIZE, "set-dimension-size", FREE)                   \
    X(PARTITION_ID, "partition-id", CONST)                              \
    X(REPLICA_ID, "replica-id", CONST)                                  \
    X(RNG_GET_AND_UPDATE_STATE, "rng-get-and-update-state", CONST)      \
    X(CONSTANT, "constant", CONST)                                      \
    X(IOTA, "iota", CONST)                                              \
    X(BROADCAST, "broadcast", MOVE)                                     \
    X(COPY, "copy", MOVE)                                               \
    X(TRANSPOSE, "transpose", MOVE)                                     \
    X(SLICE, "slice", MOVE)                                             \
    X(DYNAMIC_SLICE, "dynamic-slice", MOVE)                             \
    X(DYNAMIC_UPDATE_SLICE, "dynamic-update-slice", MOVE)               \
    X(DYNAMIC_RESHAPE, "dynamic-reshape", MOVE)                         \
    X(CONCATENATE, "concatenate", MOVE)                                 \
    X(PAD, "pad", MOVE)                                                 \
    X(REVERSE, "reverse", MOVE)                                         \
    X(GATHER, "gather", MOVE)                                           \
    X(SCATTER, "scatter", MOVE)                                         \
    X(CONVERT, "convert", MAP)                                          \
    X(ABS, "abs", MAP)                                                  \
    X(ADD, "add", MAP)                                                  \
    X(AND, "and", MAP)                                                  \
    X(CEIL, "ceil", MAP)                                                \
    X(CLAMP, "clamp", MAP)                                              \
    X(COUNT_LEADING_ZEROS, "count-leading-zeros", MAP)                  \
    X(COMPARE, "compare", MAP)                                          \
    X(COMPLEX, "complex", MAP)                                          \
    X(FLOOR, "floor", MAP)                                              \
    X(IMAG, "imag", MAP)                                                \
    X(IS_FINITE, "is-finite", MAP)                                      \
    X(MAXIMUM, "maximum", MAP)                                          \
    X(MINIMUM, "minimum", MAP)                                          \
    X(MULTIPLY, "multiply", MAP)                                        \
    X(NEGATE, "negate", MAP)                                            \
    X(NOT, "not", MAP)                                                  \
    X(OR, "or", MAP)                                                    \
    X(POPULATION_COUNT, "popcnt", MAP)                                  \
    X(REAL, "real", MAP)                                                \
    X(REDUCE_PRECISION, "reduce-precision", MAP)                        \
    X(ROUND_AFZ, "round-nearest-afz", MAP)                              \
    X(ROUND_EVEN, "round-nearest-even", MAP)                            \
    X(SELECT, "select", MAP)                                            \
    X(SHIFT_LEFT, "shift-left", MAP)                                    \
    X(SHIFT_RIGHT_ARITHMETIC, "shift-right-arithmetic", MAP)            \
    X(SHIFT_RIGHT_LOGICAL, "shift-right-logical", MAP)                  \
    X(SIGN, "sign", MAP)                                                \
    X(STOCHASTIC_CONVERT, "stochastic-convert", MAP)                    \
    X(SUBTRACT, "subtract", MAP)                                        \
    X(XOR, "xor", MAP)                                                  \
    X(MAP, "map", MAP)                                                  \
    X(DIVIDE, "divide", MAP)                                            \
    X(REMAINDER, "remainder", MAP)                                      \
    X(ACOS, "acos", HARD)                                               \
    X(ACOSH, "acosh", HARD)                                             \
    X(ASIN, "asin", HARD)                                               \
    X(ASINH, "asinh", HARD)                                             \
    X(ATAN2, "atan2", HARD)                                             \
    X(ATANH, "atanh", HARD)                                             \
    X(CBRT, "cbrt", HARD)                                               \
    X(COSINE, "cosine", HARD)                                           \
    X(COSH, "cosh", HARD)                                               \
    X(ERF, "erf", HARD)                                                 \
    X(EXPONENTIAL, "exponential", HARD)                                 \
    X(EXPM1, "exponential-minus-one", HARD)                             \
    X(LOG, "log", HARD)                                                 \
    X(LOG1P, "log-plus-one", HARD)                                      \
    X(LOGISTIC, "logistic", HARD)                                       \
    X(POWER, "power", HARD)                                             \
    X(RSQRT, "rsqrt", HARD)                                             \
    X(SINE, "sine", HARD)                                               \
    X(SINH, "sinh", HARD)                                               \
    X(SQRT, "sqrt", HARD)                                               \
    X(TAN, "tan", HARD)                                                 \
    X(TANH, "tanh", HARD)                                               \
    X(RNG, "rng", HARD)                                                 \
    X(REDUCE, "reduce", REDUCE)                                         \
    X(REDUCE_WINDOW, "reduce-window", REDUCE)                           \
    X(SELECT_AND_SCATTER, "select-and-scatter", REDUCE)                 \
    X(DOT, "dot", PRODUCT)                                              \
    X(RAGGED_DOT, "ragged-dot", PRODUCT)                                \
    X(SCALED_DOT, "scaled-dot", PRODUCT)                                \
    X(CONVOLUTION, "convolution", PRODUCT)                              \
    X(ALL_GATHER, "all-gather", NETWORK)                                \
    X(ALL_REDUCE, "all-reduce", NETWORK)                                \
    X(REDUCE_SCATTER, "reduce-scatter", NETWORK)                        \
    X(ALL_TO_ALL, "all-to-all", NETWORK)                                \
    X(RAGGED_ALL_TO_ALL, "ragged-all-to-all", NETWORK)                  \
    X(COLLECTIVE_PERMUTE, "collective-permute", NETWORK)                \
    X(COLLECTIVE_BROADCAST, "collective-broadcast", NETWORK)            \
    X(SEND, "send", NETWORK)                                            \
    X(RECV, "recv", NETWORK)                                            \
    X(BATCH_NORM_GRAD, "batch-norm-grad", LIBRARY)                      \
    X(BATCH_NORM_INFERENCE, "batch-norm-inference", LIBRARY)            \
    X(BATCH_NORM_TRAINING, "batch-norm-training", LIBRARY)              \
    X(CHOLESKY, "cholesky", LIBRARY)                                    \
    X(CUSTOM_CALL, "custom-call", LIBRARY)                              \
    X(FFT, "fft", LIBRARY)                                              \
    X(RNG_BIT_GENERATOR, "rng-bit-generator", LIBRARY)                  \
    X(SCAN, "scan", LIBRARY)                                            \
    X(SORT, "sort", LIBRARY)                                            \
    X(TOPK, "topk", LIBRARY)                                            \
    X(TRIANGULAR_SOLVE, "triangular-solve", LIBRARY)                    \
    X(UNKNOWN, "unknown", LIBRARY)                                      \
    X(ASYNC, "async", CONTROL)                                          \
    X(CALL, "call", CONTROL)                                            \
    X(CONDITIONAL, "conditional", CONTROL)                              \
    X(FUSION, "fusion", CONTROL)                                        \
    X(WHILE, "while", CONTROL)                                          \
    X(INFEED, "infeed", HOST)                                           \
    X(OUTFEED, "outfeed", HOST)
/* clang-format on */

typedef enum ridge_hlo_opcode {
#define RIDGE_HLO_OPCODE_ENUM(name, text, kind) RIDGE_HLO_OP_##name,
    RIDGE_HLO_OPCODE_LIST(RIDGE_HLO_OPCODE_ENUM)
#undef RIDGE_HLO_OPCODE_ENUM
} ridge_hlo_opcode;

#define RIDGE_HLO_OPCODE_ONE(name, text, kind) +1
enum { RIDGE_HLO_OPCODE_COUNT = 0 RIDGE_HLO_OPCODE_LIST(RIDGE_HLO_OPCODE_ONE) };
#undef RIDGE_HLO_OPCODE_ONE

typedef enum ridge_hlo_kind {
    RIDGE_HLO_KIND_FREE,
    RIDGE_HLO_KIND_CONST,
    RIDGE_HLO_KIND_MOVE,
    RIDGE_HLO_KIND_MAP,
    RIDGE_HLO_KIND_HARD,
    RIDGE_HLO_KIND_REDUCE,
    RIDGE_HLO_KIND_PRODUCT,
    RIDGE_HLO_KIND_NETWORK,
    RIDGE_HLO_KIND_LIBRARY,
    RIDGE_HLO_KIND_CONTROL,
    RIDGE_HLO_KIND_HOST
} ridge_hlo_kind;

const char *ridge_hlo_opcode_text(ridge_hlo_opcode code);
ridge_hlo_kind ridge_hlo_opcode_kind(ridge_hlo_opcode code);

/** Which end of an asynchronous operation an instruction is. all-gather-start is an
 *  ALL_GATHER with phase START; async-start an ASYNC whose called computation says what
 *  runs. */
typedef enum ridge_hlo_phase {
    RIDGE_HLO_WHOLE,
    RIDGE_HLO_START,
    RIDGE_HLO_UPDATE,
    RIDGE_HLO_DONE
} ridge_hlo_phase;

/** key=text behind an instruction or a module, as written. */
typedef struct ridge_hlo_attribute {
    ridge_str key, text;
} ridge_hlo_attribute;

typedef struct ridge_hlo_instruction {
    ridge_str name;
    ridge_str code_text; /* as written: "slice-start" */
    ridge_hlo_opcode code;
    ridge_hlo_phase phase;
    ridge_hlo_shape shape;
    int n_operands, n_called, n_attributes;
    int line;            /* from 1; 0: none */
    const int *operands; /* instructions of the same computation, before this one */
    const int *called;   /* computations; a while: condition, body. -1: not there */
    const ridge_hlo_attribute *attributes;
    ridge_str literal; /* of a constant; the number of a parameter */
} ridge_hlo_instruction;

typedef struct ridge_hlo_computation {
    ridge_str name;
    int n;
    int root; /* of an empty one: -1 */
    int line;
    const ridge_hlo_instruction *instructions;
} ridge_hlo_computation;

/** A row of the table that stack_frame_id points into. */
typedef struct ridge_hlo_frame {
    ridge_str file, function;
    int line;
    int parent; /* -1: none */
} ridge_hlo_frame;

typedef enum ridge_hlo_format {
    RIDGE_HLO_FORMAT_TEXT,
    RIDGE_HLO_FORMAT_PROTO,
    RIDGE_HLO_FORMAT_MLIR
} ridge_hlo_format;

/** Plain data owned by a ctx; texts are views of the file's. */
typedef struct ridge_hlo_module {
    ridge_str name;
    ridge_hlo_format format;
    bool is_scheduled;
    int64_t partitions, replicas; /* as the header says; else 1 */
    int n_computations;
    int entry; /* -1: the text was cut before it */
    const ridge_hlo_computation *computations;
    int n_attributes;
    const ridge_hlo_attribute *attributes; /* of the header */
    int n_frames;
    const ridge_hlo_frame *frames; /* by stack_frame_id - 1 */
    int64_t n_instructions;
    const char *cut;     /* where the text ends too early; NULL: it does not */
    int n_missing;       /* called computations and shapes that the file lacks */
    const char *missing; /* the first of them; NULL: none */
} ridge_hlo_module;

/** The modules of a file: text may hold several, one behind the other. */
typedef struct ridge_hlo_file {
    const char *path;
    double bytes; /* of the unpacked text */
    int n_modules;
    const ridge_hlo_module *modules;
    const char *fault; /* the file is cut: what was lost. NULL: it is whole */
} ridge_hlo_file;

/** Most bytes of a file, unpacked. */
#define RIDGE_HLO_BYTES_MOST 2e9

/**
 * Read HLO text, StableHLO text, or an HloProto, HloModuleProto or HloSnapshot; gzip
 * and zstd are unpacked. The first bytes tell which.
 * @owner the ctx
 * @errors E_PARSE with file:line:column, what is wrong and what is wanted; E_IO;
 * E_NOMEM
 */
RIDGE_NODISCARD ridge_status ridge_hlo_file_read(ridge_ctx *cx, const char *path,
                                                 ridge_hlo_file *out);
/** The same of text in memory. @param text  borrowed: outlives the modules */
RIDGE_NODISCARD ridge_status ridge_hlo_parse(ridge_ctx *cx, ridge_str text,
                                             const char *path, ridge_hlo_file *out);

/** Text of an attribute; p NULL: there is none. */
ridge_str ridge_hlo_attribute_of(const ridge_hlo_instruction *instruction,
                                 const char *key);
/** File and line that an instruction comes from, through its metadata. @return false:
 *  it does not say */
bool ridge_hlo_source_of(const ridge_hlo_module *module,
                         const ridge_hlo_instruction *instruction, ridge_str *file,
                         int *line);
/** op_name of the metadata: the scopes of the program that it comes from. */
ridge_str ridge_hlo_scope_of(const ridge_hlo_instruction *instruction);

/* ---- groups of devices ------------------------------------------------------------
 */

/** Who talks to whom in a collective. */
typedef struct ridge_hlo_groups {
    int64_t n_groups, size; /* of the first group; 0 groups: all devices in one */
    const int64_t *devices; /* [n_groups, size]; NULL when there are none */
    bool is_uneven;         /* groups of different sizes; the largest is kept */
} ridge_hlo_groups;

/**
 * replica_groups in each of its forms: {{0,1},{2,3}}, [2,4]<=[4,2]T(1,0), {} and
 * mesh['x'=2,'y'=4] {'y'}.
 * @owner cx. @errors E_PARSE with the text; E_NOMEM
 */
RIDGE_NODISCARD ridge_status ridge_hlo_groups_parse(ridge_ctx *cx, ridge_str text,
                                                    ridge_hlo_groups *out);

#ifdef __cplusplus
}
#endif

#endif
