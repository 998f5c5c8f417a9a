/*
 * What else a training search could take: knobs that the user fixed, freed one at a
 * time, and choices that are not searched unasked.
 */
#include "relaxed_knobs.h"

#include "group_placement.h"

/* ---- what the user fixed --------------------------------------------------------- */

#define FREE_DEGREE(field)                                                             \
    static bool is_##field##_fixed(const relaxed_case *c)                              \
    {                                                                                  \
        return c->request->knobs.field > 0;                                            \
    }                                                                                  \
    static void let_##field(relaxed_variant *v)                                        \
    {                                                                                  \
        v->request.knobs.field = 0;                                                    \
    }
FREE_DEGREE(dp)
FREE_DEGREE(fsdp)
FREE_DEGREE(tp)
FREE_DEGREE(cp)
FREE_DEGREE(pp)
FREE_DEGREE(ep)
FREE_DEGREE(vpp)
FREE_DEGREE(microbatch_seqs)
#undef FREE_DEGREE

static bool is_zero_fixed(const relaxed_case *c)
{
    return c->request->knobs.zero_stage != RIDGE_ZERO_FREE;
}

static void let_zero(relaxed_variant *v)
{
    v->request.knobs.zero_stage = RIDGE_ZERO_FREE;
}

static bool is_sp_fixed(const relaxed_case *c)
{
    return c->request->knobs.has_sp != RIDGE_FLAG_FREE;
}

static void let_sp(relaxed_variant *v)
{
    v->request.knobs.has_sp = RIDGE_FLAG_FREE;
}

static bool is_remat_fixed(const relaxed_case *c)
{
    return c->request->knobs.remat != RIDGE_REMAT_FREE ||
           c->request->knobs.remat_layers > 0;
}

static void let_remat(relaxed_variant *v)
{
    v->request.knobs.remat = RIDGE_REMAT_FREE;
    v->request.knobs.remat_layers = 0;
}

static bool is_ends_fixed(const relaxed_case *c)
{
    return c->request->knobs.is_first_fixed || c->request->knobs.is_last_fixed;
}

static void let_ends(relaxed_variant *v)
{
    v->request.knobs.is_first_fixed = v->request.knobs.is_last_fixed = false;
    v->request.knobs.first_layers = v->request.knobs.last_layers = RIDGE_STAGE_EVEN;
}

static bool is_schedule_fixed(const relaxed_case *c)
{
    return c->request->knobs.schedule >= 0;
}

static void let_schedule(relaxed_variant *v)
{
    v->request.knobs.schedule = RIDGE_KNOB_FREE;
}

/* ---- what is not searched unasked ------------------------------------------------ */

static bool is_schedule_open(const relaxed_case *c)
{
    return c->request->knobs.schedule == RIDGE_KNOB_FREE;
}

static void take_any_schedule(relaxed_variant *v)
{
    v->request.knobs.schedule = RIDGE_KNOB_ANY;
}

/* On a torus; where levels of switches lie inside each other the usual orders have what
 * talks most innermost already. */
static bool is_placement_open(const relaxed_case *c)
{
    return c->request->knobs.placement == RIDGE_KNOB_FREE && c->best != NULL &&
           train_placement_count(c->request->slice) > 2;
}

static void take_any_placement(relaxed_variant *v)
{
    v->request.knobs.placement = RIDGE_KNOB_ANY;
}

static bool is_remat_open(const relaxed_case *c)
{
    return c->request->knobs.remat == RIDGE_REMAT_FREE && c->best != NULL &&
           c->best->parts.recompute_s > 0;
}

/* Policies of whole groups are another space, in which the best layout may not lie. */
static void take_named_remat(relaxed_variant *v)
{
    v->request.knobs.remat = RIDGE_REMAT_OPERATIONS;
    v->has_same = false;
}

static bool is_offload_open(const relaxed_case *c)
{
    const ridge_chip *chip = c->request->slice->chip;
    return c->request->knobs.offload == RIDGE_KNOB_FREE &&
           chip->pcie_bytes_per_s + chip->host_link_bytes_per_s > 0;
}

static void take_any_offload(relaxed_variant *v)
{
    v->request.knobs.offload = RIDGE_KNOB_ANY;
}

static bool has_ep(const relaxed_case *c)
{
    return c->best != NULL && c->best->layout.ep > 1;
}

