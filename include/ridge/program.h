/*
 * Programs: a model and a phase as a short list of operations over tensors with named
 * dims. Layers that are alike are one block with a repeat count. The same program is
 * costed, partitioned, run and profiled. Knows nothing of sharding or chips.
 */
#ifndef RIDGE_PROGRAM_H
#define RIDGE_PROGRAM_H

#include "ridge/base.h"
#include "ridge/hardware.h"
#include "ridge/model.h"
#include "ridge/program_update.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct ridge_program ridge_program;

/* ---- dims and tensors ------------------------------------------------------------ */

enum { RIDGE_TENSOR_DIM_MAX = 8, RIDGE_PROGRAM_DIM_MAX = 64 };

/** A dimension of the program by name: B, T, D, F, N, K, H, V, E, … The letters that
 *  lowering uses are listed in docs/design/programs.md. */
typedef struct ridge_program_dim {
    const char *name; /* letters, digits, underscore; starts with a letter */
    int64_t size;     /* >= 1 */
    double used;      /* on average, where the rest is padding: tokens k / E of the C
                         rows of an expert; 0: all. Counts go by this. */
} ridge_program_dim;

/** What counts of a dim: used, or size. */
double ridge_program_dim_used(const ridge_program_dim *dim);

/* name, text */
/* clang-format off */
#define RIDGE_ROLE_LIST(X)          \
    X(INPUT, "input")               \
    X(WEIGHT, "weight")             \
    X(ACTIVATION, "activation")     \
    X(GRADIENT, "gradient")         \
    X(STATE, "state")               \
    X(CACHE, "cache")
/* clang-format on */

typedef enum ridge_role {
#define RIDGE_ROLE_ENUM(name, text) RIDGE_ROLE_##name,
    RIDGE_ROLE_LIST(RIDGE_ROLE_ENUM)
#undef RIDGE_ROLE_ENUM
} ridge_role;

const char *ridge_role_text(ridge_role role);

/**
 * An array, row-major in the order of its dims. In a repeated block each repetition has
 * its own, but for what it carries.
 *
 * Made by the one operation that has it as its first writer; or declared (inputs,
 * weights, states, caches, gradients that start at zero): then no operation is needed.
 * Names are unique in the program: "wq", or "layer_3.wq" where several blocks of layers
 * have one; ridge_tensor_base gives "wq" for both. Token ids and labels are whole
 * numbers in 4 bytes, written fp32.
 */
typedef struct ridge_tensor {
    const char *name; /* letters, digits, underscore, dots; starts with a letter */
    ridge_role role;
    ridge_dtype dtype;
    int n_dims;                     /* 0: a single number */
    int dims[RIDGE_TENSOR_DIM_MAX]; /* indices into program->dims; each at most once */
    int block;                      /* that defines it */
    int gradient_of;                /* tensor of a gradient; -1: none */
} ridge_tensor;

/** The name behind its last dot. Borrowed from the tensor. */
const char *ridge_tensor_base(const ridge_tensor *tensor);

/* ---- operations ------------------------------------------------------------------ */

