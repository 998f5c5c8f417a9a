/* Rows of measured operations, of CSV and of JSON, in the terms of the cost layer. */
#include "near.h"

#include <math.h>
#include <string.h>

#include "measured_op.h"

static ridge_status read_csv(ridge_ctx *cx, const char *header, const char *line,
                             measured_op *out)
{
    measured_csv csv = {.path = "dir/f.csv", .rest = ridge_str_of(header)};
    measured_csv_row names;
    measured_csv_row row;
    measured_record record;
    bool has_row;
    RIDGE_TRY(measured_csv_next(cx, &csv, &names, &has_row));
    csv.rest = ridge_str_of(line);
    RIDGE_TRY(measured_csv_next(cx, &csv, &row, &has_row));
    RIDGE_TRY(measured_record_of_csv(cx, &csv, &names, &row, &record));
    assert_string_equal(record.id, "f.csv:2");
    return measured_op_read(cx, &record, out);
}

static ridge_status read_json(ridge_ctx *cx, const char *config, const char *measured,
                              measured_op *out)
{
    measured_record record;
    const char *line = ridge_sprintf(
        ridge_ctx_arena(cx),
        "{\"id\": \"x\", \"source\": {\"title\": \"t\"}, \"hardware\": {\"chip\": "
        "\"h100\", \"n_chips\": 1}, \"config\": {%s}, \"measured\": {%s}}",
        config, measured);
    RIDGE_TRY(measured_record_of_json(cx, ridge_str_of(line), "f:1", &record));
    assert_string_equal(record.source, "t");
    return measured_op_read(cx, &record, out);
}

#define GEMM_HEADER "op,hardware,dtype,m,n,k,latency_us,framework\n"

static void a_gemm_of_an_engine_quantises_its_activations(void **state)
{
    (void)state;
    ridge_ctx *cx = ridge_ctx_open();
    measured_op op;
    assert_int_equal(
        read_csv(cx, GEMM_HEADER, "gemm,h100,fp8,8,1536,4096,12.5,trtllm\n", &op),
        RIDGE_OK);
    assert_int_equal(op.class, MEASURED_MATMUL);
    assert_string_equal(op.kind, "matmul");
    assert_near(op.measured_s, 12.5e-6, 1e-12);
    assert_near(op.matmul.m, 8, 0);
    assert_near(op.matmul.n, 1536, 0);
    assert_near(op.matmul.k, 4096, 0);
    assert_int_equal(op.matmul.activation, RIDGE_DTYPE_BF16);
    assert_int_equal(op.matmul.compute, RIDGE_DTYPE_FP8);
    assert_int_equal(op.matmul.scaling, RIDGE_SCALING_TENSOR);
    assert_int_equal(
        read_csv(cx, GEMM_HEADER, "gemm,h100,fp8,8,1536,4096,12.5,vllm\n", &op),
        RIDGE_OK);
    assert_int_equal(op.matmul.scaling, RIDGE_SCALING_ROW);
    assert_int_equal(
        read_csv(cx, GEMM_HEADER, "gemm,h100,fp8_block128,8,2,4,12.5,deepgemm\n", &op),
        RIDGE_OK);
    assert_int_equal(op.matmul.activation, RIDGE_DTYPE_FP8); /* ready */
    assert_int_equal(op.matmul.scaling, RIDGE_SCALING_BLOCK);
    ridge_ctx_close(cx);
}

static void a_rate_gives_the_time(void **state)
{
    (void)state;
    ridge_ctx *cx = ridge_ctx_open();
    measured_op op;
    assert_int_equal(read_json(cx,
                               "\"op\": \"matmul\", \"dtype\": \"fp16\", \"m\": 1024, "
                               "\"n\": 1024, \"k\": 1024",
                               "\"tflops_per_s\": 100", &op),
                     RIDGE_OK);
    assert_near(op.measured_s, 2.0 * 1024 * 1024 * 1024 / 100e12, 1e-12);
    ridge_ctx_close(cx);
}

#define ATTENTION_HEADER                                                               \
    "op,hardware,batch,q_len,kv_len,q_heads,kv_heads,head_dim,sliding_window,causal,"  \
    "compute_dtype,kv_dtype,latency_us,framework\n"

