/* Files of requests: each format, what is malformed by its line, order, packed files.
 */
#include "own_folder.h"

#include "ridge/simulate_requests.h"

#include <math.h>
#include <string.h>

#define AZURE "TIMESTAMP,ContextTokens,GeneratedTokens\r\n"

static ridge_status open_text(ridge_ctx *cx, const char *text,
                              const ridge_request_file_options *options,
                              ridge_request_file **out)
{
    static const ridge_request_file_options plain = {.window = 4};
    const char *folder = own_folder(cx, "request_file");
    const char *path = own_file(cx, folder, "requests", text, strlen(text));
    return ridge_request_file_open(cx, path, options ? options : &plain, out);
}

static ridge_request next_of(ridge_request_file *file)
{
    const ridge_request_source s = ridge_request_file_source(file);
    ridge_request r = {0};
    assert_true(isfinite(s.peek_s(s.self)));
    assert_int_equal(s.take(s.self, &r), RIDGE_OK);
    return r;
}

static void assert_request(ridge_request_file *file, double arrival_s, int64_t prompt,
                           int64_t output)
{
    const ridge_request r = next_of(file);
    assert_near(r.arrival_s, arrival_s, 1e-6);
    assert_int_equal(r.prompt_tokens, prompt);
    assert_int_equal(r.output_tokens, output);
}

static void assert_end(ridge_ctx *cx, ridge_request_file *file)
{
    const ridge_request_source s = ridge_request_file_source(file);
    assert_true(isinf(s.peek_s(s.self)));
    assert_done(cx, s.status(s.self));
}

static void formats_are_told_by_their_content(void **state)
{
    static const struct {
        const char *text, *columns;
        double second_s;
        int64_t prompt, output;
    } cases[] = {
        {AZURE
         "2023-11-16 18:17:03.9799600,4808,10\r\n2023-11-16 18:17:04.0319600,7,8\r\n",
         "Azure", 0.052, 7, 8},
        {AZURE "2024-02-28T23:59:59.5Z,1,1\n2024-02-29 02:00:00+02:00,70,80\n", "Azure",
         0.5, 70, 80},
        {"Timestamp,Model,Request tokens,Response tokens,Total tokens,Log Type\n"
         "5,GPT-4,472,18,490,API log\n45.5,GPT-4,7,8,15,API log\n",
         "BurstGPT", 40.5, 7, 8},
        {"arrived_at,num_prefill_tokens,num_decode_tokens\n1.0,4,5\n1.25,7,8\n",
         "vidur", 0.25, 7, 8},
        {"\xef\xbb\xbf"
         "arrival_s,prompt_tokens,output_tokens\n0,4,5\n\n2,7,8",
         "plain", 2, 7, 8},
        {"Time,Prompt Tokens,Completion-Tokens\n1,4,5\n1.5,7,8\n", "plain", 0.5, 7, 8},
        {"id,output_len,timestamp_ms,input_len\na,4,100,5\nb,8,350,7\n", "plain", 0.25,
         7, 8},
        {"isl,osl\n4,5\n7,8\n", "plain", 0, 7, 8},
        {"{\"timestamp\": 5, \"input_length\": 6, \"output_length\": 6}\n"
         "{\"timestamp\": 45, \"input_length\": 7, \"output_length\": 8}\n",
         "mooncake", 0.04, 7, 8},
        {"{\"chat_id\":1,\"timestamp\":5.5,\"input_length\":6,\"output_length\":6}\n"
         "{\"chat_id\":2,\"timestamp\":7,\"input_length\":7,\"output_length\":8}\n",
         "bailian", 1.5, 7, 8},
        {"{\"input_toks\":10,\"output_toks\":7,\"arrival_time_ns\":46926808}\n"
         "{\"input_toks\":7,\"output_toks\":8,\"arrival_time_ns\":146926808}\n",
         "tokens", 0.1, 7, 8},
    };
    (void)state;
    for (size_t i = 0; i < RIDGE_COUNT_OF(cases); i++) {
        ridge_ctx *cx = ridge_ctx_open();
        ridge_request_file *file = NULL;
        assert_done(cx, open_text(cx, cases[i].text, NULL, &file));
        assert_near(next_of(file).arrival_s, 0, 0);
        assert_request(file, cases[i].second_s, cases[i].prompt, cases[i].output);
        assert_end(cx, file);
        assert_string_equal(ridge_request_file_about(file)->columns, cases[i].columns);
        ridge_ctx_close(cx);
    }
}