/* clang-format off */
/*
 * name, text. What each computes, its inputs in order -> its outputs, and what that
 * means for splitting a dim (p: any split is local; whole: must not be split). ".." are
 * any leading dims. Dims are matched by which program dim they are, except where a
 * position is named. Numbers in brackets are optional inputs.
 *
 * einsum       a [, b] -> c. The product, summed over the dims that are not in c. Every
 *              dim of c is in an input. One input: a sum or a transposition, which is
 *              no matmul. A split summed dim gives partial sums.
 * attention    q [.., T, N, H], k [.., S, K, H], v [.., S, K, Hv] [, extras]
 *              -> o [.., T, N, Hv]. k and v may lack K: one head for all. Their leading
 *              dims are among q's, one that they lack is shared. T, S, N, K, H are told
 *              by position: S may be the program dim that T is. Query head n meets key
 *              head n / (N/K). o = softmax(scale (q k + q_rope k_rope) over the met s) v.
 *              Query t stands at u = t + S - T. It meets s if not is_causal or s <= u;
 *              and s > u - window with a window, or s / window = u / window (chunked).
 *              extras, in this order where their bits are set:
 *                ROPE    q_rope [.., T, N, R], k_rope [.., S, R]: added to the scores
 *                SINKS   dims among q's: one more score, with a value of zero
 *                FAR     [.., S2, H]: further entries, each both key and value; entry c
 *                        stands for R = ceil(S / S2) tokens and is met if not is_causal
 *                        or (c + 1) R <= u + 1
 *                CHOSEN  [.., T, J]: indices; others are not met (of FAR if there, or k)
 *              .., N with K: p. S, H whole. T p, given all S.
 *              Backward: (inputs, o, do) -> a gradient for each input but CHOSEN.
 * scan         By its kind; the first output is data, a second one is a CACHE that holds
 *              what earlier tokens left (in place; zero before the first). T whole.
 *                linear       q, k [.., T, K, A], v [.., T, N, P] [, decay [.., T, N] or
 *                             like k [, step [.., T, N]]] -> o [.., T, N, P] [, state
 *                             [.., N, A, P]]. Value head n has key head n / (N/K).
 *                             state = exp(-decay) state + step k v^T; o = q state.
 *                             .., N with K, P: p. A: whole. (dao2024-mamba2)
 *                delta        the same operands, decay and step with them. q and k are
 *                             made unit first, x / sqrt(x x + 1e-6), and q divided by
 *                             sqrt(A). state = s + step k (v - k s)^T where s is
 *                             exp(-decay) times the state before; o = q state.
 *                             (yang2024-deltanet)
 *                convolution  x [.., T, c..], w [c.., W] [, bias [c..]] -> y like x
 *                             [, tail [.., c.., W-1]].
 *                             y_t = bias + sum_j w_j x_(t-W+1+j). .., c.. p.
 *                select       q [.., T, N, H], k [.., S, H] [, w [.., T, N]] -> indices
 *                             [.., T, J] of the J largest sum_n w relu(q k), lower index
 *                             first, among s <= u if causal. .. and T p; N gives partial
 *                             sums, so whole. It is trained by a loss of its own:
 *                             backward (inputs) -> gradients; numbers undefined.
 *                pool         x, gates [.., T, O, H], table [R, O, H] -> y [.., S2, H],
 *                             S2 = ceil(T / R): y_c = sum over o, r of softmax over
 *                             (o, r) of (gates + table) times x, at token (c - o) R + r,
 *                             missing tokens left out. .., H p.
 *              Backward: (inputs, gradient of the first output) -> gradients.
 * norm         x [, weight [, bias]] -> y = z / rms(z) weight + bias, over the dims of
 *              the weight, which are x's last (x's last dim if there is no weight), with
 *              1e-6 added to the mean square. z is x by kind rms, x - mean(x) by kind
 *              layer. With groups=G the weight's elements are G equal runs, each with
 *              a mean of its own. Those whole, the rest p.
 *              Backward: (x [, weight], dy) -> gradients.
 * elementwise  See RIDGE_FUNCTION_LIST. Each dim p. An input may lack dims of the output
 *              (add, multiply, copy): it is repeated over them. Backward of functions
 *              with more than one factor: (inputs, dy) -> gradients; of copy, scale,
 *              rotary: (dy) -> dx.
 * gather       table [V, c..], indices [..] -> [.., c..]. c.. and .. p; a split V gives
 *              partial sums. Backward: (indices, dy) -> dtable, rows added up.
 * loss         logits [.., V], labels [..] -> [..]: log sum exp(logits) - logit of the
 *              label. A split V takes two small all-reduces.
 *              Backward: (logits, labels [, dloss, else ones]) -> dlogits.
 * route        logits [.., E] -> gates [.., E]: softmax of the experts_per_token largest
 *              (lower index first), 0 elsewhere. E whole.
 *              Backward: (gates, dgates) -> dlogits.
 * dispatch     x [.., c..], gates [.., E] -> rows [E, C, c..]: tokens in row-major order
 *              of ..; each takes the next free row of every expert whose gate is not 0;
 *              beyond C rows it is dropped, free rows are 0. A split E is an all-to-all.
 *              Backward: (gates, drows) -> dx; gates have no gradient by this way.
 * combine      rows [E, C, c..], gates [.., E] -> y [.., c..]: sum over experts of the
 *              gate times the row that dispatch gave the token. The reverse.
 *              Backward: (rows, gates, dy) -> drows, dgates.
 * update       weight, gradient [, master], m, v -> weight [, master], m, v in place:
 *              m = 0.9 m + 0.1 g, v = 0.95 v + 0.05 g g,
 *              w = w - 0.001 m / (sqrt(v) + 1e-8), on the master where there is one,
 *              which is then copied to the weight. Each dim p.
 *              Moments of int8 have an fp32 scale for each 256 entries of their last dim
 *              (dettmers2022). rule=muon: m of a matrix is made orthogonal over all of
 *              its rows and columns (jordan2024-muon). rule=adafactor: in place of m, v
 *              the mean squares of rows, with the dims of batch and rows, and of
 *              columns, both whole but for the batch (shazeer2018); v alone where the
 *              weight is no matrix. @source kingma2015
 * collective, send  put in by partitioning
 *
 * In a backward block every operation has is_backward set. It keeps the code of the
 * forward one that it derives from and computes as said under "Backward"; but einsum,
 * and add, multiply, copy and scale, compute what they always do. Outputs name by
 * gradient_of which inputs they belong to, in the order of the inputs; inputs that need
 * no gradient (INPUT tensors and what hangs on these alone) have none.
 */
