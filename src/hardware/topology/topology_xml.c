/*
 * XML of a machine, by expat, into a tree of PCI devices.
 *
 * NCCL and RCCL (NCCL_TOPO_FILE, NCCL_TOPO_DUMP_FILE): <system> of <cpu numaid>, of
 * <pci busid class vendor device link_speed link_width> within each other, with <gpu
 * gcn> (without any the file is one for NCCL to complete, and tells no links), its
 * <nvlink target count tclass> or <xgmi target count>, and <nic> of <net name speed>,
 * speed in Mbit/s. @source nccl-topology
 *
 * lstopo: <topology> of <object type> within each other: Package, Bridge, PCIDev
 * (pci_type "0302 [10de:1db8] ...", pci_link_speed in GB/s), OSDev; <info> of the
 * machine; and the matrix of NVLinkBandwidth, in MB/s between objects by gp_index.
 * @source hwloc-xml
 */
#include "topology_read.h"

#include <expat.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pci_tree.h"

enum { DEPTH_MOST = 256, OBJECTS_MOST = 512, MATRIX_TEXT_MOST = 4 << 20 };

/* hwloc counts an NVLink of the second to fourth generation as this many MB/s. */
static const double NVLINK_MB_PER_S = 25000;
/* PCIe rates of hwloc are net of the 128 of 130 bits; Ridge's are not. */
static const double PCIE_GROSS = 130.0 / 128.0;

/* Matrix of links between objects, as it comes. */
typedef struct link_matrix {
    bool is_open;
    ridge_buf indexes, values; /* texts of all its pieces */
    int n;
} link_matrix;

typedef struct xml_reader {
    ridge_ctx *cx;
    const char *file;
    XML_Parser parser;
    ridge_status status;
    pci_tree tree;
    int depth;
    int nodes[DEPTH_MOST]; /* of the tree, that open elements stand in */
    bool is_nccl, is_lstopo;
    ridge_buf *text; /* what characters are added to, or NULL */
    link_matrix matrix;
    int object_ids[PCI_TREE_NODES_MOST]; /* gp_index of nodes, and of their OSDevs */
    int object_nodes[PCI_TREE_NODES_MOST];
    bool object_is_switch[PCI_TREE_NODES_MOST];
    int n_objects;
} xml_reader;

static void stop(xml_reader *r, const char *what)
{
    if (r->status != RIDGE_OK)
        return;
    r->status = ridge_fail(r->cx, RIDGE_E_PARSE, "%s:%lu: %s", r->file,
                           (unsigned long)XML_GetCurrentLineNumber(r->parser), what);
    XML_StopParser(r->parser, XML_FALSE);
}

/* An attribute, or NULL. */
static const char *get(const char **attributes, const char *name)
{
    for (int i = 0; attributes[i] != NULL; i += 2) {
        if (strcmp(attributes[i], name) == 0)
            return attributes[i + 1];
    }
    return NULL;
}

static const char *keep(xml_reader *r, const char *text)
{
    const char *copy =
        text == NULL ? NULL : ridge_str_dup(ridge_ctx_arena(r->cx), ridge_str_of(text));
    if (text != NULL && copy == NULL && r->status == RIDGE_OK) {
        r->status = ridge_fail_nomem(r->cx);
        XML_StopParser(r->parser, XML_FALSE);
    }
    return copy;
}

static int parent_of(const xml_reader *r)
{
    return r->nodes[r->depth - 1];
}

static void add_node(xml_reader *r, const pci_node *node)
{
    const int at = ridge__pci_tree_add(&r->tree, node);
    if (at < 0)
        stop(r, "too many devices");
    else
        r->nodes[r->depth] = at;
}

/* A number at the start of a text, or @p otherwise. */
static double number_in(const char *text, double otherwise)
{
    double v = otherwise;
    size_t n = 0;
    if (text == NULL)
        return otherwise;
    while ((text[n] >= '0' && text[n] <= '9') || text[n] == '.')
        n++;
    return ridge_parse_double((ridge_str){text, n}, &v) ? v : otherwise;
}

