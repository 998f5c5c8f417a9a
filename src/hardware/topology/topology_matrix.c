/*
 * Matrices of a node's devices.
 *
 * nvidia-smi topo -m: a line of names (GPU0 GPU1 ... NIC0 ... CPU Affinity ...), then
 * a line for each device: its name, how it reaches each of the others (X, NV#, PIX,
 * PXB, PHB, NODE, SYS), its processors and its NUMA node. "NIC Legend" then has the
 * names of NICs.
 *
 * rocm-smi --showtopo: the same form with cells of one kind each: weights (15 for each
 * xGMI link on the way, more over PCIe), hops, or types (XGMI, PCIE). Weights and hops
 * tell that a pair is one link apart, types that it is xGMI; of several matrices the
 * one of types counts.
 * @source nvidia-smi-topo
 * @source amd-kfd-crat
 */
#include "topology_read.h"

#include <ctype.h>
#include <string.h>

typedef struct matrix_reader {
    ridge_ctx *cx;
    ridge_topology *out;
    ridge_device *gpus, *nics;
    ridge_path *gpu_paths, *nic_paths; /* rows of n_columns */
    ridge_path *cells;                 /* of one row */
    int n_gpus, n_nics;                /* columns of the matrix */
    int rows;                          /* of GPUs, that were read */
    int line;
    bool has_types; /* its cells name kinds of paths, not weights or hops */
} matrix_reader;

enum { WEIGHT_OF_XGMI = 15, LINE_WORDS_MOST = 2 * NODE_DEVICES_MOST + 16 };

/* The next word of a line; p NULL: there is none. */
static ridge_str next_word(ridge_str *line)
{
    size_t i = 0, n = 0;
    while (i < line->n && isspace((unsigned char)line->p[i]))
        i++;
    while (i + n < line->n && !isspace((unsigned char)line->p[i + n]))
        n++;
    const ridge_str word = {n > 0 ? line->p + i : NULL, n};
    *line = (ridge_str){line->p + i + n, line->n - i - n};
    return word;
}

static bool starts_with(ridge_str word, const char *stem)
{
    const size_t n = strlen(stem);
    return word.n >= n && memcmp(word.p, stem, n) == 0;
}

/* "NIC3", or a card as older drivers print it: "mlx5_3", "bnxt_re0". */
static bool is_nic(ridge_str word)
{
    return starts_with(word, "NIC") || starts_with(word, "mlx") ||
           starts_with(word, "bnxt_re") || starts_with(word, "irdma");
}

static bool is_gpu(ridge_str word)
{
    return word.n > 3 && starts_with(word, "GPU") && isdigit((unsigned char)word.p[3]);
}

/* A line of names alone. */
static bool is_header(ridge_str line)
{
    const ridge_str first = next_word(&line), second = next_word(&line);
    if (first.p == NULL || !is_gpu(first))
        return false;
    return second.p == NULL || is_gpu(second) || is_nic(second) ||
           starts_with(second, "CPU");
}

static ridge_status fail_line(const matrix_reader *r, const char *what)
{
    return ridge_fail(r->cx, RIDGE_E_PARSE, "%s:%d: %s", r->out->file, r->line, what);
}