static void attention_keeps_heads_window_and_formats(void **state)
{
    (void)state;
    ridge_ctx *cx = ridge_ctx_open();
    measured_op op;
    assert_int_equal(read_csv(cx, ATTENTION_HEADER,
                              "attention_decode,h100,4,1,8192,32,8,128,1024,no,bf16,"
                              "fp8,20,vllm\n",
                              &op),
                     RIDGE_OK);
    assert_string_equal(op.kind, "attention decode");
    assert_near(op.attention.query_tokens, 1, 0);
    assert_near(op.attention.context_tokens, 8192, 0);
    assert_near(op.attention.kv_heads, 8, 0);
    assert_near(op.attention.window, 1024, 0);
    assert_int_equal(op.attention.cache, RIDGE_DTYPE_FP8);
    assert_int_equal(op.attention.compute, RIDGE_DTYPE_BF16);
    assert_false(op.attention.is_causal);
    assert_true(op.attention.is_engine_call);
    assert_false(op.attention.rotates);
    assert_int_equal(read_csv(cx, ATTENTION_HEADER,
                              "mla_prefill,h100,1,64,64,16,16,192/128,0,yes,bf16,bf16,"
                              "20,trtllm\n",
                              &op),
                     RIDGE_OK);
    assert_string_equal(op.kind, "mla prefill");
    assert_near(op.attention.head_dim, 192, 0);
    assert_near(op.attention.v_head_dim, 128, 0);
    assert_true(op.attention.is_causal);
    assert_true(op.attention.rotates);
    ridge_ctx_close(cx);
}

#define EXPERTS_HEADER                                                                 \
    "op,hardware,dtype,num_tokens,hidden,expert_inner,topk,num_experts,moe_tp,moe_ep," \
    "routing,latency_us,kernel\n"

static void experts_keep_their_share_and_skew(void **state)
{
    (void)state;
    ridge_ctx *cx = ridge_ctx_open();
    measured_op op;
    assert_int_equal(read_csv(cx, EXPERTS_HEADER,
                              "moe_ffn,h100,bf16,64,4096,1536,8,128,2,4,power_law_1.2,"
                              "99,moe_torch_flow_nongated\n",
                              &op),
                     RIDGE_OK);
    assert_near(op.experts.d_ff, 768, 0);
    assert_near(op.experts.ways, 4, 0);
    assert_near(op.experts.skew, 1.2, 1e-12);
    assert_false(op.experts.is_gated);
    assert_int_equal(
        read_csv(cx, EXPERTS_HEADER,
                 "moe_ffn,h100,bf16,64,4096,1536,8,1e15,2,4,balanced,99,x\n", &op),
        RIDGE_E_ARG);
    ridge_ctx_close(cx);
}

static void collectives_count_as_nccl_tests_do(void **state)
{
    (void)state;
    ridge_ctx *cx = ridge_ctx_open();
    measured_op op;
    assert_int_equal(
        read_json(cx,
                  "\"op\": \"all_reduce\", \"n_ranks\": 8, \"n_nodes\": 1, "
                  "\"message_bytes\": 8000, \"library\": \"NCCL 2.29\"",
                  "\"busbw_gb_per_s\": 1.75", &op),
        RIDGE_OK);
    assert_near(op.measured_s, 8000 * 1.75 / 1.75e9, 1e-12);
    assert_int_equal(op.collective.library, RIDGE_COMM_NCCL);
    assert_int_equal(
        read_json(cx,
                  "\"op\": \"alltoall\", \"n_ranks\": 4, "
                  "\"message_bytes\": 100, \"library\": \"NCCL (PyTorch)\"",
                  "\"latency_us\": 9", &op),
        RIDGE_OK);
    assert_near(op.collective.bytes, 400, 0);
    assert_int_equal(op.collective.library, RIDGE_COMM_EAGER);
    assert_int_equal(read_json(cx,
                               "\"op\": \"all_reduce\", \"n_ranks\": 4, "
                               "\"message_bytes\": 100, \"library\": \"trtllm 1.3\"",
                               "\"latency_us\": 9", &op),
                     RIDGE_OK);
    assert_int_equal(op.collective.library, RIDGE_COMM_KERNELS);
    ridge_ctx_close(cx);
}

#define EXCHANGE                                                                       \
    "\"n_ranks\": 16, \"n_nodes\": 2, \"tokens_per_rank\": 128, \"hidden\": 1024, "    \
    "\"top_k\": 8, "

/* Each copy by itself, or one for each rank that holds some of the eight experts. */
static void exchanges_of_experts_move_rows(void **state)
{
    (void)state;
    ridge_ctx *cx = ridge_ctx_open();
    const double hit = 16 * (1 - pow(15.0 / 16, 8));
    const struct {
        const char *config;
        double bytes; /* of a rank */
    } cases[] = {
        {"\"op\": \"expert dispatch\", \"library\": \"DeepEP low latency\"",
         128 * 8 * 1024 * (1 + 4.0 / 128)},
        {"\"op\": \"expert combine\", \"library\": \"DeepEP low latency\"",
         128 * 8 * 1024 * 2},
        {"\"op\": \"expert dispatch\", \"dtype\": \"nvfp4\"",
         128 * hit * 1024 * 0.5625},
        {"\"op\": \"expert combine\", \"dtype\": \"nvfp4\"", 128 * hit * 1024 * 2},
    };
    for (size_t i = 0; i < RIDGE_COUNT_OF(cases); i++) {
        measured_op op;
        const char *config =
            ridge_sprintf(ridge_ctx_arena(cx), EXCHANGE "%s", cases[i].config);
        assert_int_equal(read_json(cx, config, "\"latency_us\": 100", &op), RIDGE_OK);
        assert_int_equal(op.collective.kind, RIDGE_COLLECTIVE_ALL_TO_ALL);
        assert_int_equal(op.collective.library, RIDGE_COMM_DEVICE);
        assert_near(op.collective.bytes, 16 * cases[i].bytes, 1e-9);
        assert_near(op.measured_s, 1e-4, 1e-12);
    }
    ridge_ctx_close(cx);
}