#define RIDGE_OPCODE_LIST(X)        \
    X(EINSUM, "einsum")             \
    X(ATTENTION, "attention")       \
    X(SCAN, "scan")                 \
    X(NORM, "norm")                 \
    X(ELEMENTWISE, "elementwise")   \
    X(GATHER, "gather")             \
    X(LOSS, "loss")                 \
    X(ROUTE, "route")               \
    X(DISPATCH, "dispatch")         \
    X(COMBINE, "combine")           \
    X(UPDATE, "update")             \
    X(COLLECTIVE, "collective")     \
    X(SEND, "send")
/* clang-format on */

typedef enum ridge_opcode {
#define RIDGE_OPCODE_ENUM(name, text) RIDGE_OPCODE_##name,
    RIDGE_OPCODE_LIST(RIDGE_OPCODE_ENUM)
#undef RIDGE_OPCODE_ENUM
} ridge_opcode;

#define RIDGE_OPCODE_ONE(name, text) +1
enum { RIDGE_OPCODE_COUNT = 0 RIDGE_OPCODE_LIST(RIDGE_OPCODE_ONE) };
#undef RIDGE_OPCODE_ONE

const char *ridge_opcode_text(ridge_opcode code);

/*
 * What an elementwise operation computes; enough to run it. name, text, inputs, vector
 * FLOPs an element.
 *
 *   swiglu a b   a sigmoid(a) b               geglu a b   gelu(a) b
 *   gelu x       x (1 + erf(x / sqrt 2)) / 2  relu2 x     max(x, 0)^2
 *   silu x       x sigmoid(x)                 scale x     x times the operation's scale
 *   softplus x   log(1 + e^x)                 exp x       e^x
 *   gelu_tanh x  x (1 + tanh(sqrt(2 / pi) (x + 0.044715 x^3))) / 2
 *   rotary x     pairs (2i, 2i+1) of the last dim H, which is whole, turned by the
 * angle p 10000^(-2i/H) at index p of the operation's position_dim; an odd last element
 * stays. Backward turns back. append x     the output, a CACHE [.., S, ..] in place of
 * x [.., T, ..], gets x as its last T positions, and otherwise keeps what it holds. The
 * two dims that differ are whole, or given all of both. Has no backward.
 */