static const struct {
    const char *text, *message;
} malformed[] = {
    {"", "holds no requests"},
    {AZURE, "holds no requests"},
    {AZURE "2023-11-16 18:17:03,48,0\n2023-11-16 18:17:04,48,0\n",
     "all 2 have no tokens of output"},
    {AZURE "2023-11-16 18:17:03,48,1\n2223-11-16 18:17:04,48,1\n",
     ":3: arrives 6.31e+09 s from the first line's: check the unit"},
    {AZURE "1,48,1\n1e300,48,1\n", ":3: arrives 1e+300 s"},
    {AZURE "1,48,1\nnan,48,1\n", ":3: 'nan' is not a time"},
    {"{\"timestamp\":0,\"input_length\":513,\"output_length\":1,\"hash_ids\":[1,2]}"
     "\n"
     "{\"timestamp\":0,\"input_length\":512,\"output_length\":1,\"hash_ids\":[1,2]}"
     "\n",
     ":2: 2 pieces of 512 tokens"},
    {"what,ever\n1,2\n", ":1: neither columns"},
    {AZURE "2023-11-16 18:17:03,48,10\n2023-11-16 18:17:04,x,10\n", ":3: the prompt's"},
    {AZURE "2023-11-16 18:17:03,48,-1\n", ":2: the output's '-1'"},
    {AZURE "2023-13-16 18:17:03,48,10\n", ":2: '2023-13-16 18:17:03' is not a time"},
    {AZURE "2023-11-16 18:17:03,48\n", ":2: 2 columns, the first line names 3"},
    {"{\"input_length\":1,\"output_length\":1}\n", ":1: no \"timestamp\""},
    {"{\"timestamp\":0,\"input_length\":1,\"output_length\":1}\n"
     "{\"timestamp\":0,\"input_length\":1,\n",
     ":2: not a line of requests in JSON: "},
    {"{\"timestamp\":0,\"input_length\":1,\"output_length\":1}\n"
     "{\"timestamp\":0,\"input_length\":\"many\",\"output_length\":1}\n",
     "\"input_length\" is not a number"},
    {"{\"timestamp\":0,\"input_length\":1,\"output_length\":1}\n"
     "{\"timestamp\":0,\"input_length\":1,\"output_length\":1,\"hash_ids\":[1,2.5]}"
     "\n",
     "whole numbers"},
    {"{\"timestamp\":0,\"input_length\":1,\"output_length\":1}\n"
     "{\"timestamp\":0,\"input_length\":1,\"output_length\":1} x\n",
     "behind the object"},
};

static void malformed_lines_are_named(void **state)
{
    (void)state;
    for (size_t i = 0; i < RIDGE_COUNT_OF(malformed); i++) {
        ridge_ctx *cx = ridge_ctx_open();
        ridge_request_file *file = NULL;
        ridge_status st = open_text(cx, malformed[i].text, NULL, &file);
        if (st == RIDGE_OK) {
            const ridge_request_source s = ridge_request_file_source(file);
            while (isfinite(s.peek_s(s.self)))
                (void)next_of(file);
            st = s.status(s.self);
        }
        assert_failed(cx, st, RIDGE_E_PARSE, malformed[i].message);
        ridge_ctx_close(cx);
    }
}

/* What never holds a request ends: lines that are empty, or without an answer. */
static void silent_files_end(void **state)
{
    enum { LINES = 1000001 };
    static const struct {
        const char *line, *message;
    } cases[] = {{"\n", "empty lines in a row"},
                 {"1,48,0\n", "without a token of output"}};
    (void)state;
    for (size_t i = 0; i < RIDGE_COUNT_OF(cases); i++) {
        ridge_ctx *cx = ridge_ctx_open();
        ridge_request_file *file = NULL;
        ridge_buf text;
        ridge_buf_init(&text, ridge_ctx_arena(cx));
        ridge_buf_puts(&text, AZURE);
        for (int line = 0; line < LINES; line++)
            ridge_buf_puts(&text, cases[i].line);
        assert_done(cx, open_text(cx, ridge_buf_text(&text), NULL, &file));
        const ridge_request_source s = ridge_request_file_source(file);
        const bool has_more = isfinite(s.peek_s(s.self));
        assert_false(has_more);
        assert_failed(cx, s.status(s.self), RIDGE_E_PARSE, cases[i].message);
        ridge_ctx_close(cx);
    }
}