static void streams_move_what_they_say(void **state)
{
    (void)state;
    ridge_ctx *cx = ridge_ctx_open();
    measured_op op;
    assert_int_equal(read_json(cx, "\"op\": \"copy\", \"tensor_bytes\": 1000",
                               "\"latency_us\": 2", &op),
                     RIDGE_OK);
    assert_near(op.stream_bytes, 2000, 0);
    assert_int_equal(
        read_json(cx, "\"op\": \"stream triad\"", "\"bandwidth_gb_per_s\": 2000", &op),
        RIDGE_OK);
    assert_near(op.stream_bytes / op.measured_s, 2e12, 1e-12);
    assert_int_equal(read_json(cx, "\"op\": \"host to device copy\"",
                               "\"bandwidth_gb_per_s\": 50", &op),
                     RIDGE_OK);
    assert_int_equal(op.stream_memory, RIDGE_MEMORY_HOST);
    ridge_ctx_close(cx);
}

static void refuse(const char *config, const char *measured, const char *message)
{
    ridge_ctx *cx = ridge_ctx_open();
    measured_op op;
    assert_int_equal(read_json(cx, config, measured, &op), RIDGE_E_ARG);
    assert_string_equal(ridge_ctx_message(cx), message);
    ridge_ctx_close(cx);
}

static void rows_that_cannot_be_priced_say_why(void **state)
{
    (void)state;
    refuse("\"m\": 1", "\"latency_us\": 2", "op is not stated");
    refuse("\"op\": \"sort\"", "\"latency_us\": 2", "no model of 'sort'");
    refuse("\"op\": \"matmul\", \"dtype\": \"fp3\"", "",
           "no model of a matmul in 'fp3'");
    refuse("\"op\": \"matmul\", \"dtype\": \"bf16\", \"m\": 1, \"n\": -4", "",
           "n is not stated");
    refuse("\"op\": \"matmul\", \"dtype\": \"bf16\", \"m\": 1, \"n\": 1, \"k\": 1e300",
           "", "k is not stated");
    refuse("\"op\": \"matmul\", \"dtype\": \"bf16\", \"m\": 1, \"n\": 1, \"k\": 1", "",
           "no time or rate was measured");
    refuse("\"op\": \"attention decode\", \"batch\": 2", "",
           "the length is not stated");
    refuse("\"op\": \"all_reduce\", \"n_ranks\": 1, \"message_bytes\": 1", "",
           "no collective of 1 ranks on 1 nodes");
    refuse("\"op\": \"all_reduce\", \"n_ranks\": 8, \"n_nodes\": 0.5, "
           "\"message_bytes\": 1",
           "", "no collective of 8 ranks on 0.5 nodes");
    refuse("\"op\": \"expert dispatch\", \"n_ranks\": 16, \"n_nodes\": 3", "",
           "no exchange of 16 ranks on 3 nodes");
    refuse(EXCHANGE "\"op\": \"expert dispatch\", \"dtype\": \"fp3\"", "",
           "the format 'fp3' is not known");
}

static void text_that_is_no_row_is_refused(void **state)
{
    (void)state;
    ridge_ctx *cx = ridge_ctx_open();
    measured_record r;
    static const char *const wrong[] = {
        "",
        "[]",
        "{}",
        "{\"id\": 3}",
        "{\"id\": \"x\", \"source\": {\"title\": \"t\"}}",
        "{\"id\": \"x\""};
    for (size_t i = 0; i < RIDGE_COUNT_OF(wrong); i++) {
        assert_int_equal(measured_record_of_json(cx, ridge_str_of(wrong[i]), "f:1", &r),
                         RIDGE_E_PARSE);
    }
    measured_op op;
    assert_int_equal(read_csv(cx, GEMM_HEADER, "gemm,h100\n", &op), RIDGE_E_PARSE);
    assert_non_null(strstr(ridge_ctx_message(cx), "2 fields below a header of 8"));
    ridge_ctx_close(cx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_gemm_of_an_engine_quantises_its_activations),
        cmocka_unit_test(a_rate_gives_the_time),
        cmocka_unit_test(attention_keeps_heads_window_and_formats),
        cmocka_unit_test(experts_keep_their_share_and_skew),
        cmocka_unit_test(collectives_count_as_nccl_tests_do),
        cmocka_unit_test(exchanges_of_experts_move_rows),
        cmocka_unit_test(streams_move_what_they_say),
        cmocka_unit_test(rows_that_cannot_be_priced_say_why),
        cmocka_unit_test(text_that_is_no_row_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