/* clang-format off */
#define RIDGE_FUNCTION_LIST(X)          \
    X(COPY, "copy", 1, 0)               \
    X(ADD, "add", 2, 1)                 \
    X(MULTIPLY, "multiply", 2, 1)       \
    X(SWIGLU, "swiglu", 2, 6)           \
    X(GELU, "gelu", 1, 10)              \
    X(GELU_TANH, "gelu_tanh", 1, 10)    \
    X(GEGLU, "geglu", 2, 11)            \
    X(RELU, "relu", 1, 1)               \
    X(RELU2, "relu2", 1, 2)             \
    X(SILU, "silu", 1, 5)               \
    X(SIGMOID, "sigmoid", 1, 4)         \
    X(SOFTPLUS, "softplus", 1, 6)       \
    X(EXP, "exp", 1, 3)                 \
    X(ROTARY, "rotary", 1, 6)           \
    X(SCALE, "scale", 1, 1)             \
    X(APPEND, "append", 1, 0)
/* clang-format on */

typedef enum ridge_function {
#define RIDGE_FUNCTION_ENUM(name, text, inputs, flops) RIDGE_FUNCTION_##name,
    RIDGE_FUNCTION_LIST(RIDGE_FUNCTION_ENUM)
#undef RIDGE_FUNCTION_ENUM
} ridge_function;

#define RIDGE_FUNCTION_ONE(name, text, inputs, flops) +1
enum { RIDGE_FUNCTION_COUNT = 0 RIDGE_FUNCTION_LIST(RIDGE_FUNCTION_ONE) };
#undef RIDGE_FUNCTION_ONE

const char *ridge_function_text(ridge_function f);
int ridge_function_inputs(ridge_function f);
double ridge_function_flops(ridge_function f);

/* Kinds of scans; name, text */
/* clang-format off */
#define RIDGE_SCAN_LIST(X)              \
    X(LINEAR, "linear")                 \
    X(DELTA, "delta")                   \
    X(CONVOLUTION, "convolution")       \
    X(SELECT, "select")                 \
    X(POOL, "pool")
/* clang-format on */

typedef enum ridge_scan {
#define RIDGE_SCAN_ENUM(name, text) RIDGE_SCAN_##name,
    RIDGE_SCAN_LIST(RIDGE_SCAN_ENUM)
#undef RIDGE_SCAN_ENUM
} ridge_scan;

#define RIDGE_SCAN_ONE(name, text) +1
enum { RIDGE_SCAN_COUNT = 0 RIDGE_SCAN_LIST(RIDGE_SCAN_ONE) };
#undef RIDGE_SCAN_ONE

const char *ridge_scan_text(ridge_scan scan);

/** Optional inputs of attention, as bits. */
typedef enum ridge_attention_extra {
    RIDGE_ATTENTION_ROPE = 1u << 0, /* two inputs */
    RIDGE_ATTENTION_SINKS = 1u << 1,
    RIDGE_ATTENTION_FAR = 1u << 2,
    RIDGE_ATTENTION_CHOSEN = 1u << 3
} ridge_attention_extra;

enum { RIDGE_OP_INPUT_MAX = 10, RIDGE_OP_OUTPUT_MAX = 8, RIDGE_OP_AXIS_MAX = 8 };

typedef struct ridge_operation {
    const char *name; /* "q_proj"; unique in its block */
    ridge_opcode code;
    ridge_part part; /* of the model's arithmetic */
    bool is_head;    /* the unembedding: counted apart */
    bool is_backward;
    bool is_added;  /* outputs are added to what they hold: gradients over repetitions
                       of what a repeated block reads from outside */
    int forward_of; /* forward operation that this derives from; -1 */
    int n_inputs, n_outputs;
    int inputs[RIDGE_OP_INPUT_MAX]; /* tensor indices */
    int outputs[RIDGE_OP_OUTPUT_MAX];

    ridge_function function; /* ELEMENTWISE */
    int position_dim;        /* ROTARY: the program dim that tells positions; -1 */
    double scale;            /* SCALE; ATTENTION: of the scores, 0: 1 / sqrt(H + R) */
    /* ATTENTION; is_causal also of SELECT */
    unsigned extras; /* ridge_attention_extra bits */
    bool is_causal;
    bool is_window_chunked;
    int64_t window;        /* 0: none */
    double context_tokens; /* that a query meets on average; 0: by shape */
    ridge_norm_kind norm;  /* NORM */
    int64_t norm_groups;   /* NORM: equal runs of the weight's elements that are divided
                              each by its own mean; 0: one of all */
    /* SCAN */
    ridge_scan scan;
    double scan_flops_per_token; /* matmul FLOPs of one token, all heads, forward */
    /* ROUTE, DISPATCH, COMBINE */
    int64_t experts_per_token;

    ridge_update_rule rule; /* UPDATE */

    /* COLLECTIVE and SEND, put in by partitioning */
    int collective; /* a ridge_collective of cost.h, as a number */
    int n_axes;
    int axes[RIDGE_OP_AXIS_MAX]; /* mesh axes, outermost first */
    int dim_from, dim_to;        /* program dims; -1: does not apply */
} ridge_operation;