static bool is_ep_overlap_open(const relaxed_case *c)
{
    return c->request->knobs.overlap[RIDGE_OVERLAP_EP] == RIDGE_FLAG_FREE && has_ep(c);
}

static void take_ep_overlap(relaxed_variant *v)
{
    v->request.knobs.overlap[RIDGE_OVERLAP_EP] = 1;
    v->same.has_ep_overlap = true;
}

static bool is_dispatch_open(const relaxed_case *c)
{
    return c->request->knobs.ep_dispatch == RIDGE_KNOB_FREE && has_ep(c) &&
           c->best->layout.ep_dispatch == RIDGE_DISPATCH_COPIES;
}

static void take_dispatch_once(relaxed_variant *v)
{
    v->request.knobs.ep_dispatch = RIDGE_DISPATCH_ONCE;
    v->same.ep_dispatch = RIDGE_DISPATCH_ONCE;
}

static bool is_adamw(const relaxed_case *c)
{
    return c->request->knobs.optimizer == RIDGE_OPTIMIZER_ADAMW;
}

static void take_8bit_moments(relaxed_variant *v)
{
    v->request.knobs.optimizer = RIDGE_OPTIMIZER_ADAMW_8BIT;
    v->same.optimizer = RIDGE_OPTIMIZER_ADAMW_8BIT;
}

static bool is_bf16(const relaxed_case *c)
{
    return c->request->knobs.precision == RIDGE_PRECISION_BF16;
}

static void take_bf16_reduce(relaxed_variant *v)
{
    v->request.knobs.precision = RIDGE_PRECISION_BF16_REDUCE;
    v->same.precision = RIDGE_PRECISION_BF16_REDUCE;
}

static bool is_fp8_open(const relaxed_case *c)
{
    return is_bf16(c) && c->best != NULL &&
           c->request->slice->chip->peak_flops_per_s[RIDGE_DTYPE_FP8] > 0;
}

static void take_fp8(relaxed_variant *v)
{
    v->request.knobs.precision = RIDGE_PRECISION_FP8;
    v->same.precision = RIDGE_PRECISION_FP8;
}

/* ---- the table ------------------------------------------------------------------- */

const relaxed_knob relaxed_knobs[] = {
    {"dp", "replicas left to the search", is_dp_fixed, let_dp},
    {"fsdp", "shards left to the search", is_fsdp_fixed, let_fsdp},
    {"tp", "tensor parallelism left to the search", is_tp_fixed, let_tp},
    {"cp", "context parallelism left to the search", is_cp_fixed, let_cp},
    {"pp", "stages left to the search", is_pp_fixed, let_pp},
    {"ep", "expert parallelism left to the search", is_ep_fixed, let_ep},
    {"vpp", "virtual stages left to the search", is_vpp_fixed, let_vpp},
    {"microbatch", "microbatches left to the search", is_microbatch_seqs_fixed,
     let_microbatch_seqs},
    {"zero", "the ZeRO stage left to the search", is_zero_fixed, let_zero},
    {"sp", "SP left to the search", is_sp_fixed, let_sp},
    {"remat", "remat left to the search", is_remat_fixed, let_remat},
    {"first_layers, last_layers", "end stages left to the search", is_ends_fixed,
     let_ends},
    {"schedule", "the schedule left to the search", is_schedule_fixed, let_schedule},
    {"schedule=any", "zero-bubble schedules and dualpipe", is_schedule_open,
     take_any_schedule},
    {"placement=any", "mesh axes on the network in every order", is_placement_open,
     take_any_placement},
    {"remat=operations", "operations computed again one by one", is_remat_open,
     take_named_remat},
    {"offload=any", "state or activations on the host", is_offload_open,
     take_any_offload},
    {"ep_overlap=1", "all-to-alls behind another microbatch", is_ep_overlap_open,
     take_ep_overlap},
    {"ep_dispatch=once", "a token sent once to each node and rank", is_dispatch_open,
     take_dispatch_once},
    {"optimizer=adamw-8bit", "moments in 8 bits", is_adamw, take_8bit_moments},
    {"precision=bf16-reduce", "gradients kept and reduced in bf16", is_bf16,
     take_bf16_reduce},
    {"precision=fp8", "matrix products in fp8", is_fp8_open, take_fp8},
    {.name = NULL},
};