static ridge_status read_header(matrix_reader *r, ridge_str line)
{
    ridge_arena *arena = ridge_ctx_arena(r->cx);
    r->n_gpus = r->n_nics = r->rows = 0;
    r->gpus = ridge_new(arena, ridge_device, NODE_DEVICES_MOST);
    r->nics = ridge_new(arena, ridge_device, NODE_DEVICES_MOST);
    if (r->gpus == NULL || r->nics == NULL)
        return ridge_fail_nomem(r->cx);
    for (ridge_str word; (word = next_word(&line)).p != NULL;) {
        const bool is_of_gpus = is_gpu(word);
        if (!is_of_gpus && !is_nic(word))
            break; /* CPU Affinity, NUMA Affinity */
        int *n = is_of_gpus ? &r->n_gpus : &r->n_nics;
        if (*n == NODE_DEVICES_MOST || (is_of_gpus && r->n_nics > 0))
            return fail_line(r, "no line of GPUs, then NICs");
        ridge_device *d = is_of_gpus ? &r->gpus[(*n)++] : &r->nics[(*n)++];
        *d = (ridge_device){.name = ridge_str_dup(arena, word), .numa = -1};
        if (d->name == NULL)
            return ridge_fail_nomem(r->cx);
    }
    const size_t n = (size_t)r->n_gpus, all = n + (size_t)r->n_nics;
    r->gpu_paths = ridge_new(arena, ridge_path, n * n);
    r->nic_paths = ridge_new(arena, ridge_path, n * (size_t)r->n_nics + 1);
    r->cells = ridge_new(arena, ridge_path, all);
    return r->gpu_paths && r->nic_paths && r->cells ? RIDGE_OK
                                                    : ridge_fail_nomem(r->cx);
}

/* @return false: no cell of a matrix */
static bool read_cell(matrix_reader *r, ridge_str word, ridge_path *out)
{
    static const ridge_path_kind plain[] = {RIDGE_PATH_SELF, RIDGE_PATH_PIX,
                                            RIDGE_PATH_PXB,  RIDGE_PATH_PHB,
                                            RIDGE_PATH_NODE, RIDGE_PATH_SYS};
    int64_t n = 0;
    *out = (ridge_path){RIDGE_PATH_UNKNOWN, 0};
    for (size_t i = 0; i < RIDGE_COUNT_OF(plain); i++) {
        if (!ridge_str_is(word, ridge_path_kind_text(plain[i])))
            continue;
        r->has_types = r->has_types || plain[i] != RIDGE_PATH_SELF;
        out->kind = plain[i];
        return true;
    }
    if (ridge_str_is(word, "XGMI") || ridge_str_is(word, "PCIE")) {
        r->has_types = true;
        *out = word.p[0] == 'X' ? (ridge_path){RIDGE_PATH_XGMI, 1}
                                : (ridge_path){RIDGE_PATH_PHB, 0};
        return true;
    }
    const bool is_nvlink = starts_with(word, "NV");
    const ridge_str digits = is_nvlink ? (ridge_str){word.p + 2, word.n - 2} : word;
    if (!ridge_parse_i64(digits, &n) || n < (is_nvlink ? 1 : 0) || n > 1000)
        return false;
    r->has_types = r->has_types || is_nvlink;
    if (is_nvlink)
        *out = (ridge_path){RIDGE_PATH_NVLINK, (int)n};
    else if (n == 0)
        out->kind = RIDGE_PATH_SELF;
    else if (n == WEIGHT_OF_XGMI)
        *out = (ridge_path){RIDGE_PATH_XGMI, 1};
    return true;
}

/* The NUMA node behind the processors: the first word that is a number alone. */
static int read_numa(ridge_str line)
{
    int64_t n = -1;
    next_word(&line); /* processors: 0-51,104-155 */
    const ridge_str word = next_word(&line);
    return word.p != NULL && ridge_parse_i64(word, &n) && n >= 0 && n < 4096 ? (int)n
                                                                             : -1;
}

static ridge_status read_row(matrix_reader *r, ridge_str line)
{
    const int n = r->n_gpus + r->n_nics;
    next_word(&line); /* its name */
    for (int i = 0; i < n; i++) {
        const ridge_str word = next_word(&line);
        if (word.p == NULL || !read_cell(r, word, &r->cells[i]))
            return fail_line(r, "a row with fewer cells than there are devices, or "
                                "with others than X, NV#, PIX, PXB, PHB, NODE, SYS, "
                                "XGMI, PCIE and weights");
    }
    const size_t row = (size_t)r->rows;
    memcpy(r->gpu_paths + row * (size_t)r->n_gpus, r->cells,
           (size_t)r->n_gpus * sizeof *r->cells);
    memcpy(r->nic_paths + row * (size_t)r->n_nics, r->cells + r->n_gpus,
           (size_t)r->n_nics * sizeof *r->cells);
    if (r->gpu_paths[row * (size_t)r->n_gpus + row].kind != RIDGE_PATH_SELF)
        return fail_line(r, "a GPU whose place in its own row is not X");
    r->gpus[row].numa = read_numa(line);
    r->rows++;
    return RIDGE_OK;
}