/* The same, whole and small; -1: there is none, or it is neither. */
static int index_in(const char *text)
{
    const double v = number_in(text, -1);
    return v >= 0 && v < 1e9 ? (int)v : -1;
}

/* ---- NCCL ------------------------------------------------------------------------ */

/* "0x030200": the class and the kind in it, without the programming interface. */
static int class_of(const char *text)
{
    unsigned v = 0;
    return text != NULL && sscanf(text, "0x%6x", &v) == 1 ? (int)(v >> 8) : -1;
}

/* "10de:2330" of "0x10de" and "0x2330" */
static const char *id_of(xml_reader *r, const char *vendor, const char *device)
{
    unsigned v = 0, d = 0;
    if (vendor == NULL || device == NULL || sscanf(vendor, "0x%4x", &v) != 1 ||
        sscanf(device, "0x%4x", &d) != 1 || v == 0 || v == 0xffff)
        return NULL;
    return ridge_sprintf(ridge_ctx_arena(r->cx), "%04x:%04x", v, d);
}

static void open_pci(xml_reader *r, const char **attributes)
{
    const double gt_per_s = number_in(get(attributes, "link_speed"), 0);
    const double lanes = number_in(get(attributes, "link_width"), 0);
    add_node(r, &(pci_node){.kind = PCI_DEVICE,
                            .parent = parent_of(r),
                            .bus_id = keep(r, get(attributes, "busid")),
                            .pci_id = id_of(r, get(attributes, "vendor"),
                                            get(attributes, "device")),
                            .class_id = class_of(get(attributes, "class")),
                            .link_bytes_per_s = gt_per_s * lanes / 8 * 1e9});
}

/* "gfx942", or "910" as older versions had it. */
static void open_gpu(xml_reader *r, const char **attributes)
{
    const char *target = get(attributes, "gcn");
    pci_node *node = &r->tree.nodes[parent_of(r)];
    node->is_gpu = node->kind == PCI_DEVICE;
    r->tree.has_links = true;
    if (target == NULL)
        return;
    node->target = strncmp(target, "gfx", 3) == 0
                       ? keep(r, target)
                       : ridge_sprintf(ridge_ctx_arena(r->cx), "gfx%.12s", target);
}

static void open_link(xml_reader *r, const char **attributes, bool is_xgmi)
{
    enum { CLASS_SWITCH = 0x0680, COUNT_MOST = 1000 };
    const double count = number_in(get(attributes, "count"), 1);
    if (count < 1 || count > COUNT_MOST) {
        stop(r, "a link of a count that cannot be");
        return;
    }
    const pci_link link = {.from = parent_of(r),
                           .target = keep(r, get(attributes, "target")),
                           .count = (int)count,
                           .is_xgmi = is_xgmi,
                           .is_to_switch =
                               class_of(get(attributes, "tclass")) == CLASS_SWITCH};
    if (!ridge__pci_tree_add_link(&r->tree, &link))
        stop(r, "too many links");
}

static void open_net(xml_reader *r, const char **attributes)
{
    const pci_net net = {.node = parent_of(r),
                         .name = keep(r, get(attributes, "name")),
                         .bytes_per_s =
                             number_in(get(attributes, "speed"), 0) * 1e6 / 8};
    if (net.name == NULL)
        stop(r, "a <net> without a name");
    else if (!ridge__pci_tree_add_net(&r->tree, &net))
        stop(r, "too many network interfaces");
}

static void open_nccl(xml_reader *r, const char *name, const char **attributes)
{
    if (strcmp(name, "cpu") == 0) {
        add_node(r, &(pci_node){.kind = PCI_SOCKET,
                                .parent = parent_of(r),
                                .class_id = -1,
                                .numa = index_in(get(attributes, "numaid"))});
    } else if (strcmp(name, "pci") == 0) {
        open_pci(r, attributes);
    } else if (strcmp(name, "gpu") == 0) {
        open_gpu(r, attributes);
    } else if (strcmp(name, "nvlink") == 0 || strcmp(name, "xgmi") == 0) {
        open_link(r, attributes, name[0] == 'x');
    } else if (strcmp(name, "net") == 0) {
        open_net(r, attributes);
    }
}

