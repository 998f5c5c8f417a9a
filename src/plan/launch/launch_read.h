/*
 * From a sheet to a training question: one reader a framework, and what they share.
 */
#ifndef RIDGE_PLAN_LAUNCH_READ_H
#define RIDGE_PLAN_LAUNCH_READ_H

#include "launch_sheet.h"

/** Readers: the model, the knobs and the batch of @p launch are filled in.
 * @errors E_PARSE, E_ARG, E_NOTFOUND with file:line */
RIDGE_NODISCARD ridge_status launch_megatron_read(launch_sheet *sheet,
                                                  const ridge_launch_query *query,
                                                  ridge_launch *launch);
RIDGE_NODISCARD ridge_status launch_maxtext_read(launch_sheet *sheet,
                                                 const ridge_launch_query *query,
                                                 ridge_launch *launch);
RIDGE_NODISCARD ridge_status launch_torchtitan_read(launch_sheet *sheet,
                                                    const ridge_launch_query *query,
                                                    ridge_launch *launch);

/** The model that Megatron's options describe.
 * @param tp  by which the vocabulary is padded */
RIDGE_NODISCARD ridge_status launch_megatron_model(launch_sheet *sheet,
                                                   const ridge_launch_query *query,
                                                   int64_t tp, ridge_launch *launch);
RIDGE_NODISCARD ridge_status launch_maxtext_model(launch_sheet *sheet,
                                                  const ridge_launch_query *query,
                                                  ridge_launch *launch);

/** Virtual stages, layers of the ends, and the usual knobs.
 * @errors E_PARSE, E_ARG with file:line */
RIDGE_NODISCARD ridge_status launch_megatron_stages(launch_sheet *sheet, int64_t layers,
                                                    ridge_knobs *knobs);

/** The optimizer, and what of it lies on the host. @errors E_PARSE with file:line */
RIDGE_NODISCARD ridge_status launch_megatron_optimizer(launch_sheet *sheet,
                                                       ridge_knobs *knobs);

/** How data parallelism of @p ranks shards. */
typedef struct launch_data {
    int64_t ranks;    /* dp x fsdp */
    int64_t replicas; /* of the shards; divides ranks */
    int zero_stage;
} launch_data;

/** dp, fsdp and zero of the knobs; ZeRO over one rank shards nothing and is none. */
void launch_data_knobs(const launch_data *data, ridge_knobs *knobs);

/** What a framework runs unless it is told otherwise: 1F1B or its interleaved form,
 * even stages, a ring for cp, nothing on the host, AdamW; of overlap what Ridge
 * assumes. For knobs whose degrees and vpp are set. */
void launch_usual_knobs(ridge_knobs *knobs);

/** A word of a table for a value of a field, or -1. */
typedef struct launch_word {
    const char *name;
    int value;
} launch_word;
int launch_word_find(const launch_word *words, size_t n, const char *name);

/** Ways in which Ridge cuts experts' widths, against what a file states; noted if they
 * differ. @param stated  0: not stated */
void launch_expert_width_note(launch_sheet *sheet, launch_field field, int64_t stated,
                              const ridge_knobs *knobs);

/**
 * A model of the library by a framework's name for it: letter case, '_' and an ending
 * .yaml or .yml do not count.
 * @errors E_NOTFOUND with the nearest names
 */
RIDGE_NODISCARD ridge_status launch_model_find(launch_sheet *sheet,
                                               const ridge_launch_query *query,
                                               launch_field field, const char *name,
                                               ridge_launch *launch);

/** "sizes of FILE" */
const char *launch_model_title(const launch_sheet *sheet);

/** Prediction layers that are trained, as the knob mtp. @errors E_PARSE */
RIDGE_NODISCARD ridge_status launch_mtp_read(launch_sheet *sheet, ridge_knobs *knobs);

#endif
