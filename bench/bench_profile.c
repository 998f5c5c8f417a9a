/* How fast a PyTorch trace of gigabytes is read and attributed, on one core, and what
 * share of its size that takes of memory. The trace is generated beside the build.
 * BENCH_TRACE_MB sets its size (2000). */
#include "stopwatch.h"

#include "ridge/profile.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>

enum { LAYERS = 32, KERNELS_A_LAYER = 12, PROFILE_REPEATS = 3 };

static const char path[] = "bench_profile_trace.json";

/* ---- the trace ---------------------------------------------------------------------
 */

typedef struct writing {
    FILE *f;
    double bytes;
    long long id;
    long long host_ns, device_ns; /* clocks */
} writing;

static void time_write(writing *w, const char *key, long long ns)
{
    w->bytes += fprintf(w->f, "\"%s\": %lld.%03lld", key, ns / 1000, ns % 1000);
}

static void head_write(writing *w, const char *category, const char *name, int pid,
                       int tid)
{
    w->bytes += fprintf(w->f,
                        "  },\n  {\n    \"ph\": \"X\", \"cat\": \"%s\", \"name\": "
                        "\"%s\", \"pid\": %d, \"tid\": %d,\n    ",
                        category, name, pid, tid);
}

static void span_write(writing *w, long long start_ns, long long length_ns)
{
    time_write(w, "ts", start_ns);
    w->bytes += fprintf(w->f, ", ");
    time_write(w, "dur", length_ns);
    w->bytes += fprintf(w->f, ",\n    ");
}

static const char *const kernels[] = {
    "sm90_xmma_gemm_bf16bf16_bf16f32_f32_tn_n_tilesize128x128x64_warpgroupsize1x1x1_"
    "execute_segment_k_off_kernel__5x_cublas",
    "void at::native::vectorized_elementwise_kernel<4, at::native::CUDAFunctor_add<"
    "c10::BFloat16>, std::array<char*, 3ul> >(int, at::native::CUDAFunctor_add<"
    "c10::BFloat16>, std::array<char*, 3ul>)",
    "void at::native::reduce_kernel<512, 1, at::native::ReduceOp<float, "
    "at::native::MeanOps<float, float, float, float>, unsigned int, float, 4, 4> >",
    "ncclDevKernel_AllGather_RING_LL(ncclDevKernelArgsStorage<4096ul>)",
};

static void call_write(writing *w, int kernel)
{
    static const char *const calls[] = {"aten::mm", "aten::add", "aten::mean",
                                        "nccl:_all_gather_base"};
    head_write(w, "cpu_op", calls[kernel], 4711, 4711);
    span_write(w, w->host_ns, 9000);
    w->bytes += fprintf(
        w->f,
        "\"args\": {\n      \"External id\": %lld,\"Record function id\": 0, "
        "\"Concrete Inputs\": [\"\", \"\"], \"Input type\": [\"c10::BFloat16\", "
        "\"c10::BFloat16\"], \"Input Strides\": [[4096, 1], [1, 4096]], \"Input "
        "Dims\": "
        "[[8192, 4096], [4096, 4096]], \"Ev Idx\": %lld\n    }\n",
        w->id, w->id);
    head_write(w, "cuda_runtime", "cudaLaunchKernel", 4711, 4711);
    span_write(w, w->host_ns + 4000, 3500);
    w->bytes += fprintf(w->f,
                        "\"args\": {\n      \"External id\": %lld, \"cbid\": 211, "
                        "\"correlation\": %lld\n    }\n",
                        w->id, w->id);
}

static void kernel_write(writing *w, int kernel)
{
    const long long start =
        w->device_ns > w->host_ns + 8000 ? w->device_ns : w->host_ns + 8000;
    const long long length = kernel == 0 ? 40000 : 6000;
    const int stream = kernel == 3 ? 20 : 7;
    head_write(w, "kernel", kernels[kernel], 0, stream);
    span_write(w, start, length);
    w->bytes += fprintf(
        w->f,
        "\"args\": {\n      \"External id\": %lld, \"queued\": 0, \"device\": 0, "
        "\"context\": 1,\n      \"stream\": %d, \"correlation\": %lld,\n      "
        "\"registers per thread\": 168,\n      \"shared memory\": 213504,\n      "
        "\"blocks per SM\": 1.0,\n      \"warps per SM\": 12.0,\n      \"grid\": [1, "
        "132, "
        "1],\n      \"block\": [384, 1, 1],\n      \"est. achieved occupancy %%\": "
        "19\n   "
        " }\n",
        w->id, stream, w->id);
    if (kernel != 3)
        w->device_ns = start + length;
}

