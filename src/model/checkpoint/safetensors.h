/* Names and sizes of a checkpoint's tensors: what a safetensors header or an index
 * says. */
#ifndef RIDGE_SAFETENSORS_H
#define RIDGE_SAFETENSORS_H

#include "ridge/model.h"

/* What the names of tensors give away about a checkpoint. */
typedef struct ridge__tensor_marks {
    bool has_head;       /* a stored unembedding */
    bool has_mtp;        /* multi-token prediction layers */
    bool has_vision;     /* a vision tower or projector */
    bool has_buffers;    /* rotary frequencies, masks */
    int64_t table_bytes; /* of a token table in a narrower format than what is not
                            quantised; 0: it is not */
} ridge__tensor_marks;

/** Note what one tensor's name gives away.
 * @param layer_count  of the model: layers beyond it are prediction layers; 0: unknown
 */
void ridge__tensor_mark(ridge__tensor_marks *marks, const char *name,
                        int64_t layer_count);

/** Sums over the tensors of one file. */
typedef struct ridge__tensor_sums {
    int64_t tensors;
    int64_t bytes;
    int64_t params; /* weights: packed ones unpacked, scales and zeros left out */
    int documents;  /* JSON documents in the file; more than one in some mirrors */
    ridge__tensor_marks marks;
} ridge__tensor_sums;

/** The header of a safetensors file. */
typedef struct ridge__tensor_header {
    ridge_str text;     /* JSON */
    int64_t data_bytes; /* behind the header */
    const char *file;   /* for messages */
} ridge__tensor_header;

/**
 * Check and sum a header.
 * @param model  whose format says how packed weights unpack, and whose layers end where
 *               prediction layers begin; NULL: 4 bits
 * @errors E_PARSE for a malformed header, tensors that overlap, lie beyond the data or
 *         do not have the size of their shape
 */
RIDGE_NODISCARD ridge_status ridge__safetensors_sum(ridge_ctx *cx,
                                                    const ridge__tensor_header *header,
                                                    const ridge_model *model,
                                                    ridge__tensor_sums *out);

/** Read the header of a file and sum it. @errors E_PARSE, E_IO */
RIDGE_NODISCARD ridge_status ridge__safetensors_read(ridge_ctx *cx, const char *path,
                                                     const ridge_model *model,
                                                     ridge__tensor_sums *out);

#endif
