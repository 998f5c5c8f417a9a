/*
 * Names of kernels and operations, by tables of words: the first row that matches
 * counts. Letter case never does, for NCCL alone has had three spellings.
 */
#include "op_class.h"

#include <string.h>

typedef struct word_class {
    const char *word; /* in lower case */
    ridge_profile_class class;
} word_class;

static char lower(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c + 32) : c;
}

bool op_class_has(const char *text, const char *word)
{
    for (; *text != 0; text++) {
        size_t i = 0;
        while (word[i] != 0 && lower(text[i]) == word[i])
            i++;
        if (word[i] == 0)
            return true;
    }
    return false;
}

static bool find_word(const char *text, const word_class *rows, size_t n,
                      ridge_profile_class *out)
{
    for (size_t i = 0; *text != 0 && i < n; i++) {
        if (op_class_has(text, rows[i].word)) {
            *out = rows[i].class;
            return true;
        }
    }
    return false;
}

/* ---- collectives ----------------------------------------------------------------- */

/* Longer words before their parts. */
static const word_class collective_words[] = {
    {"reducescatter", RIDGE_CLASS_REDUCE_SCATTER},
    {"reduce-scatter", RIDGE_CLASS_REDUCE_SCATTER},
    {"reduce_scatter", RIDGE_CLASS_REDUCE_SCATTER},
    {"allgather", RIDGE_CLASS_ALL_GATHER},
    {"all-gather", RIDGE_CLASS_ALL_GATHER},
    {"all_gather", RIDGE_CLASS_ALL_GATHER},
    {"allreduce", RIDGE_CLASS_ALL_REDUCE},
    {"all-reduce", RIDGE_CLASS_ALL_REDUCE},
    {"all_reduce", RIDGE_CLASS_ALL_REDUCE},
    {"alltoall", RIDGE_CLASS_ALL_TO_ALL},
    {"all-to-all", RIDGE_CLASS_ALL_TO_ALL},
    {"all_to_all", RIDGE_CLASS_ALL_TO_ALL},
    {"collective-permute", RIDGE_CLASS_SEND_RECV},
    {"collective_permute", RIDGE_CLASS_SEND_RECV},
    {"collectivepermute", RIDGE_CLASS_SEND_RECV},
    {"sendrecv", RIDGE_CLASS_SEND_RECV},
    {"send_recv", RIDGE_CLASS_SEND_RECV},
    {"collective-broadcast", RIDGE_CLASS_BROADCAST},
    {"broadcast", RIDGE_CLASS_BROADCAST},
};

/* Only in a text that is of a collective for certain. */
static const word_class short_collective_words[] = {
    {"send", RIDGE_CLASS_SEND_RECV},     {"recv", RIDGE_CLASS_SEND_RECV},
    {"permute", RIDGE_CLASS_SEND_RECV},  {"bcast", RIDGE_CLASS_BROADCAST},
    {"reduce", RIDGE_CLASS_COLLECTIVE},  {"gather", RIDGE_CLASS_COLLECTIVE},
    {"scatter", RIDGE_CLASS_COLLECTIVE}, {"barrier", RIDGE_CLASS_COLLECTIVE},
};

ridge_profile_class op_class_of_collective(const char *text)
{
    ridge_profile_class class = RIDGE_CLASS_OTHER;
    if (!find_word(text, collective_words, RIDGE_COUNT_OF(collective_words), &class))
        find_word(text, short_collective_words, RIDGE_COUNT_OF(short_collective_words),
                  &class);
    return class;
}

/* Kernels of communication libraries; what they do is in their names as well. */
static const char *const library_words[] = {
    "nccl",
    "rccl",
    "nvshmem",
    "cross_device_reduce",
    "msccl",
    "quickreduce",
    "one_shot_all",
    "two_shot_all",
    "one_shot_reduce",
    "allreduce_fusion",
    "multimem_all",
    "userbuffers",
    "deep_ep::",
    "iris_all",
    "symm_mem",
};

static bool is_of_library(const char *name)
{
    for (size_t i = 0; i < RIDGE_COUNT_OF(library_words); i++) {
        if (op_class_has(name, library_words[i]))
            return true;
    }
    return false;
}

static ridge_profile_class library_class(const op_told *told)
{
    ridge_profile_class class = RIDGE_CLASS_OTHER;
    if (*told->collective != 0)
        class = op_class_of_collective(told->collective);
    if (class == RIDGE_CLASS_OTHER)
        class = op_class_of_collective(told->name);
    if (op_class_has(told->name, "deep_ep::") || op_class_has(told->name, "dispatch"))
        class = RIDGE_CLASS_ALL_TO_ALL;
    if (op_class_has(told->name, "cross_device_reduce") ||
        op_class_has(told->name, "one_shot_reduce"))
        class = RIDGE_CLASS_ALL_REDUCE;
    return class == RIDGE_CLASS_OTHER ? RIDGE_CLASS_COLLECTIVE : class;
}

