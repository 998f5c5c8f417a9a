/*
 * Launch configurations of training frameworks: a plan written for the one that is to
 * run it, and an existing configuration read back as a model, knobs and a batch.
 */
#ifndef RIDGE_PLAN_LAUNCH_H
#define RIDGE_PLAN_LAUNCH_H

#include "ridge/base.h"
#include "ridge/hardware.h"
#include "ridge/hardware_stack.h"
#include "ridge/model.h"
#include "ridge/plan.h"

#ifdef __cplusplus
extern "C" {
#endif

/* name, text, what is written for it, whether its files are read */
/* clang-format off */
#define RIDGE_LAUNCHER_LIST(X)                                                          \
    X(MEGATRON, "megatron", "arguments of Megatron-LM, one a line", true)               \
    X(MEGATRON_BRIDGE, "megatron-bridge", "overrides of a Megatron-Bridge recipe, Python", false) \
    X(MAXTEXT, "maxtext", "a MaxText configuration, yml", true)                         \
    X(TORCHTITAN, "torchtitan", "a torchtitan job configuration, toml", true)           \
    X(DEEPSPEED, "deepspeed", "a DeepSpeed configuration, json", false)                 \
    X(JAX, "jax", "a mesh and partition specs of JAX, Python", false)
/* clang-format on */

typedef enum ridge_launcher {
#define RIDGE_LAUNCHER_ENUM(name, text, what, is_read) RIDGE_LAUNCHER_##name,
    RIDGE_LAUNCHER_LIST(RIDGE_LAUNCHER_ENUM)
#undef RIDGE_LAUNCHER_ENUM
} ridge_launcher;

#define RIDGE_LAUNCHER_ONE(name, text, what, is_read) +1
enum { RIDGE_LAUNCHER_COUNT = 0 RIDGE_LAUNCHER_LIST(RIDGE_LAUNCHER_ONE) };
#undef RIDGE_LAUNCHER_ONE

const char *ridge_launcher_text(ridge_launcher launcher);
const char *ridge_launcher_what(ridge_launcher launcher);
/** @errors E_ARG with the names that are known */
RIDGE_NODISCARD ridge_status ridge_launcher_parse(ridge_ctx *cx, const char *text,
                                                  ridge_launcher *out);

/** A launcher that is to run what a search finds. */
struct ridge_launch_target {
    ridge_launcher launcher;
    const char *model_name; /* as of ridge_launch_write */
};

enum { RIDGE_LAUNCH_NOTE_MAX = 64 };

/** Sentences for people, without repetition; those beyond the most are dropped. They
 * live as long as the ctx that made them. */
typedef struct ridge_launch_notes {
    int n;
    const char *text[RIDGE_LAUNCH_NOTE_MAX];
} ridge_launch_notes;

/* ---- writing --------------------------------------------------------------------- */

/** A configuration as text. */
typedef struct ridge_launch_text {
    ridge_buf text;
    /* What the framework does otherwise than the plan says, and what the plan leaves to
     * its user. Also comments of the text, where its format has them. */
    ridge_launch_notes notes;
} ridge_launch_text;

/**
 * A layout as the framework's own configuration.
 *
 * What the framework cannot express is refused, or, where the run is the same but for
 * details, written with a note; nothing is changed silently.
 *
 * @param request     model, slice, batch, sequence and tokens of the plan
 * @param model_name  as the plan names it
 * @owner the ctx
 * @errors E_ARG what the framework lacks, and what to plan instead; E_NOMEM
 */
RIDGE_NODISCARD ridge_status ridge_launch_write(ridge_ctx *cx, ridge_launcher launcher,
                                                const ridge_train_request *request,
                                                const char *model_name,
                                                const ridge_layout *layout,
                                                ridge_launch_text *out);

/**
 * Whether a framework can be told a layout, as ridge_launch_write judges it; its text
 * is written only where that is what tells.
 * @errors those of ridge_launch_write
 */
RIDGE_NODISCARD ridge_status ridge_launch_check(ridge_ctx *cx, ridge_launcher launcher,
                                                const ridge_train_request *request,
                                                const char *model_name,
                                                const ridge_layout *layout);

/* ---- reading --------------------------------------------------------------------- */

/** What a configuration is read with. */
typedef struct ridge_launch_query {
    const ridge_library *library;
    const ridge_slice *slice; /* the chips that it runs on */
    const ridge_model *model; /* instead of the file's; NULL: the file's */
} ridge_launch_query;

/** A configuration as a training question. */
typedef struct ridge_launch {
    ridge_launcher launcher;
    const char *format; /* "Megatron-LM arguments", "Primus yaml", "MaxText yml", ... */
    const char *path;
    const ridge_model *model;
    const char *model_name; /* of the library, or "sizes of FILE" */
    bool has_layout; /* false: the file describes a model alone; knobs are free */
    ridge_knobs knobs;
    double batch_seqs;            /* 0: not stated */
    double seq_tokens;            /* 0: not stated */
    double total_tokens;          /* 0: not stated */
    int read;                     /* options with a meaning here */
    int ignored;                  /* options that change no time */
    ridge_launch_notes assumed;   /* not stated: the framework's defaults */
    ridge_launch_notes differing; /* stated, change the time, and are not priced */
} ridge_launch;

/**
 * Read a Megatron-LM argument list (plain, in a shell script, in YAML of its tests or
 * of Primus), a MaxText yml or a torchtitan toml; which one it is shows in its content.
 *
 * @owner the ctx
 * @errors E_IO; E_PARSE with file:line: malformed, or no training configuration; E_ARG
 *         with file:line: degrees that contradict the slice or each other; E_NOTFOUND a
 *         model that is named but not known
 */
RIDGE_NODISCARD ridge_status ridge_launch_read(ridge_ctx *cx, const char *path,
                                               const ridge_launch_query *query,
                                               ridge_launch *out);

/** The software that a configuration is for, on such chips. @return NULL: none that is
 * known to run there */
const ridge_stack *ridge_launch_stack(const ridge_launch *launch,
                                      const ridge_catalog *catalog,
                                      const ridge_chip *chip);

/** The software of a launcher's own files. */
const ridge_stack *ridge_launcher_stack(ridge_launcher launcher,
                                        const ridge_catalog *catalog,
                                        const ridge_chip *chip);

/** The same from text. @param file  its name for messages */
RIDGE_NODISCARD ridge_status ridge_launch_parse(ridge_ctx *cx, ridge_str text,
                                                const char *file,
                                                const ridge_launch_query *query,
                                                ridge_launch *out);

#ifdef __cplusplus
}
#endif

#endif