/* "NIC0: mlx5_0" */
static ridge_status read_legend(matrix_reader *r, ridge_str line)
{
    ridge_str name = next_word(&line);
    const ridge_str card = next_word(&line);
    if (name.p == NULL || card.p == NULL || name.p[name.n - 1] != ':')
        return RIDGE_OK;
    name.n--;
    for (int i = 0; i < r->n_nics; i++) {
        if (!ridge_str_is(name, r->nics[i].name))
            continue;
        r->nics[i].name = ridge_str_dup(ridge_ctx_arena(r->cx), card);
        return r->nics[i].name == NULL ? ridge_fail_nomem(r->cx) : RIDGE_OK;
    }
    return RIDGE_OK;
}

/* A matrix whose paths are named stays when another one follows. */
static bool is_wanted(const matrix_reader *r)
{
    return !(r->has_types && r->rows > 0 && r->rows == r->n_gpus);
}

static ridge_status read_line(matrix_reader *r, ridge_str line)
{
    if (is_header(line))
        return is_wanted(r) ? read_header(r, line) : RIDGE_OK;
    ridge_str rest = line;
    const ridge_str first = next_word(&rest);
    if (first.p != NULL && is_gpu(first) && r->rows < r->n_gpus)
        return read_row(r, line);
    return first.p != NULL && is_nic(first) ? read_legend(r, line) : RIDGE_OK;
}

/* From both sides a pair has the same path. */
static ridge_status check_pairs(const matrix_reader *r)
{
    const int n = r->n_gpus;
    for (int a = 0; a < n; a++) {
        for (int b = 0; b < a; b++) {
            const ridge_path x = r->gpu_paths[a * n + b], y = r->gpu_paths[b * n + a];
            if (x.kind == y.kind && x.links == y.links)
                continue;
            return ridge_fail(r->cx, RIDGE_E_PARSE,
                              "%s: %s and %s are not joined the same way from both "
                              "sides: give the whole matrix as it was printed",
                              r->out->file, r->gpus[a].name, r->gpus[b].name);
        }
    }
    return RIDGE_OK;
}

static ridge_status finish(matrix_reader *r)
{
    bool is_amd = false;
    if (r->n_gpus == 0 || r->rows < r->n_gpus) {
        return ridge_fail(r->cx, RIDGE_E_PARSE,
                          "%s: a matrix of %d GPUs with %d rows: it is cut off",
                          r->out->file, r->n_gpus, r->rows);
    }
    RIDGE_TRY(check_pairs(r));
    for (int i = 0; i < r->n_gpus * r->n_gpus; i++)
        is_amd = is_amd || r->gpu_paths[i].kind == RIDGE_PATH_XGMI;
    is_amd = is_amd || !r->has_types;
    r->out->format = is_amd ? "rocm-smi --showtopo" : "nvidia-smi topo -m";
    r->out->node = (ridge_node_topology){.n_gpus = r->n_gpus,
                                         .n_nics = r->n_nics,
                                         .gpus = r->gpus,
                                         .nics = r->nics,
                                         .gpu_paths = r->gpu_paths,
                                         .nic_paths = r->nic_paths,
                                         .has_links = true};
    return RIDGE_OK;
}

ridge_status ridge__matrix_read(ridge_ctx *cx, ridge_str text, ridge_topology *out)
{
    matrix_reader r = {.cx = cx, .out = out};
    for (ridge_str rest = text; rest.p != NULL;) {
        r.line++;
        RIDGE_TRY(read_line(&r, ridge_str_cut(&rest, '\n')));
    }
    return finish(&r);
}