/* ---- HLO ------------------------------------------------------------------------- */

/* Categories of XProf, and kinds of Ridge's own timelines, whole or a part of them. */
static const word_class category_words[] = {
    {"all-", RIDGE_CLASS_COLLECTIVE},
    {"all_", RIDGE_CLASS_COLLECTIVE},
    {"collective", RIDGE_CLASS_COLLECTIVE},
    {"reduce-scatter", RIDGE_CLASS_COLLECTIVE},
    {"reduce_scatter", RIDGE_CLASS_COLLECTIVE},
    {"host send", RIDGE_CLASS_COPY},
    {"host recv", RIDGE_CLASS_COPY},
    {"send", RIDGE_CLASS_SEND_RECV},
    {"recv", RIDGE_CLASS_SEND_RECV},
    {"infeed", RIDGE_CLASS_INPUT},
    {"outfeed", RIDGE_CLASS_COPY},
    {"attention", RIDGE_CLASS_ATTENTION},
    {"convolution", RIDGE_CLASS_MATMUL},
    {"dot", RIDGE_CLASS_MATMUL},
    {"einsum", RIDGE_CLASS_MATMUL},
    {"gemm", RIDGE_CLASS_MATMUL},
    {"custom-call", RIDGE_CLASS_OTHER},
    {"custom fusion", RIDGE_CLASS_OTHER},
    {"copy-start", RIDGE_CLASS_COPY},
    {"copy-done", RIDGE_CLASS_COPY},
    {"copy", RIDGE_CLASS_RELAYOUT},
    {"data formatting", RIDGE_CLASS_RELAYOUT},
    {"reshape", RIDGE_CLASS_RELAYOUT},
    {"transpose", RIDGE_CLASS_RELAYOUT},
    {"dynamic-", RIDGE_CLASS_GATHER},
    {"norm", RIDGE_CLASS_NORM},
    {"softmax", RIDGE_CLASS_SOFTMAX},
    {"optimizer", RIDGE_CLASS_OPTIMIZER},
    {"update", RIDGE_CLASS_OPTIMIZER},
    {"gather", RIDGE_CLASS_GATHER},
    {"scatter", RIDGE_CLASS_GATHER},
    {"route", RIDGE_CLASS_ROUTING},
    {"dispatch", RIDGE_CLASS_ROUTING},
    {"combine", RIDGE_CLASS_ROUTING},
    {"loop fusion", RIDGE_CLASS_ELEMENTWISE},
    {"elementwise", RIDGE_CLASS_ELEMENTWISE},
    {"input fusion", RIDGE_CLASS_REDUCTION},
    {"reduce", RIDGE_CLASS_REDUCTION},
};

/* "%ar = ... all-reduce(...)", "async-start(...), calls=%all-reduce.3": an opcode
 * stands before a bracket, a called computation behind calls=. */
static ridge_profile_class text_collective(const char *text)
{
    static const word_class opcodes[] = {
        {"all-reduce(", RIDGE_CLASS_ALL_REDUCE},
        {"all-reduce-", RIDGE_CLASS_ALL_REDUCE},
        {"all-gather(", RIDGE_CLASS_ALL_GATHER},
        {"all-gather-", RIDGE_CLASS_ALL_GATHER},
        {"reduce-scatter(", RIDGE_CLASS_REDUCE_SCATTER},
        {"reduce-scatter-", RIDGE_CLASS_REDUCE_SCATTER},
        {"all-to-all(", RIDGE_CLASS_ALL_TO_ALL},
        {"all-to-all-", RIDGE_CLASS_ALL_TO_ALL},
        {"ragged-all-to-all", RIDGE_CLASS_ALL_TO_ALL},
        {"collective-permute", RIDGE_CLASS_SEND_RECV},
        {"collective-broadcast", RIDGE_CLASS_BROADCAST},
    };
    ridge_profile_class class = RIDGE_CLASS_OTHER;
    const char *calls = strstr(text, "calls=");
    const char *equals = strstr(text, " = ");
    if (equals != NULL)
        find_word(equals, opcodes, RIDGE_COUNT_OF(opcodes), &class);
    /* Operands are collectives' results too: only what is called, or the opcode. */
    if (class != RIDGE_CLASS_OTHER && calls == NULL) {
        const char *opened = strchr(equals, '(');
        const char *opcode = opened;
        while (opcode != NULL && opcode > equals && opcode[-1] != ' ')
            opcode--;
        const bool is_opcode = opcode != NULL &&
                               op_class_of_collective(opcode) != RIDGE_CLASS_OTHER &&
                               (strncmp(opcode, "all-", 4) == 0 ||
                                strncmp(opcode, "collective-", 11) == 0 ||
                                strncmp(opcode, "ragged-", 7) == 0 ||
                                strncmp(opcode, "reduce-scatter", 14) == 0);
        return is_opcode ? class : RIDGE_CLASS_OTHER;
    }
    class = RIDGE_CLASS_OTHER;
    if (calls != NULL)
        find_word(calls, collective_words, RIDGE_COUNT_OF(collective_words) - 1,
                  &class);
    return class;
}

