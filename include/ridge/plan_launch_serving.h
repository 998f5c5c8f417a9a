/*
 * Launch configurations of serving engines: a deployment written as the command that
 * starts it, and an existing command read back as a deployment.
 */
#ifndef RIDGE_PLAN_LAUNCH_SERVING_H
#define RIDGE_PLAN_LAUNCH_SERVING_H

#include "ridge/base.h"
#include "ridge/hardware.h"
#include "ridge/hardware_engine.h"
#include "ridge/model.h"
#include "ridge/plan_launch.h"
#include "ridge/plan_service.h"
#include "ridge/plan_serving.h"

#ifdef __cplusplus
extern "C" {
#endif

/* name, text, the engine of data/engines, what is written for it */
/* clang-format off */
#define RIDGE_SERVING_LAUNCHER_LIST(X)                                                   \
    X(VLLM, "vllm", "vllm", "vllm serve commands")                                       \
    X(VLLM_YAML, "vllm-yaml", "vllm", "a file of vllm serve --config, yaml")             \
    X(VLLM_TPU, "vllm-tpu", "vllm-tpu", "vllm serve commands for TPUs")                  \
    X(SGLANG, "sglang", "sglang", "sglang.launch_server commands")                       \
    X(TRTLLM, "trtllm", "trtllm", "trtllm-serve commands with their yaml files")         \
    X(TGI, "tgi", "tgi", "text-generation-launcher commands")                            \
    X(LMDEPLOY, "lmdeploy", "lmdeploy", "lmdeploy serve api_server commands")            \
    X(JETSTREAM, "jetstream", "jetstream", "the command of a JetStream server of MaxText") \
    X(MAXTEXT, "maxtext", "jetstream", "the same as a MaxText configuration, yml")
/* clang-format on */

typedef enum ridge_serving_launcher {
#define RIDGE_SERVING_LAUNCHER_ENUM(name, text, engine, what)                          \
    RIDGE_SERVING_LAUNCHER_##name,
    RIDGE_SERVING_LAUNCHER_LIST(RIDGE_SERVING_LAUNCHER_ENUM)
#undef RIDGE_SERVING_LAUNCHER_ENUM
} ridge_serving_launcher;

#define RIDGE_SERVING_LAUNCHER_ONE(name, text, engine, what) +1
enum {
    RIDGE_SERVING_LAUNCHER_COUNT =
        0 RIDGE_SERVING_LAUNCHER_LIST(RIDGE_SERVING_LAUNCHER_ONE)
};
#undef RIDGE_SERVING_LAUNCHER_ONE

const char *ridge_serving_launcher_text(ridge_serving_launcher launcher);
const char *ridge_serving_launcher_what(ridge_serving_launcher launcher);
/** The name of the engine that it starts, as ridge_engine_find takes it; static. */
const char *ridge_serving_launcher_engine(ridge_serving_launcher launcher);
/** @errors E_ARG with the names that are known */
RIDGE_NODISCARD ridge_status ridge_serving_launcher_parse(ridge_ctx *cx,
                                                          const char *text,
                                                          ridge_serving_launcher *out);

/* ---- deployments ----------------------------------------------------------------- */

/** A model on servers of an engine. Of pools, batch is not known here. */
typedef struct ridge_deployment {
    const ridge_model *model;
    const char *model_name; /* as an engine is to load it: of the hub, or a path */
    const char *draft_name; /* the same of what drafts; NULL: not known */
    const ridge_engine *engine;
    const ridge_slice *slice; /* NULL: not known */
    double longest_tokens;    /* of a sequence, prompt and output; 0: the model's */
    double prompt_tokens;     /* of the longest prompt; 0: not known */
    ridge_service_choice choice;
} ridge_deployment;

/* ---- writing --------------------------------------------------------------------- */

/**
 * A deployment as what starts it.
 *
 * What the engine cannot express is refused, or, where the service is the same but for
 * details, written with a note; nothing is changed silently.
 *
 * @owner the ctx
 * @errors E_ARG what the engine lacks, and what to plan instead; E_NOMEM
 */
RIDGE_NODISCARD ridge_status
ridge_serving_launch_write(ridge_ctx *cx, ridge_serving_launcher launcher,
                           const ridge_deployment *deployment, ridge_launch_text *out);

/* ---- reading --------------------------------------------------------------------- */

/** What a configuration is read with. */
typedef struct ridge_serving_launch_query {
    const ridge_library *library;
    const ridge_catalog *catalog; /* of engines */
    const ridge_slice *slice;     /* the chips that it runs on; NULL: not known */
    const ridge_model *model;     /* instead of the text's; NULL: the text's */
    const ridge_engine *engine;   /* instead of the catalogue's; NULL: that */
} ridge_serving_launch_query;

/** A configuration as a deployment. */
typedef struct ridge_serving_launch {
    ridge_serving_launcher launcher;
    const char *format; /* "vllm serve command", "vllm yaml", "trtllm-serve yaml", … */
    const char *path;   /* or "command line" */
    const char *loaded_name;     /* by which the library has the model */
    ridge_deployment deployment; /* its engine is the catalogue's with what is stated */
    int read;                    /* options with a meaning here */
    int ignored;                 /* options that change no time */
    ridge_launch_notes assumed;  /* not stated: the engine's defaults */
    ridge_launch_notes differing; /* stated, change the time, and are not priced */
    ridge_launch_notes unknown;   /* options that Ridge does not know */
} ridge_serving_launch;

/**
 * Read `vllm serve`, `vllm.entrypoints.openai.api_server`, `sglang.launch_server`,
 * `sglang serve`, `trtllm-serve`, `text-generation-launcher`, `lmdeploy serve
 * api_server` or MaxText's `maxengine_server` with its options, among other lines of a
 * shell script or in the lists of a pod; or a YAML file of vLLM, SGLang or
 * TensorRT-LLM, its disaggregated form, or Helm values with serverArgs.
 *
 * Two servers of which one computes prompts and one decodes are two pools. A line
 * `replicas=N` before a server, as ridge_serving_launch_write makes it, counts its
 * servers.
 *
 * @param file_or_text  the path of a file, or a command itself
 * @owner the ctx
 * @errors E_IO; E_PARSE with file:line: malformed, or no server; E_ARG with file:line:
 *         degrees that contradict each other or the slice; E_NOTFOUND a model that is
 *         named but not known
 */
RIDGE_NODISCARD ridge_status ridge_serving_launch_read(
    ridge_ctx *cx, const char *file_or_text, const ridge_serving_launch_query *query,
    ridge_serving_launch *out);

/** The same from text. @param file  its name for messages */
RIDGE_NODISCARD ridge_status ridge_serving_launch_parse(
    ridge_ctx *cx, ridge_str text, const char *file,
    const ridge_serving_launch_query *query, ridge_serving_launch *out);

#ifdef __cplusplus
}
#endif

#endif