/** The dims of an attention by what they mean: program dims, -1 where there is none. */
typedef struct ridge_attention_shape {
    int n_batch;
    int batch[RIDGE_TENSOR_DIM_MAX]; /* of q */
    int t, heads, h;
    int s, kv_heads, hv; /* kv_heads -1: one head for all */
    int rope, far, chosen;
} ridge_attention_shape;

/** @return false if op is no attention, forward or backward. */
bool ridge_attention_shape_of(const ridge_program *program, const ridge_operation *op,
                              ridge_attention_shape *out);

/**
 * Operations that run repeat times in a row.
 *
 * The first repetition reads carry_in, a tensor of an earlier block; each further one
 * reads in its place the carry_out of the repetition before. What a later block reads
 * of a repeated one is the last repetition's; what a repeated block reads from outside
 * is the same in each repetition. But repetition r of a block with forward_of goes
 * along with one repetition of that block, and reads its tensors there: r if it is no
 * backward block, repeat - 1 - r if it is; and so do an optimizer's and a backward
 * block that go along with the same one.
 */
typedef struct ridge_block {
    const char *name; /* unique; letters, digits, underscore */
    int64_t repeat;
    int first_op, n_ops;
    int carry_in, carry_out; /* tensors of the residual stream; -1: not repeated */
    int layer;               /* kind of model layer; -1: embedding, head, optimizer */
    bool is_backward;
    int forward_of; /* block that this goes along with; -1: none */
} ridge_block;

typedef enum ridge_phase {
    RIDGE_PHASE_TRAIN,
    RIDGE_PHASE_PREFILL,
    RIDGE_PHASE_DECODE
} ridge_phase;

const char *ridge_phase_text(ridge_phase phase);
RIDGE_NODISCARD ridge_status ridge_phase_parse(ridge_ctx *cx, const char *text,
                                               ridge_phase *out);

/** Plain data owned by a ctx. Blocks stand in the order in which they run. */
struct ridge_program {
    const char *name; /* without blanks */
    ridge_phase phase;
    int n_dims, n_tensors, n_ops, n_blocks;
    ridge_program_dim *dims;
    ridge_tensor *tensors;
    ridge_operation *ops;
    ridge_block *blocks;
};

/* ---- making programs ------------------------------------------------------------- */

/** Sizes and formats that a model alone does not tell. */
typedef struct ridge_lowering {
    ridge_phase phase;
    int64_t sequences;      /* B */
    int64_t query_tokens;   /* T a sequence: 1 in decode, or more (speculation, a chunk
                               of a prompt) */
    int64_t context_tokens; /* S a sequence: in decode what the cache holds, the query's
                               own tokens with it; else T, or the source's tokens */
    int64_t cache_query_tokens; /* most query tokens of a call on the same caches: those
                                   of a window have room for them; 0: query_tokens */
    ridge_dtype weight, activation, cache;
    ridge_update update; /* in training */
} ridge_lowering;

/** The usual lowering: weights and activations in bf16, in prefill and decode weights
 * as narrow as the checkpoint's; in decode one token against a cache of @p tokens. */
ridge_lowering ridge_lowering_usual(const ridge_model *model, ridge_phase phase,
                                    int64_t sequences, int64_t tokens);