/* ---- lstopo ---------------------------------------------------------------------- */

static void note_object(xml_reader *r, const char **attributes, int node)
{
    const char *id = get(attributes, "gp_index");
    const char *subtype = get(attributes, "subtype");
    if (id == NULL || r->n_objects == PCI_TREE_NODES_MOST)
        return;
    r->object_ids[r->n_objects] = index_in(id);
    r->object_is_switch[r->n_objects] =
        subtype != NULL && strcmp(subtype, "NVSwitch") == 0;
    r->object_nodes[r->n_objects++] = node;
}

/* "0302 [10de:1db8] [10de:131d] a1 00" */
static void open_pci_object(xml_reader *r, const char **attributes)
{
    unsigned class_id = 0, vendor = 0, device = 0;
    const char *type = get(attributes, "pci_type");
    if (type != NULL)
        sscanf(type, "%4x [%4x:%4x]", &class_id, &vendor, &device);
    const double gb_per_s = number_in(get(attributes, "pci_link_speed"), 0);
    const char *id =
        vendor > 0 ? ridge_sprintf(ridge_ctx_arena(r->cx), "%04x:%04x", vendor, device)
                   : NULL;
    add_node(r, &(pci_node){.kind = PCI_DEVICE,
                            .parent = parent_of(r),
                            .bus_id = keep(r, get(attributes, "pci_busid")),
                            .pci_id = id,
                            .class_id = type != NULL ? (int)class_id : -1,
                            .link_bytes_per_s = gb_per_s * PCIE_GROSS * 1e9});
    note_object(r, attributes, r->nodes[r->depth]);
}

static void open_object(xml_reader *r, const char **attributes)
{
    const char *type = get(attributes, "type");
    const char *bridge = get(attributes, "bridge_type");
    if (type == NULL) {
        stop(r, "an <object> without a type");
    } else if (strcmp(type, "Package") == 0) {
        add_node(r, &(pci_node){.kind = PCI_SOCKET,
                                .parent = parent_of(r),
                                .class_id = -1,
                                .numa = index_in(get(attributes, "os_index"))});
    } else if (strcmp(type, "Bridge") == 0 && bridge != NULL && bridge[0] == '0') {
        r->tree.is_sockets_of_bridges = true;
        add_node(r, &(pci_node){.kind = PCI_HOST_BRIDGE,
                                .parent = parent_of(r),
                                .class_id = -1});
    } else if (strcmp(type, "PCIDev") == 0 || strcmp(type, "Bridge") == 0) {
        open_pci_object(r, attributes);
    } else if (strcmp(type, "OSDev") == 0) {
        note_object(r, attributes, parent_of(r));
    }
}

static void open_matrix(xml_reader *r, const char **attributes)
{
    const char *name = get(attributes, "name");
    const double n = number_in(get(attributes, "nbobjs"), 0);
    if (name == NULL || strcmp(name, "NVLinkBandwidth") != 0)
        return;
    if (n < 1 || n > OBJECTS_MOST) {
        stop(r, "a matrix of a size that cannot be");
        return;
    }
    r->matrix = (link_matrix){.is_open = true, .n = (int)n};
    r->tree.has_links = true;
    ridge_buf_init(&r->matrix.indexes, ridge_ctx_scratch(r->cx));
    ridge_buf_init(&r->matrix.values, ridge_ctx_scratch(r->cx));
}

