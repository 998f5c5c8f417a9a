/* Options of engines that change no time. */
#include "server_command.h"

#include <string.h>

/* Names of no consequence for time, of any engine; beginnings end with '*'. */
/* clang-format off */
static const char *const idle_names[] = {
    "O", "O1", "O2", "O3", "additional-config*", "allow-credentials", "allow-headers",
    "allow-methods", "allow-origins", "allow-split-physical-axes",
    "allow-terminate-by-client", "allowed-*", "api-key", "api-keys",
    "api-server-count", "ar-cache-axis-order", "async-checkpointing",
    "async-scheduling", "attention-backend", "attention-dp-config.*", "attn-backend",
    "available-nics", "base-*", "base-output-directory", "batching-*", "bucket-*",
    "cache-transceiver-config.*", "chat-template*", "clusterName", "code-revision",
    "collect-*", "compilation-config*", "compute-axis-order", "config",
    "config-format", "constrained-json-*", "cors-*", "crash-dump-folder",
    "cuda-graph-*", "cuda-graph-config*", "cudagraph-*", "custom-module-dirs",
    "custom-tokenizer", "data-parallel-address", "data-parallel-backend",
    "data-parallel-hybrid-lb", "data-parallel-rank", "data-parallel-rpc-port",
    "data-parallel-size-local", "data-parallel-start-rank", "decode-attention-backend",
    "decode-log-*", "decoder-block", "deepep-*", "device",
    "disable-chunked-prefix-cache", "disable-fastapi-docs", "disable-flashinfer-*",
    "disable-frontend-multiprocessing", "disable-grammar-support", "disable-log-*",
    "disable-metrics", "disable-shared-experts-fusion", "disagg-*", "disaggregation-*",
    "dist-init-addr", "dist-timeout", "download-dir", "empty-init",
    "enable-abort-handling", "enable-auto-tool-choice", "enable-autotuner",
    "enable-cache-report", "enable-checkpointing", "enable-dropout",
    "enable-flashinfer-*", "enable-iter-*", "enable-jax-profiler", "enable-log-*",
    "enable-memory-saver", "enable-metrics*", "enable-metrics-for-*",
    "enable-model-warmup", "enable-multimodal", "enable-nccl-nvls", "enable-p2p-check",
    "enable-prompt-*", "enable-reasoning", "enable-request-id-headers",
    "enable-server-load-tracking", "enable-single-controller", "enable-sleep-mode",
    "enable-symm-mem", "enable-trace", "env", "extra-llm-api-options", "fail-fast-*",
    "file-storage-path", "fp8-gemm-backend", "fully-sharded-loras", "generate-slice",
    "generation-config", "gpuPlatformSettings.*", "gpus-per-node",
    "graceful-termination-timeout", "grammar-backend", "guided-decoding-backend",
    "hardware", "head-dim", "headless", "hf-config-path", "hf-overrides*", "hf-token",
    "host", "hostname", "huggingface-hub-cache", "huggingface.*",
    "interleave-moe-layer-step", "jax-profiler-port", "job.*", "json-output",
    "kv-cache-config.*", "kv-events-config*", "kv-transfer-config.*",
    "language-model-only", "limit-mm-per-prompt*", "load-format", "log-*",
    "logits-via-embedding", "logprobs-mode", "lora-*", "master-addr", "master-port",
    "max-best-of", "max-client-batch-size", "max-cpu-loras", "max-log-len",
    "max-logprobs", "max-lora*", "max-seq-len-to-capture", "max-stop-sequences",
    "max-top-n-tokens", "media-io-kwargs*", "metadata-*", "metrics-*", "middleware",
    "migration-*", "mlp-activations", "mm-*", "model-impl",
    "model-loader-extra-config*", "model-name", "model.*", "moe-backend",
    "moe-config.*", "moe-runner-backend", "multi-sampling", "nccl-*", "network.*",
    "ngrok*", "nnodes", "node-rank", "nope-layer-interval", "norm*", "num-experts*",
    "num-instances", "num-lookahead-slots", "num-postprocess-workers",
    "nvfp4-gemm-config*", "optimize-mesh-for-tpu-v6e", "otlp-*",
    "override-generation-config", "payload-limit", "port", "preferred-sampling-params",
    "prefill-attention-backend", "prefill-cache-axis-order", "prefill-slice",
    "prefix-caching-hash-algo", "print-iter-log", "prometheus-port", "proxy-url",
    "queue", "radix-eviction-policy", "random-seed", "reasoning-parser",
    "replicate-quant-scale", "response-role", "return-log-prob", "revision",
    "root-path", "rope-*", "router*", "run-name", "runner", "sampling-backend",
    "scan-layers", "scheduler-cls", "scheduler-config.*", "seed", "served-model-name",
    "server-name", "server-port", "server-role", "service.*", "sglang.*",
    "shard-uds-path", "sharding-strategy", "shared-experts", "show-*",
    "skip-server-warmup", "skip-tokenizer-init", "speculative-attention-mode",
    "speculative-config.*", "speculative-config.allow-*", "speculative-draft-*",
    "speculative-moe-*", "ssl", "ssl-*", "steps", "stream-interval", "stream-output",
    "structured-outputs-config*", "targetPlatform", "task", "tokenizer",
    "tokenizer-config-path", "tokenizer-mode", "tokenizer-path", "tokenizer-revision",
    "tokenizer-type", "tool-call-parser", "tool-parser", "torch-compile-config*",
    "trust-remote-code", "urls", "usage-stats", "use-qk-norm", "use-tqdm-on-load",
    "use-v2-block-manager", "uvicorn-*", "validation-workers", "vision-*", "vllm.*",
    "vocab-size", "volumes.*", "warmups", "watchdog-timeout", "watermark-*",
    "weights-cache-override", "worker-cls", "workload.*"};
/* clang-format on */

static char plain_letter(char c)
{
    return c == '_' ? '-' : c;
}

static bool matches(const char *pattern, const char *name)
{
    for (; *pattern != '\0' && *pattern != '*'; pattern++, name++) {
        if (*pattern != plain_letter(*name))
            return false;
    }
    return *pattern == '*' || *name == '\0';
}

static bool is_idle_name(const char *name)
{
    for (size_t i = 0; i < RIDGE_COUNT_OF(idle_names); i++) {
        if (matches(idle_names[i], name))
            return true;
    }
    return false;
}

bool server_name_is_known(const launch_option *options, const char *name)
{
    for (const launch_option *o = options; o->name != NULL; o++) {
        if (launch_name_is(o->name, name))
            return true;
    }
    return is_idle_name(name);
}