static bool starts_with(const char *text, const char *start)
{
    return strncmp(text, start, strlen(start)) == 0;
}

/* A collective of XLA by its name; a fusion called all-reduce-something-fusion too. */
static ridge_profile_class hlo_collective(const op_told *told)
{
    static const char *const starts[] = {"all-",        "reduce-scatter", "collective-",
                                         "ragged-all-", "send.",          "send-done",
                                         "recv.",       "recv-done",      "all_"};
    for (size_t i = 0; i < RIDGE_COUNT_OF(starts); i++) {
        if (starts_with(told->name, starts[i]))
            return op_class_of_collective(told->name);
    }
    const ridge_profile_class class =
        *told->text != 0 ? text_collective(told->text) : RIDGE_CLASS_OTHER;
    if (class == RIDGE_CLASS_OTHER && starts_with(told->name, "async-collective"))
        return RIDGE_CLASS_COLLECTIVE; /* a fusion of TPUs, by name alone */
    return class;
}

static bool is_attention_text(const char *text)
{
    return op_class_has(text, "flash_attention") || op_class_has(text, "splash") ||
           op_class_has(text, "fmha") || op_class_has(text, "ragged_paged") ||
           op_class_has(text, "paged_attention") || op_class_has(text, "mha") ||
           op_class_has(text, "dot_product_attention");
}

/* Mesh axes over which Ridge's played steps exchange. */
static bool is_mesh_axis(const char *category)
{
    static const char *const axes[] = {"tp", "cp",      "ep",   "fsdp",
                                       "dp", "pp down", "pp up"};
    for (size_t i = 0; i < RIDGE_COUNT_OF(axes); i++) {
        if (strcmp(category, axes[i]) == 0)
            return true;
    }
    return false;
}

static bool hlo_class(const op_told *told, ridge_profile_class *out)
{
    if (is_mesh_axis(told->category)) {
        *out = RIDGE_CLASS_COLLECTIVE;
        return true;
    }
    const ridge_profile_class collective = hlo_collective(told);
    if (collective != RIDGE_CLASS_OTHER) {
        *out = collective;
        return true;
    }
    if (*told->category == 0 ||
        !find_word(told->category, category_words, RIDGE_COUNT_OF(category_words), out))
        return false;
    if (*out == RIDGE_CLASS_COLLECTIVE) {
        *out = op_class_of_collective(told->category);
        if (*out == RIDGE_CLASS_OTHER)
            *out = RIDGE_CLASS_COLLECTIVE;
    }
    if (*out == RIDGE_CLASS_OTHER &&
        (is_attention_text(told->name) || is_attention_text(told->scope)))
        *out = RIDGE_CLASS_ATTENTION;
    return *out != RIDGE_CLASS_OTHER;
}

/* ---- kernels --------------------------------------------------------------------- */

