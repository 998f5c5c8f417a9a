/*
 * Software stacks: what a generation of training software makes of a chip. A chip's
 * facts say what well-tuned kernels reach; a stack says which of them it has. Facts
 * come from data/stacks.
 */
#ifndef RIDGE_HARDWARE_STACK_H
#define RIDGE_HARDWARE_STACK_H

#include "ridge/base.h"
#include "ridge/hardware.h"

#ifdef __cplusplus
extern "C" {
#endif

/** How scores are computed. */
typedef enum ridge_attention_kernel {
    RIDGE_ATTENTION_FLASH,  /* scores stay on the chip */
    RIDGE_ATTENTION_UNFUSED /* scores, softmax and dropout pass through HBM */
} ridge_attention_kernel;

/** A factor on the time of a chip's own kernels. */
typedef struct ridge_stack_factor {
    const char *chip; /* "a100": that chip and its variants */
    double value;
} ridge_stack_factor;

enum { RIDGE_STACK_CHIPS_MAX = 16 };

/** What runs on a stack did where their source does not say; -1: no habit. */
typedef struct ridge_stack_practice {
    int has_sp;
    int zero_stage;
    int remat;             /* a ridge_remat, as a number */
    int mtp;               /* 1: a model's prediction layers are trained */
    int has_ep_overlap;    /* expert exchanges behind another microbatch */
    const char *precision; /* as ridge_precision_parse takes it; NULL: no habit */
} ridge_stack_practice;

typedef struct ridge_stack_factors {
    int n;
    ridge_stack_factor of[RIDGE_STACK_CHIPS_MAX];
} ridge_stack_factors;

/** One stack. Immutable, owned by the catalogue. */
typedef struct ridge_stack {
    const char *name;           /* "fsdp-eager" */
    const char *full_name;      /* "PyTorch FSDP, not compiled" */
    const char *const *aliases; /* NULL-terminated */
    const char *const *runs;    /* NULL-terminated: words of sources that ran on it */
    const char *variant_of;     /* of the stack of that name; NULL: of none */
    const char *const
        *told_by;               /* NULL-terminated: words of runs of that stack that say
                                 * that they were on this one; NULL without variant_of */
    const char *const *told_on; /* NULL-terminated: chips on which these words, or those
                                 * of runs, mean it; NULL: on any */
    const char *const
        *vendors; /* NULL-terminated: of chips that it runs on; NULL: of all */
    const char *const *usual_on; /* NULL-terminated: vendors on whose chips most runs
                                  * use it, and chips, which count before vendors; NULL:
                                  * it is usual on none */
    bool is_usual_sharded;       /* there for runs that gather their weights alone */
    ridge_attention_kernel attention;
    ridge_stack_practice practice;
    bool has_tp_overlap;      /* TP collectives run as collective matmuls on GPUs */
    bool has_send_overlap;    /* stages with several chunks send while they work on
                               * another microbatch */
    double stream_passes;     /* time of elementwise work over that of fused kernels */
    double gated_passes;      /* the same of models with gated feed-forwards, rotary and
                               * RMS norms; 0: as stream_passes */
    double selective_matmuls; /* share of products that selective remat does again; 0:
                               * it does the attention again */
    bool has_half_gradients;  /* gradients kept and reduced in 16 bits */
    bool has_half_state;      /* weights too, without a master copy, and moments */
    bool dispatches_once;     /* a token travels to each node of its experts once */
    bool broadcasts_updates;  /* ZeRO-1 and 2: each rank sends what it updated to all
                               * others by itself, and all wait */
    bool splits_sends;      /* between stages each rank of TP sends its part of what all
                             * hold, and the next stage gathers it */
    bool has_two_gradients; /* 16-bit ones beside those kept in fp32 */
    bool gathers_stage;     /* ZeRO-3: stages of a pipeline stay gathered */
    double kept_passes;     /* activations kept over those that gradients need */
    double logit_bytes;     /* at the fullest moment of the loss; 0: 6 */
    double experts_half_width; /* of an expert: its products reach half the rate of one
                                * product; 0: they reach all of it */
    double shard_copy_bytes; /* ZeRO-3: moved on the chip for each parameter of a layer
                              * and microbatch, in and out of the buffers that are
                              * gathered and scattered */
    double experts_host_s; /* the host works on a layer with experts, for a microbatch,
                            * forward and backward: it waits for the chip to learn how
                            * many rows each expert gets, so it is not ahead of it */
    double call_s; /* of the host for a call of an eager framework; 0: whole graphs are
                    * launched, or the host is ahead of the chip */
    double launches_s; /* the chip waits so long for the launches of a layer's forward
                        * pass, twice as long for those of the backward pass: the host
                        * launches a kernel when the one before it is done */
    double range_low, range_high; /* of measured / expected: eight of ten lie inside */
    int range_rows;               /* measured steps behind them; 0: none */
    ridge_stack_factors matmul_time, fp8_time, fp4_time, attention_time;
    const ridge_fact *facts;
    size_t n_facts;
} ridge_stack;

/** The factor for a chip, or for the chip that it is a variant of; 1 when none is
 *  given. */
double ridge_stack_factor_of(const ridge_stack_factors *factors,
                             const ridge_chip *chip);

/** Whether the software runs on the chip. @param stack  NULL: it does
 * @errors E_ARG names whose chips it runs on */
RIDGE_NODISCARD ridge_status ridge_stack_check(ridge_ctx *cx, const ridge_stack *stack,
                                               const ridge_chip *chip);

size_t ridge_catalog_stack_count(const ridge_catalog *catalog);
/** In order of names. @return NULL beyond the last, or out of memory */
const ridge_stack *ridge_catalog_stack(const ridge_catalog *catalog, size_t index);

/** By name or alias, any letter case. @owner the catalogue
 * @errors E_NOTFOUND with the nearest names; E_PARSE, E_NOMEM when it is first read */
RIDGE_NODISCARD ridge_status ridge_stack_find(ridge_ctx *cx,
                                              const ridge_catalog *catalog,
                                              const char *name,
                                              const ridge_stack **out);

/** The stack whose word stands in a source's title: the longest such word decides,
 *  of equal ones that of the later name.
 * @param chip  it ran on: what does not run there is not meant; NULL: not known
 * @return NULL: none */
const ridge_stack *ridge_stack_of_run(const ridge_catalog *catalog,
                                      const ridge_chip *chip, const char *title);

/** What most runs on a chip use.
 * @param is_sharded  it gathers its weights layer by layer (ZeRO-3) and has no stages,
 *                    as PyTorch's FSDP
 * @return NULL: not known */
const ridge_stack *ridge_stack_usual(const ridge_catalog *catalog,
                                     const ridge_chip *chip, bool is_sharded);

/** The variant of a stack that a run's own words tell, and the variant of that: the
 * longest such word decides.
 * @param chip  it ran on; NULL: not known
 * @param text  where in its source the run stands, and what is noted of it
 * @return stack itself where no word of a variant of it stands there */
const ridge_stack *ridge_stack_variant_of_run(const ridge_catalog *catalog,
                                              const ridge_stack *stack,
                                              const ridge_chip *chip, const char *text);

#ifdef __cplusplus
}
#endif

#endif
