/*
 * A topology file by what stands in it: which format, and which reader.
 */
#include "topology_read.h"

#include "ridge/base_yaml.h"

#include <stdlib.h>
#include <string.h>

enum { FILE_BYTES_MOST = 64 << 20 };

bool ridge_topology_is_path(const char *text)
{
    static const char *const ends[] = {".xml", ".yaml", ".yml",
                                       ".txt", ".out",  ".topo"};
    const size_t n = strlen(text);
    for (size_t i = 0; i < RIDGE_COUNT_OF(ends); i++) {
        const size_t m = strlen(ends[i]);
        if (n > m && strcmp(text + n - m, ends[i]) == 0)
            return true;
    }
    return ridge_path_exists(text) && !ridge_path_is_dir(text);
}

/* ---- formats --------------------------------------------------------------------- */

static bool has_text(ridge_str text, const char *what)
{
    const size_t n = strlen(what);
    for (size_t i = 0; i + n <= text.n; i++) {
        if (memcmp(text.p + i, what, n) == 0)
            return true;
    }
    return false;
}

static ridge_status fail_format(ridge_ctx *cx, const char *file)
{
    return ridge_fail(
        cx, RIDGE_E_PARSE,
        "%s: no topology that is known: give a system file, the output of nvidia-smi "
        "topo -m, rocm-smi --showtopo or ibnetdiscover, XML of NCCL, RCCL or lstopo, "
        "a cluster model of topograph, or a network of ASTRA-sim",
        file);
}

/* JSON and YAML, by their members. */
static ridge_status read_document(ridge_ctx *cx, ridge_node root, ridge_topology *out)
{
    if (ridge_json_kind_of(root) == RIDGE_JSON_ARRAY)
        return ridge__message_survey_read(cx, root, out);
    if (!ridge_json_is_absent(ridge_json_get(&root, "npus_count")))
        return ridge__simulator_network_read(cx, root, out);
    if (!ridge_json_is_absent(ridge_json_get(&root, "blocks")) ||
        !ridge_json_is_absent(ridge_json_get(&root, "switches")))
        return ridge__cluster_model_read(cx, root, out);
    if (!ridge_json_is_absent(ridge_json_get(&root, "all-reduce-implementation"))) {
        return ridge_fail(cx, RIDGE_E_PARSE,
                          "%s: how ASTRA-sim runs collectives, not its network: give "
                          "its network's .yml, with npus_count",
                          out->file);
    }
    return fail_format(cx, out->file);
}

static ridge_status read_text(ridge_ctx *cx, ridge_str text, ridge_topology *out)
{
    const ridge_str body = ridge_str_trim(text);
    ridge_node root;
    if (body.n == 0)
        return ridge_fail(cx, RIDGE_E_PARSE, "%s: it is empty", out->file);
    if (body.p[0] == '<')
        return ridge__topology_xml_read(cx, text, out);
    if (has_text(body, "switchguid=") || has_text(body, "caguid="))
        return ridge__infiniband_read(cx, text, out);
    if (body.p[0] == '{' || (body.p[0] == '[' && has_text(body, "{"))) {
        RIDGE_TRY(ridge_json_parse(cx, text, out->file, &root));
        return read_document(cx, root, out);
    }
    if (has_text(body, "GPU0") || has_text(body, "GPU[0]"))
        return ridge__matrix_read(cx, text, out);
    if (!has_text(body, ":"))
        return fail_format(cx, out->file);
    RIDGE_TRY(ridge_yaml_parse(cx, text, out->file, &root));
    return read_document(cx, root, out);
}

ridge_status ridge_topology_parse(ridge_ctx *cx, ridge_str text, const char *file,
                                  ridge_topology *out)
{
    ridge_topology t = {.file = file};
    RIDGE_TRY(read_text(cx, text, &t));
    *out = t;
    return RIDGE_OK;
}

ridge_status ridge_topology_read(ridge_ctx *cx, const char *path, ridge_topology *out)
{
    ridge_str text;
    RIDGE_TRY(ridge_file_read(cx, path, FILE_BYTES_MOST, &text));
    return ridge_topology_parse(cx, text, path, out);
}