/**
 * The forward program of a model; for RIDGE_PHASE_TRAIN with loss, backward and update.
 *
 * Blocks: "embed", one for each run of layers ("layer" where there is one run, else
 * "layer_3" from the layer it begins with; "encoder_0"), "head"; then those blocks with
 * _backward in reverse order, then with _update. Blocks of one kind of layer are the
 * same operations. Latent attention is absorbed in decode; docs/design/programs.md says
 * what else is decided.
 * @owner the ctx
 * @errors E_ARG sizes outside 1 .. 1e9, or products that overflow; more than 64 dims;
 * an encoder that should decode; E_NOMEM
 */
RIDGE_NODISCARD ridge_status ridge_program_lower(ridge_ctx *cx,
                                                 const ridge_model *model,
                                                 const ridge_lowering *lowering,
                                                 const ridge_program **out);

/**
 * A program with the backward blocks of a forward one, derived operation by operation
 * and appended behind it in reverse order. A loss that nothing reads has a gradient of
 * ones; without one, each output that nothing reads gets a declared gradient, to come
 * from outside.
 * @owner the ctx
 * @errors E_ARG if it has backward parts already; caches, collectives; a repeated block
 *         that carries nothing, or whose inner tensors are read outside; E_NOMEM
 */
RIDGE_NODISCARD ridge_status ridge_program_backward(ridge_ctx *cx,
                                                    const ridge_program *forward,
                                                    const ridge_program **out);

/**
 * A copy with one dim of another size; rows of experts follow their tokens. Stated
 * averages (context_tokens, scan_flops_per_token) stay.
 * @owner the ctx
 * @errors E_ARG unknown dim, size < 1, dims that no longer fit; E_NOMEM
 */
RIDGE_NODISCARD ridge_status ridge_program_resize(ridge_ctx *cx,
                                                  const ridge_program *program,
                                                  const char *dim, int64_t size,
                                                  const ridge_program **out);

int ridge_program_dim_find(const ridge_program *program,
                           const char *name); /* -1: none */
int ridge_program_tensor_find(const ridge_program *program, const char *name);
/** The whole gradient of a tensor, once all its shares are added up; -1: none. */
int ridge_program_gradient(const ridge_program *program, int tensor);
/** Elements of a tensor, with padding, as a double. */
double ridge_tensor_elements(const ridge_program *program, const ridge_tensor *tensor);

/* ---- counts ---------------------------------------------------------------------- */

/** What one operation, or a program with repeats, asks for. */
typedef struct ridge_op_count {
    double matmul_flops; /* einsums, attention scores (causal half), scans */
    double vector_flops;
    double bytes; /* operands read and results written once */
} ridge_op_count;

ridge_op_count ridge_operation_count(const ridge_program *program,
                                     const ridge_operation *op);
ridge_op_count ridge_program_count(const ridge_program *program);
/** Elements of all tensors of a role, with repeats and padding. */
double ridge_program_elements(const ridge_program *program, ridge_role role);
/** Elements of all weights, with repeats. */
double ridge_program_weights(const ridge_program *program);

/* ---- text
 * ------------------------------------------------------------------------------------
 */

/**
 * The program in its notation, which ridge_program_parse reads back to the same
 * program:
 *
 *     program llama-3-8b train
 *     dims B=1 T=4096 D=4096 N=32 H=128 …
 *     block layer x32 layer=0 carry x -> x_out
 *       weight wq[D,N,H] bf16
 *       q[B,T,N,H] bf16 = einsum h, wq  part=attention
 *
 * @param out  with its arena; is_short once that is full
 */
void ridge_program_write(const ridge_program *program, ridge_buf *out);
/**
 * @param file  for messages
 * @owner the ctx; the text is not kept
 * @errors E_PARSE with file:line:column, what is wanted, and the line with a ^ before
 * the place; E_NOMEM
 */
RIDGE_NODISCARD ridge_status ridge_program_parse(ridge_ctx *cx, ridge_str text,
                                                 const char *file,
                                                 const ridge_program **out);
/** Whether two programs are the same in every field that the notation carries. */
bool ridge_program_equal(const ridge_program *a, const ridge_program *b);

#ifdef __cplusplus
}
#endif

#endif