static const word_class kernel_words[] = {
    {"memcpy", RIDGE_CLASS_COPY},
    {"memset", RIDGE_CLASS_COPY},
    {"rocclr_copybuffer", RIDGE_CLASS_COPY},
    {"rocclr_fillbuffer", RIDGE_CLASS_COPY},
    {"flash", RIDGE_CLASS_ATTENTION},
    {"fmha", RIDGE_CLASS_ATTENTION},
    {"sdpa", RIDGE_CLASS_ATTENTION},
    {"attn", RIDGE_CLASS_ATTENTION},
    {"attention", RIDGE_CLASS_ATTENTION},
    {"paged", RIDGE_CLASS_ATTENTION},
    {"mla_", RIDGE_CLASS_ATTENTION},
    {"multi_tensor_apply", RIDGE_CLASS_OPTIMIZER},
    {"fused_adam", RIDGE_CLASS_OPTIMIZER},
    {"adamw", RIDGE_CLASS_OPTIMIZER},
    {"cijk_", RIDGE_CLASS_MATMUL},
    {"nvjet", RIDGE_CLASS_MATMUL},
    {"convolve", RIDGE_CLASS_CONVOLUTION},
    {"winograd", RIDGE_CLASS_CONVOLUTION},
    {"_conv2d", RIDGE_CLASS_CONVOLUTION},
    {"igemm", RIDGE_CLASS_CONVOLUTION},
    {"wgrad", RIDGE_CLASS_CONVOLUTION},
    {"dgrad", RIDGE_CLASS_CONVOLUTION},
    {"fprop", RIDGE_CLASS_CONVOLUTION},
    {"im2col", RIDGE_CLASS_RELAYOUT},
    {"im3d2col", RIDGE_CLASS_RELAYOUT},
    {"gemm", RIDGE_CLASS_MATMUL},
    {"gemv", RIDGE_CLASS_MATMUL},
    {"matmul", RIDGE_CLASS_MATMUL},
    {"splitkreduce", RIDGE_CLASS_MATMUL},
    {"xmma", RIDGE_CLASS_MATMUL},
    {"cublas", RIDGE_CLASS_MATMUL},
    {"fused_moe_kernel", RIDGE_CLASS_MATMUL},
    {"triton_tem_fused", RIDGE_CLASS_MATMUL},
    {"triton_mm", RIDGE_CLASS_MATMUL},
    {"marlin", RIDGE_CLASS_MATMUL},
    {"cutlass::kernel", RIDGE_CLASS_MATMUL},
    {"cutlass::device_kernel", RIDGE_CLASS_MATMUL},
    {"rope", RIDGE_CLASS_ROTARY},
    {"rotary", RIDGE_CLASS_ROTARY},
    {"layer_norm", RIDGE_CLASS_NORM},
    {"layernorm", RIDGE_CLASS_NORM},
    {"rmsnorm", RIDGE_CLASS_NORM},
    {"rms_norm", RIDGE_CLASS_NORM},
    {"batch_norm", RIDGE_CLASS_NORM},
    {"cudnn::bn_", RIDGE_CLASS_NORM},
    {"norm_kernel", RIDGE_CLASS_NORM},
    {"softmax", RIDGE_CLASS_SOFTMAX},
    {"topk", RIDGE_CLASS_ROUTING},
    {"moe_", RIDGE_CLASS_ROUTING},
    {"permute_cols", RIDGE_CLASS_ROUTING},
    {"radixsort", RIDGE_CLASS_ROUTING},
    {"embedding", RIDGE_CLASS_GATHER},
    {"index", RIDGE_CLASS_GATHER},
    {"gather", RIDGE_CLASS_GATHER},
    {"scatter", RIDGE_CLASS_GATHER},
    {"reshape_and_cache", RIDGE_CLASS_GATHER},
    {"catarraybatched", RIDGE_CLASS_RELAYOUT},
    {"transpose", RIDGE_CLASS_RELAYOUT},
    {"reduce", RIDGE_CLASS_REDUCTION},
    {"elementwise", RIDGE_CLASS_ELEMENTWISE},
    {"act_and_mul", RIDGE_CLASS_ELEMENTWISE},
    {"silu", RIDGE_CLASS_ELEMENTWISE},
    {"gelu", RIDGE_CLASS_ELEMENTWISE},
    {"triton_poi", RIDGE_CLASS_ELEMENTWISE},
    {"triton_red", RIDGE_CLASS_REDUCTION},
    {"triton_per", RIDGE_CLASS_REDUCTION},
    {"fusion", RIDGE_CLASS_ELEMENTWISE},
};

/* Calls whose kernels do not tell what they are by name. */
static const word_class call_words[] = {
    {"attention", RIDGE_CLASS_ATTENTION},      {"aten::mm", RIDGE_CLASS_MATMUL},
    {"aten::addmm", RIDGE_CLASS_MATMUL},       {"aten::bmm", RIDGE_CLASS_MATMUL},
    {"aten::baddbmm", RIDGE_CLASS_MATMUL},     {"aten::_scaled_mm", RIDGE_CLASS_MATMUL},
    {"aten::_grouped_mm", RIDGE_CLASS_MATMUL}, {"convolution", RIDGE_CLASS_CONVOLUTION},
};

static ridge_profile_class kernel_class(const op_told *told)
{
    ridge_profile_class class = RIDGE_CLASS_OTHER;
    const bool has_class =
        find_word(told->name, kernel_words, RIDGE_COUNT_OF(kernel_words), &class);
    if (!has_class)
        find_word(told->call, call_words, RIDGE_COUNT_OF(call_words), &class);
    const bool is_compute =
        ridge_profile_part_is_compute(ridge_profile_class_part(class));
    if (is_compute && told->is_within_attention)
        return RIDGE_CLASS_ATTENTION;
    if (is_compute && told->is_within_optimizer && class != RIDGE_CLASS_MATMUL)
        return RIDGE_CLASS_OPTIMIZER;
    return class;
}

ridge_profile_class op_class_of(const op_told *told)
{
    ridge_profile_class class;
    if (is_of_library(told->name))
        return library_class(told);
    if (told->is_copy)
        return RIDGE_CLASS_COPY;
    if (hlo_class(told, &class))
        return class;
    return kernel_class(told);
}