static void order_is_mended_within_the_window_alone(void **state)
{
    static const char near[] = "arrival_s,prompt_tokens,output_tokens\n"
                               "0,1,1\n3,3,1\n1,2,1\n4,4,1\n";
    static const char far[] = "arrival_s,prompt_tokens,output_tokens\n"
                              "0,1,1\n5,1,1\n6,1,1\n7,1,1\n8,1,1\n9,1,1\n1,1,1\n";
    const ridge_request_file_options strict = {.window = 4, .refuses_disorder = true};
    ridge_ctx *cx = ridge_ctx_open();
    ridge_request_file *file = NULL;
    (void)state;
    assert_done(cx, open_text(cx, near, NULL, &file));
    for (int i = 1; i <= 4; i++)
        assert_int_equal(next_of(file).prompt_tokens, i);
    assert_int_equal(ridge_request_file_about(file)->moved, 1);
    static const char first[] = "arrival_s,prompt_tokens,output_tokens\n7,2,1\n5,1,1\n";
    assert_done(cx, open_text(cx, first, NULL, &file));
    assert_request(file, 0, 1, 1); /* times count from the earliest */
    assert_request(file, 2, 2, 1);
    assert_done(cx, open_text(cx, near, &strict, &file));
    const ridge_request_source s = ridge_request_file_source(file);
    while (isfinite(s.peek_s(s.self)))
        (void)next_of(file);
    assert_failed(cx, s.status(s.self), RIDGE_E_PARSE, ":4: arrives 2 s before line 3");
    assert_done(cx, open_text(cx, far, NULL, &file));
    const ridge_request_source t = ridge_request_file_source(file);
    while (isfinite(t.peek_s(t.self)))
        (void)next_of(file);
    assert_failed(cx, t.status(t.self), RIDGE_E_PARSE, ":8: arrives ");
    ridge_ctx_close(cx);
}

static void hashes_of_pieces_come_along(void **state)
{
    static const char text[] = "{\"timestamp\":0,\"input_length\":1100,\"output_"
                               "length\":6,\"hash_ids\":[4,5,6]}\n"
                               "{\"timestamp\":0,\"input_length\":1024,\"output_"
                               "length\":6,\"hash_ids\":[4,7]}\n";
    ridge_ctx *cx = ridge_ctx_open();
    ridge_request_file *file = NULL;
    (void)state;
    assert_done(cx, open_text(cx, text, NULL, &file));
    const ridge_request a = next_of(file);
    assert_int_equal(a.n_hashes, 2); /* the third piece is not whole */
    assert_int_equal(a.hash_tokens, 512);
    const uint64_t first = ridge_request_hash(&a, 0),
                   second = ridge_request_hash(&a, 1);
    const ridge_request b = next_of(file);
    assert_true(ridge_request_hash(&b, 0) == first);
    assert_true(ridge_request_hash(&b, 1) != second);
    assert_int_equal(ridge_request_hash(&b, 2), 0);
    ridge_ctx_close(cx);
}

static void tokens_are_hashed_with_those_before_them(void **state)
{
    static const char text[] =
        "{\"input_toks\":5,\"output_toks\":1,\"arrival_time_ns\":0,"
        "\"input_tok_ids\":[1,2,3,4,5]}\n"
        "{\"input_toks\":4,\"output_toks\":1,\"arrival_time_ns\":0,"
        "\"input_tok_ids\":[1,2,9,4]}\n"
        "{\"input_toks\":4,\"output_toks\":1,\"arrival_time_ns\":0,"
        "\"input_tok_ids\":[7,2,3,4]}\n";
    const ridge_request_file_options pairs = {.tokens_a_piece = 2};
    ridge_ctx *cx = ridge_ctx_open();
    ridge_request_file *file = NULL;
    uint64_t hash[3][2];
    (void)state;
    assert_done(cx, open_text(cx, text, &pairs, &file));
    for (int i = 0; i < 3; i++) {
        const ridge_request r = next_of(file);
        assert_int_equal(r.n_hashes, 2);
        for (int k = 0; k < 2; k++)
            hash[i][k] = ridge_request_hash(&r, k);
    }
    assert_true(hash[0][0] == hash[1][0] && hash[0][1] != hash[1][1]);
    assert_true(hash[0][0] != hash[2][0] && hash[0][1] != hash[2][1]);
    ridge_ctx_close(cx);
}