static void flow_write(writing *w)
{
    w->bytes += fprintf(w->f,
                        "  },\n  {\n    \"ph\": \"s\", \"id\": %lld, \"pid\": 4711, "
                        "\"tid\": 4711, \"ts\": %lld.%03lld,\n    \"cat\": \"ac2g\", "
                        "\"name\": \"ac2g\"\n",
                        w->id, w->host_ns / 1000, w->host_ns % 1000);
}

static void step_write(writing *w, int step)
{
    const long long start_ns = w->host_ns;
    for (int i = 0; i < LAYERS * KERNELS_A_LAYER; i++) {
        const int kernel = i % KERNELS_A_LAYER == 11 ? 3 : i % 3;
        w->id++;
        call_write(w, kernel);
        flow_write(w);
        kernel_write(w, kernel);
        w->host_ns += 12000;
    }
    char name[32];
    snprintf(name, sizeof name, "ProfilerStep#%d", step);
    head_write(w, "user_annotation", name, 4711, 4711);
    span_write(w, start_ns, w->host_ns - start_ns);
    w->bytes += fprintf(w->f, "\"args\": {\n      \"External id\": 1\n    }\n");
}

/* @return bytes, or negative */
static double trace_write(double wanted)
{
    writing w = {.f = fopen(path, "w"),
                 .host_ns = 1712191112345678125LL,
                 .device_ns = 1712191112345678125LL};
    if (w.f == NULL)
        return -1;
    w.bytes += fprintf(w.f, "{\n  \"schemaVersion\": 1,\n  \"deviceProperties\": "
                            "[{\"id\": 0, \"name\": \"NVIDIA H100 80GB HBM3\"}],\n  "
                            "\"traceEvents\": [\n  {\n    \"ph\": \"M\"\n");
    for (int step = 0; w.bytes < wanted; step++)
        step_write(&w, step);
    w.bytes += fprintf(w.f, "  }\n  ]\n}\n");
    return fclose(w.f) == 0 ? w.bytes : -1;
}

/* ---- reading -----------------------------------------------------------------------
 */

static double read_once(void *payload)
{
    const double *megabytes = payload;
    ridge_ctx *cx = ridge_ctx_open();
    ridge_profile profile;
    const ridge_profile_request request = {.path = path};
    if (cx == NULL)
        return -1;
    const ridge_status st = ridge_profile_read(cx, &request, &profile);
    const bool is_whole = st == RIDGE_OK && profile.n_losses == 0 && profile.steps > 0;
    if (st != RIDGE_OK)
        fprintf(stderr, "bench: %s\n", ridge_ctx_message(cx));
    ridge_ctx_close(cx);
    return is_whole ? *megabytes : -1;
}

static double processor_s(void)
{
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
           1e-6 * (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec);
}

/* By processor time, which other programs on the machine change little. */
static int processor_report(double megabytes)
{
    const double start_s = processor_s();
    if (read_once(&megabytes) < 0)
        return 1;
    printf("{\"bench\": \"profile_read_processor\", \"unit\": \"MB/s\", \"median\": "
           "%.1f}\n",
           megabytes / (processor_s() - start_s));
    return 0;
}

static void memory_report(double bytes)
{
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    printf("{\"bench\": \"profile_memory\", \"unit\": \"share of the trace\", "
           "\"median\": %.4f, \"peak_bytes\": %.0f, \"trace_bytes\": %.0f}\n",
           1024.0 * (double)usage.ru_maxrss / bytes, 1024.0 * (double)usage.ru_maxrss,
           bytes);
}

int main(void)
{
    const char *size = getenv("BENCH_TRACE_MB");
    double megabytes = 2000;
    if (size != NULL && !ridge_parse_double(ridge_str_of(size), &megabytes))
        return 2;
    const double bytes = trace_write(1e6 * megabytes);
    if (bytes < 0) {
        fprintf(stderr, "bench: %s cannot be written\n", path);
        return 1;
    }
    megabytes = bytes / 1e6;
    const bench reading = {.name = "profile_read",
                           .unit = "MB/s",
                           .repeats = PROFILE_REPEATS,
                           .run = read_once,
                           .payload = &megabytes};
    int code = bench_report(&reading, NULL);
    code |= processor_report(megabytes);
    memory_report(bytes);
    remove(path);
    return code;
}