static void open_lstopo(xml_reader *r, const char *name, const char **attributes)
{
    if (strcmp(name, "object") == 0) {
        open_object(r, attributes);
    } else if (strcmp(name, "info") == 0) {
        const char *key = get(attributes, "name");
        if (key != NULL && strcmp(key, "DMIProductName") == 0)
            r->tree.product = keep(r, get(attributes, "value"));
    } else if (strncmp(name, "distances2", 10) == 0) {
        open_matrix(r, attributes);
    } else if (r->matrix.is_open && strcmp(name, "indexes") == 0) {
        r->text = &r->matrix.indexes;
    } else if (r->matrix.is_open && strcmp(name, "u64values") == 0) {
        r->text = &r->matrix.values;
    }
}

/* Where in the lists of objects one of that gp_index is; -1: nowhere. */
static int object_of(const xml_reader *r, int64_t id)
{
    for (int i = 0; i < r->n_objects; i++) {
        if (r->object_ids[i] == id)
            return i;
    }
    return -1;
}

/* The next word of a list that spaces divide, without a kind before ':'. */
static bool next_number(ridge_str *list, int64_t *out)
{
    ridge_str word = {NULL, 0};
    while (list->p != NULL && word.n == 0)
        word = ridge_str_cut(list, ' ');
    const char *colon = word.n > 0 ? memchr(word.p, ':', word.n) : NULL;
    if (colon != NULL)
        word = (ridge_str){colon + 1, word.n - (size_t)(colon + 1 - word.p)};
    return word.n > 0 && ridge_parse_i64(word, out);
}

static void add_matrix_link(xml_reader *r, int from, int to, int64_t mb_per_s)
{
    const pci_node *nodes = r->tree.nodes;
    const double count = (double)mb_per_s / NVLINK_MB_PER_S + 0.5;
    if (mb_per_s <= 0 || count > 1000 || r->object_is_switch[from])
        return;
    const pci_link link = {.from = r->object_nodes[from],
                           .target = nodes[r->object_nodes[to]].bus_id,
                           .count = count < 1 ? 1 : (int)count,
                           .is_to_switch = r->object_is_switch[to]};
    if (!ridge__pci_tree_add_link(&r->tree, &link))
        stop(r, "too many links");
}

static void close_matrix(xml_reader *r)
{
    const int n = r->matrix.n;
    int objects[OBJECTS_MOST];
    r->matrix.is_open = false;
    ridge_str list = ridge_str_of(ridge_buf_text(&r->matrix.indexes));
    for (int i = 0; i < n; i++) {
        int64_t id;
        objects[i] = next_number(&list, &id) ? object_of(r, id) : -1;
    }
    list = ridge_str_of(ridge_buf_text(&r->matrix.values));
    for (int i = 0; i < n * n; i++) {
        int64_t mb_per_s;
        if (!next_number(&list, &mb_per_s)) {
            stop(r, "a matrix with fewer values than it has objects");
            return;
        }
        if (i / n != i % n && objects[i / n] >= 0 && objects[i % n] >= 0)
            add_matrix_link(r, objects[i / n], objects[i % n], mb_per_s);
    }
}

/* ---- expat ----------------------------------------------------------------------- */

static void on_open(void *data, const char *name, const char **attributes)
{
    xml_reader *r = data;
    if (r->status != RIDGE_OK)
        return;
    if (++r->depth == DEPTH_MOST) {
        stop(r, "nested too deeply");
        return;
    }
    r->nodes[r->depth] = r->nodes[r->depth - 1];
    if (r->depth == 1) {
        r->is_nccl = strcmp(name, "system") == 0;
        r->is_lstopo = strcmp(name, "topology") == 0;
        if (!r->is_nccl && !r->is_lstopo)
            stop(r, "no XML of NCCL, RCCL or lstopo: its first element is neither "
                    "<system> nor <topology>");
        return;
    }
    if (r->is_nccl)
        open_nccl(r, name, attributes);
    else
        open_lstopo(r, name, attributes);
}