static void options_limit_and_speed_up(void **state)
{
    static const char text[] = "arrival_s,prompt_tokens,output_tokens\n"
                               "10,1,1\n12,2,0\n14,3,1\n18,4,1\n";
    const ridge_request_file_options fast = {.speed = 2, .most = 2};
    const ridge_request_file_options early = {.most_s = 5};
    ridge_ctx *cx = ridge_ctx_open();
    ridge_request_file *file = NULL;
    (void)state;
    assert_done(cx, open_text(cx, text, &fast, &file));
    assert_request(file, 0, 1, 1);
    assert_request(file, 2, 3, 1); /* the one without output is left out */
    assert_end(cx, file);
    assert_int_equal(ridge_request_file_about(file)->unanswered, 1);
    assert_done(cx, open_text(cx, text, &early, &file));
    assert_request(file, 0, 1, 1);
    assert_request(file, 4, 3, 1);
    assert_end(cx, file);
    const ridge_request_file_options wrong = {.speed = -1};
    assert_failed(cx, open_text(cx, text, &wrong, &file), RIDGE_E_ARG, "speed");
    ridge_ctx_close(cx);
}

static void times_of_a_run_are_kept(void **state)
{
    static const char text[] =
        "{\"input_toks\": 9, \"output_toks\": 5, \"arrival_time\": 1787267980.08, "
        "\"queued_ts\": 100.0, \"first_token_ts\": 100.5, \"last_token_ts\": 102.5}\n";
    ridge_ctx *cx = ridge_ctx_open();
    ridge_request_file *file = NULL;
    (void)state;
    assert_done(cx, open_text(cx, text, NULL, &file));
    assert_request(file, 0, 9, 5);
    const ridge_request_file_note *note = ridge_request_file_about(file);
    assert_int_equal(note->measured, 1);
    assert_near(ridge_latency_mean(note->measured_ttft), 0.5, 1e-12);
    assert_near(ridge_latency_mean(note->measured_tpot), 0.5, 1e-12);
    assert_near(ridge_latency_mean(note->measured_e2e), 2.5, 1e-12);
    ridge_ctx_close(cx);
}

/* "arrived_at,num_prefill_tokens,num_decode_tokens\n0,7,8\n", by gzip -9n. */
static const unsigned char packed[] = {
    0x1f, 0x8b, 0x08, 0x00, 0x00, 0x00, 0x00, 0x00, 0x02, 0x03, 0x4b, 0x2c,
    0x2a, 0xca, 0x2c, 0x4b, 0x4d, 0x89, 0x4f, 0x2c, 0xd1, 0xc9, 0x2b, 0xcd,
    0x8d, 0x2f, 0x28, 0x4a, 0x4d, 0xcb, 0xcc, 0xc9, 0x89, 0x2f, 0xc9, 0xcf,
    0x4e, 0xcd, 0x2b, 0xd6, 0x01, 0x8b, 0xa6, 0xa4, 0x26, 0xe7, 0xa7, 0xa4,
    0x22, 0x8b, 0x72, 0x19, 0xe8, 0x98, 0xeb, 0x58, 0x70, 0x01, 0x00};

static void damaged_packed_files_are_named(void **state)
{
    ridge_ctx *cx = ridge_ctx_open();
    ridge_request_file *file = NULL;
    const ridge_request_file_options plain = {.window = 4};
    (void)state;
    const char *folder = own_folder(cx, "request_packed");
    const char *path = own_file(cx, folder, "cut.csv.gz", packed, sizeof packed - 8);
    ridge_status st = ridge_request_file_open(cx, path, &plain, &file);
    if (st == RIDGE_OK) {
        const ridge_request_source s = ridge_request_file_source(file);
        while (isfinite(s.peek_s(s.self)))
            (void)next_of(file);
        st = s.status(s.self);
    }
    assert_failed(cx, st, RIDGE_E_PARSE, "packed data end too early");
    ridge_ctx_close(cx);
}

static void a_line_without_end_is_refused(void **state)
{
    enum { LONG = 9 << 20 };
    ridge_ctx *cx = ridge_ctx_open();
    ridge_request_file *file = NULL;
    const ridge_request_file_options plain = {.window = 4};
    char *zeros = test_calloc(LONG, 1);
    (void)state;
    const char *path =
        own_file(cx, own_folder(cx, "request_long"), "zeros", zeros, LONG);
    assert_failed(cx, ridge_request_file_open(cx, path, &plain, &file), RIDGE_E_PARSE,
                  ":1: a line of more than 8");
    test_free(zeros);
    ridge_ctx_close(cx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(formats_are_told_by_their_content),
        cmocka_unit_test(malformed_lines_are_named),
        cmocka_unit_test(silent_files_end),
        cmocka_unit_test(order_is_mended_within_the_window_alone),
        cmocka_unit_test(hashes_of_pieces_come_along),
        cmocka_unit_test(tokens_are_hashed_with_those_before_them),
        cmocka_unit_test(options_limit_and_speed_up),
        cmocka_unit_test(times_of_a_run_are_kept),
        cmocka_unit_test(damaged_packed_files_are_named),
        cmocka_unit_test(a_line_without_end_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
