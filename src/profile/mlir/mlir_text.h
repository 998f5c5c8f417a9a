/* StableHLO as MLIR writes it, made into HLO modules. Layer-internal. */
#ifndef RIDGE_MLIR_TEXT_H
#define RIDGE_MLIR_TEXT_H

#include "hlo_builder.h"
#include "text_cursor.h"

/** Whether a text is MLIR rather than HLO. */
bool mlir_text_is(ridge_str text);

/**
 * A module for each function of the text, "@main" first if there is one; functions that
 * are called stand in it too.
 * @errors E_PARSE with file:line:column; E_NOMEM
 */
RIDGE_NODISCARD ridge_status mlir_text_read(ridge_ctx *cx, ridge_str text,
                                            const char *path, ridge_hlo_file *out);

/** A type; the cursor behind it. @errors E_PARSE */
RIDGE_NODISCARD ridge_status mlir_type_read(text_cursor *c, ridge_hlo_shape *out);
/** "(t, t) -> t", "(t) -> (t, t)", "t", "t, t": the results. @param out ridge_hlo_shape
 *  items in scratch */
RIDGE_NODISCARD ridge_status mlir_signature_read(text_cursor *c, hlo_list *out);

/** The value of an attribute: a quoted text without its quotes, or a word with what its
 *  angles hold. */
ridge_str mlir_attribute_read(text_cursor *c);

/** A statement: "%a, %b:2 = dialect.op rest : signature". */
typedef struct mlir_statement {
    ridge_str results; /* "%a, %b:2", or empty */
    ridge_str op;      /* "stablehlo.add", without quotes */
    ridge_str rest;    /* between op and signature */
    ridge_str types;   /* the signature and what follows; empty: none */
    const char *at;    /* where it begins */
} mlir_statement;

/** The next statement of a body. @param is_end  out: the body's closing brace, or the
 *  text's end, comes next. @errors E_PARSE */
RIDGE_NODISCARD ridge_status mlir_statement_read(text_cursor *c, mlir_statement *out,
                                                 bool *is_end);

/** A function being built. */
typedef struct mlir_function {
    text_cursor *c; /* of the whole text */
    hlo_builder *b;
    hlo_list regions; /* loops' conditions and bodies, still to be read */
    hlo_list values;  /* ridge_hlo_instruction of all named values of the function */
    hlo_names value_names;
    int scope;              /* of value_names */
    const hlo_list *meshes; /* ridge_hlo_attribute "mesh.NAME" of the module */
} mlir_function;

/** Take a statement as one or more instructions. @errors E_PARSE; E_NOMEM */
RIDGE_NODISCARD ridge_status mlir_op_take(mlir_function *f, const mlir_statement *s);
/** An instruction by the name of its value; what a region takes from outside becomes a
 *  parameter, or a constant again. @errors E_PARSE: it is not there */
RIDGE_NODISCARD ridge_status mlir_value_find(mlir_function *f, ridge_str name,
                                             const char *at, int *out);
/** Add an instruction with a name for its value. @return index; -1: out of memory */
int mlir_value_add(mlir_function *f, ridge_str name,
                   const ridge_hlo_instruction *instruction);

/** Complete a while: its values as a tuple, its regions queued. @errors E_PARSE;
 * E_NOMEM */
RIDGE_NODISCARD ridge_status mlir_loop_take(mlir_function *f, const mlir_statement *s,
                                            ridge_hlo_instruction *loop);

typedef enum mlir_region_kind {
    MLIR_REGION_CONDITION, /* of a loop: given its state, a tuple */
    MLIR_REGION_BODY,
    MLIR_REGION_BRANCH,  /* given a tuple of what it takes from outside */
    MLIR_REGION_FUNCTION /* given its arguments one by one */
} mlir_region_kind;

/** A region: its text, the names of its arguments, and their shapes as a tuple. */
typedef struct mlir_region {
    mlir_region_kind kind;
    ridge_str name, text;
    ridge_str applied; /* instead of a text: one operation of two arguments */
    ridge_hlo_shape state;
    const ridge_str *arguments;
    int n_carried; /* of a body: arguments behind these are handed on as they are */
} mlir_region;

#endif