static void on_close(void *data, const char *name)
{
    xml_reader *r = data;
    if (r->status != RIDGE_OK)
        return;
    r->depth--;
    r->text = NULL;
    if (r->matrix.is_open && strncmp(name, "distances2", 10) == 0)
        close_matrix(r);
}

static void on_text(void *data, const char *text, int n)
{
    xml_reader *r = data;
    if (r->status != RIDGE_OK || r->text == NULL)
        return;
    if (r->text->n + (size_t)n > MATRIX_TEXT_MOST) {
        stop(r, "a matrix too large");
        return;
    }
    for (int i = 0; i < n; i++) {
        const char c = text[i] == '\n' || text[i] == '\t' ? ' ' : text[i];
        ridge_buf_add(r->text, (ridge_str){&c, 1});
    }
}

/* None of these formats has entities: they are attacks. */
static void on_entity(void *data, const char *name, int is_parameter, const char *value,
                      int n, const char *base, const char *system_id,
                      const char *public_id, const char *notation)
{
    (void)name;
    (void)is_parameter;
    (void)value;
    (void)n;
    (void)base;
    (void)system_id;
    (void)public_id;
    (void)notation;
    stop(data, "entities are not taken");
}

static ridge_status parse(xml_reader *r, ridge_str text)
{
    XML_SetUserData(r->parser, r);
    XML_SetElementHandler(r->parser, on_open, on_close);
    XML_SetCharacterDataHandler(r->parser, on_text);
    XML_SetEntityDeclHandler(r->parser, on_entity);
    const enum XML_Status st = XML_Parse(r->parser, text.p, (int)text.n, 1);
    if (r->status != RIDGE_OK || st != XML_STATUS_ERROR)
        return r->status;
    return ridge_fail(r->cx, RIDGE_E_PARSE, "%s:%lu: no XML: %s", r->file,
                      (unsigned long)XML_GetCurrentLineNumber(r->parser),
                      XML_ErrorString(XML_GetErrorCode(r->parser)));
}

static bool has_classes(const pci_tree *tree)
{
    for (int i = 1; i < tree->n_nodes; i++) {
        if (tree->nodes[i].kind == PCI_DEVICE && tree->nodes[i].class_id >= 0)
            return true;
    }
    return false;
}

/* A machine without accelerators has nothing to plan for, unless its name says more. */
static ridge_status check_node(const xml_reader *r, const ridge_topology *t)
{
    if (t->node.n_gpus > 0)
        return RIDGE_OK;
    if (r->is_nccl && r->tree.n_nodes > 1 && !has_classes(&r->tree)) {
        return ridge_fail(r->cx, RIDGE_E_PARSE,
                          "%s: its <pci> elements have no class, so that nothing says "
                          "which are GPUs: give the file that NCCL_TOPO_DUMP_FILE "
                          "writes on the machine",
                          r->file);
    }
    if (t->node.product != NULL)
        return RIDGE_OK;
    return ridge_fail(r->cx, RIDGE_E_PARSE,
                      "%s: no GPUs in it: of a machine of processors alone `ridge "
                      "calibrate` writes a system file",
                      r->file);
}

ridge_status ridge__topology_xml_read(ridge_ctx *cx, ridge_str text,
                                      ridge_topology *out)
{
    xml_reader *r = ridge_new(ridge_ctx_arena(cx), xml_reader, 1);
    if (r == NULL)
        return ridge_fail_nomem(cx);
    *r = (xml_reader){.cx = cx, .file = out->file};
    RIDGE_TRY(ridge__pci_tree_open(cx, &r->tree));
    r->parser = XML_ParserCreate(NULL);
    if (r->parser == NULL)
        return ridge_fail_nomem(cx);
    const ridge_status st = parse(r, text);
    XML_ParserFree(r->parser);
    RIDGE_TRY(st);
    RIDGE_TRY(ridge__pci_tree_node(&r->tree, out->file, &out->node));
    out->format = r->is_nccl ? "XML of NCCL or RCCL" : "XML of lstopo";
    return check_node(r, out);
}
