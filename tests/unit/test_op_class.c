/* What operations are, by their names. */
#include "near.h"

#include "op_class.h"

static op_told of_name(const char *name)
{
    return (op_told){.name = name,
                     .category = "",
                     .text = "",
                     .scope = "",
                     .call = "",
                     .collective = ""};
}

static void assert_kernel(const char *name, ridge_profile_class want)
{
    const op_told told = of_name(name);
    if (op_class_of(&told) != want)
        print_error("%s is %s\n", name, ridge_profile_class_text(op_class_of(&told)));
    assert_int_equal(op_class_of(&told), want);
}

static void libraries_of_communication_are_seen_in_every_spelling(void **state)
{
    (void)state;
    assert_kernel("ncclKernel_AllReduce_RING_LL_Sum_float(ncclWorkElem)",
                  RIDGE_CLASS_ALL_REDUCE);
    assert_kernel(
        "ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevComm*, unsigned long)",
        RIDGE_CLASS_ALL_REDUCE);
    assert_kernel("NCCLDEVKERNEL_ALLGATHER_RING_LL", RIDGE_CLASS_ALL_GATHER);
    assert_kernel("ncclDevKernel_ReduceScatter_Sum_bf16_RING_LL",
                  RIDGE_CLASS_REDUCE_SCATTER);
    assert_kernel("ncclDevKernel_SendRecv(ncclDevKernelArgsStorage<4096ul>)",
                  RIDGE_CLASS_SEND_RECV);
    assert_kernel("ncclKernel_Broadcast_RING_LL_Sum_int8_t", RIDGE_CLASS_BROADCAST);
    assert_kernel("rcclGenericKernel", RIDGE_CLASS_COLLECTIVE);
    assert_kernel("void vllm::cross_device_reduce_1stage<__nv_bfloat16, 8>",
                  RIDGE_CLASS_ALL_REDUCE);
}

/* RCCL has one kernel for all: its call tells. */
static void the_call_tells_what_a_generic_kernel_does(void **state)
{
    (void)state;
    op_told told = of_name("ncclDevKernel_Generic(ncclDevComm*)");
    assert_int_equal(op_class_of(&told), RIDGE_CLASS_COLLECTIVE);
    told.collective = "_allgather_base";
    assert_int_equal(op_class_of(&told), RIDGE_CLASS_ALL_GATHER);
}

static void kernels_are_told_by_words(void **state)
{
    (void)state;
    assert_kernel("sm90_xmma_gemm_bf16bf16_bf16f32_f32_tn_n", RIDGE_CLASS_MATMUL);
    assert_kernel("Cijk_Alik_Bljk_BBS_BH_Bias_HA_S_SAV", RIDGE_CLASS_MATMUL);
    assert_kernel("nvjet_hsh_192x192_64x3_2x1_v_bz_TNT", RIDGE_CLASS_MATMUL);
    assert_kernel("void pytorch_flash::flash_fwd_kernel<...>", RIDGE_CLASS_ATTENTION);
    assert_kernel("void at::native::vectorized_elementwise_kernel<4>",
                  RIDGE_CLASS_ELEMENTWISE);
    assert_kernel("void at::native::reduce_kernel<512, 1>", RIDGE_CLASS_REDUCTION);
    assert_kernel("implicit_convolve_sgemm", RIDGE_CLASS_CONVOLUTION);
    assert_kernel("Memcpy DtoH (Device -> Pinned)", RIDGE_CLASS_COPY);
    assert_kernel("something_else", RIDGE_CLASS_OTHER);
}

static void hlo_operations_are_told_by_name_and_category(void **state)
{
    (void)state;
    op_told told = of_name("fusion.12");
    told.category = "convolution fusion";
    assert_int_equal(op_class_of(&told), RIDGE_CLASS_MATMUL);
    told.category = "loop fusion";
    assert_int_equal(op_class_of(&told), RIDGE_CLASS_ELEMENTWISE);
    told.category = "data formatting";
    assert_int_equal(op_class_of(&told), RIDGE_CLASS_RELAYOUT);
    told = of_name("all-gather-done.3");
    assert_int_equal(op_class_of(&told), RIDGE_CLASS_ALL_GATHER);
    told = of_name("collective-permute-start.1");
    assert_int_equal(op_class_of(&told), RIDGE_CLASS_SEND_RECV);
    told = of_name("infeed.1");
    told.category = "infeed";
    assert_int_equal(op_class_of(&told), RIDGE_CLASS_INPUT);
}

static void assert_text(const char *name, const char *text, ridge_profile_class want)
{
    op_told told = of_name(name);
    told.text = text;
    assert_int_equal(op_class_of(&told), want);
}

static void a_wrapper_is_what_it_calls(void **state)
{
    (void)state;
    assert_text("async-start.1",
                "%async-start.1 = ((f32[1024]), f32[1024], u32[]) async-start(%p), "
                "calls=%all-reduce-computation",
                RIDGE_CLASS_ALL_REDUCE);
    assert_text("fusion-start",
                "%fusion-start = (f32[8]) fusion-start(%p), calls=%reduce-scatter.2",
                RIDGE_CLASS_REDUCE_SCATTER);
    assert_text("fusion.3", "%fusion.3 = f32[8]{0} all-to-all(%p), channel_id=1",
                RIDGE_CLASS_ALL_TO_ALL);
    /* An operand is not the operation. */
    assert_text("add.3", "%add.3 = f32[8]{0} add(%all-reduce.7, %all-gather.2)",
                RIDGE_CLASS_OTHER);
}

static void what_a_kernel_is_within_counts(void **state)
{
    (void)state;
    op_told told = of_name("void at::native::vectorized_elementwise_kernel<4>");
    told.is_within_attention = true;
    assert_int_equal(op_class_of(&told), RIDGE_CLASS_ATTENTION);
    told.is_within_attention = false;
    told.is_within_optimizer = true;
    assert_int_equal(op_class_of(&told), RIDGE_CLASS_OPTIMIZER);
    told = of_name("opaque");
    told.call = "aten::mm";
    assert_int_equal(op_class_of(&told), RIDGE_CLASS_MATMUL);
}

/* Updates of slices are no update of weights. */
static void xla_tells_some_only_by_name(void **state)
{
    (void)state;
    op_told told = of_name("dynamic-update-slice.33");
    told.category = "dynamic-update-slice";
    assert_int_equal(op_class_of(&told), RIDGE_CLASS_GATHER);
    told.category = "optimizer update";
    assert_int_equal(op_class_of(&told), RIDGE_CLASS_OPTIMIZER);
    told = of_name("async-collective-start.3");
    told.category = "custom fusion";
    told.text = "%async-collective-start.3 = (bf16[1,512]) fusion(), calls=%fused.402";
    assert_int_equal(op_class_of(&told), RIDGE_CLASS_COLLECTIVE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(libraries_of_communication_are_seen_in_every_spelling),
        cmocka_unit_test(the_call_tells_what_a_generic_kernel_does),
        cmocka_unit_test(kernels_are_told_by_words),
        cmocka_unit_test(hlo_operations_are_told_by_name_and_category),
        cmocka_unit_test(a_wrapper_is_what_it_calls),
        cmocka_unit_test(what_a_kernel_is_within_counts),
        cmocka_unit_test(xla_tells_some_only_by_name),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
