/*
 * An InfiniBand network as ibnetdiscover prints it: a block for each switch and each
 * adapter (CA), headed by
 *
 *     Switch  65 "S-2c5e..."   # "MF0;LEAF-04:MQM9700/U1" enhanced port 0 lid 73 lmc 0
 *     Ca      1 "H-e09d..."    # "node-17 mlx5_0"
 *
 * with a line for each port that is connected, to the name of its peer and at the
 * end of the line the link's width and speed:
 *
 *     [1]  "H-e09d..."[1](e09d...)   # "node-17 mlx5_0" lid 647 4xNDR
 *
 * Switches with adapters are leaves; the others stand a level above the lowest of their
 * neighbours. @source ibnetdiscover-man
 */
#include "topology_read.h"

#include <stdlib.h>
#include <string.h>

enum { DEVICES_MOST = 1 << 20, LEVEL_NONE = 99 };

typedef struct ib_device {
    ridge_str name; /* "S-2c5eab0300b87b40" */
    ridge_str host; /* of an adapter; n 0: not told */
    bool is_switch;
    bool is_aggregation; /* in a switch: it reduces */
    int level;           /* of a switch; 0: it has adapters */
    double down_bytes_per_s, up_bytes_per_s;
} ib_device;

/** A port of a switch, and what it is connected to. */
typedef struct ib_port {
    size_t from;
    ridge_str peer;
    double bytes_per_s;
} ib_port;

typedef struct ib_reader {
    ridge_ctx *cx;
    ridge_topology *out;
    ib_device *devices; /* sorted by name, once all are read */
    ib_port *ports;
    size_t n_devices, n_ports;
    int line;
    bool has_ports; /* the block that is read */
} ib_reader;

/* Data rate of one lane, Gbit/s, without its coding. @source infiniband-rates */
static const struct {
    const char *name;
    double gbit_per_s;
} lanes[] = {{"SDR", 2},  {"DDR", 4},  {"QDR", 8},   {"FDR10", 10}, {"FDR", 13.64},
             {"EDR", 25}, {"HDR", 50}, {"NDR", 100}, {"XDR", 200}};

/* ---- lines ----------------------------------------------------------------------- */

static ridge_status fail_line(const ib_reader *r, const char *what)
{
    return ridge_fail(r->cx, RIDGE_E_PARSE, "%s:%d: %s", r->out->file, r->line, what);
}

/* What stands between the first two quotes; n 0: nothing. *rest begins behind them. */
static ridge_str quoted(ridge_str text, ridge_str *rest)
{
    const char *open = text.n > 0 ? memchr(text.p, '"', text.n) : NULL;
    const size_t left = open == NULL ? 0 : text.n - (size_t)(open + 1 - text.p);
    const char *close = left > 0 ? memchr(open + 1, '"', left) : NULL;
    if (close == NULL)
        return (ridge_str){NULL, 0};
    *rest = (ridge_str){close + 1, left - (size_t)(close + 1 - (open + 1))};
    return (ridge_str){open + 1, (size_t)(close - open - 1)};
}

static bool contains(ridge_str text, const char *what)
{
    const size_t n = strlen(what);
    for (size_t i = 0; i + n <= text.n; i++) {
        if (memcmp(text.p + i, what, n) == 0)
            return true;
    }
    return false;
}

static bool starts_with(ridge_str text, const char *stem)
{
    const size_t n = strlen(stem);
    return text.n >= n && memcmp(text.p, stem, n) == 0;
}

/* The host of "node-17 mlx5_0". Cards without a host's name have their own, and new
 * ones that of a machine without one. */
static ridge_str host_of(ridge_str description)
{
    const ridge_str none = {description.p, 0};
    const char *space =
        description.n > 0 ? memchr(description.p, ' ', description.n) : NULL;
    if (space == NULL || contains(description, "Technologies") ||
        contains(description, "ConnectX") || starts_with(description, "localhost "))
        return none;
    return (ridge_str){description.p, (size_t)(space - description.p)};
}

/* "4xNDR" at the end of a line; 0: none */
static double rate_of(ridge_str line)
{
    line = ridge_str_trim(line);
    size_t at = line.n;
    while (at > 0 && line.p[at - 1] != ' ' && line.p[at - 1] != '\t')
        at--;
    ridge_str speed = {line.p + at, line.n - at};
    ridge_str rest = speed;
    int64_t width = 0;
    if (!ridge_parse_i64(ridge_str_cut(&rest, 'x'), &width) || rest.p == NULL ||
        width < 1 || width > 64)
        return 0;
    for (size_t i = 0; i < RIDGE_COUNT_OF(lanes); i++) {
        if (ridge_str_is(rest, lanes[i].name))
            return (double)width * lanes[i].gbit_per_s * 1e9 / 8;
    }
    return 0;
}

static ridge_status read_heading(ib_reader *r, ridge_str line, bool is_switch)
{
    ridge_str rest = line;
    const ridge_str name = quoted(line, &rest);
    const ridge_str description = quoted(rest, &rest);
    if (name.n == 0)
        return fail_line(r, "a heading without a name in quotes");
    if (r->n_devices > 0 && !r->has_ports)
        return fail_line(r, "a block without ports stands before this one");
    r->devices[r->n_devices++] =
        (ib_device){.name = name,
                    .host = host_of(description),
                    .is_switch = is_switch,
                    .is_aggregation = contains(description, "Aggregation Node"),
                    .level = LEVEL_NONE};
    r->has_ports = false;
    return RIDGE_OK;
}

static ridge_status read_port(ib_reader *r, ridge_str line)
{
    ridge_str rest = line;
    const ridge_str peer = quoted(line, &rest);
    if (peer.n == 0 || r->n_devices == 0)
        return fail_line(r, "a port without a block, or without a peer in quotes");
    r->has_ports = true;
    if (!r->devices[r->n_devices - 1].is_switch)
        return RIDGE_OK; /* its switch has the line too */
    const double rate = rate_of(line);
    if (rate <= 0)
        return fail_line(r, "no width and speed, such as 4xNDR, at the end of a port");
    r->ports[r->n_ports++] = (ib_port){r->n_devices - 1, peer, rate};
    return RIDGE_OK;
}

static ridge_status read_lines(ib_reader *r, ridge_str text)
{
    for (ridge_str rest = text; rest.p != NULL;) {
        const ridge_str line = ridge_str_cut(&rest, '\n');
        r->line++;
        if (starts_with(line, "Switch"))
            RIDGE_TRY(read_heading(r, line, true));
        else if (starts_with(line, "Ca") && !starts_with(line, "caguid"))
            RIDGE_TRY(read_heading(r, line, false));
        else if (starts_with(line, "["))
            RIDGE_TRY(read_port(r, line));
    }
    return r->n_devices > 0 && !r->has_ports
               ? fail_line(r, "the last block has no ports: the output is cut off")
               : RIDGE_OK;
}

/* ---- the network ----------------------------------------------------------------- */

static int compare_text(ridge_str a, ridge_str b)
{
    const size_t n = a.n < b.n ? a.n : b.n;
    const int order = n > 0 ? memcmp(a.p, b.p, n) : 0;
    return order != 0 ? order : (a.n > b.n) - (a.n < b.n);
}

static int compare_devices(const void *a, const void *b)
{
    return compare_text(((const ib_device *)a)->name, ((const ib_device *)b)->name);
}

static ib_device *find_device(const ib_reader *r, ridge_str name)
{
    const ib_device key = {.name = name};
    return bsearch(&key, r->devices, r->n_devices, sizeof key, compare_devices);
}

/* Ports by the devices' places after sorting. */
static ridge_status sort_devices(ib_reader *r)
{
    ridge_str *names = ridge_new(ridge_ctx_scratch(r->cx), ridge_str, r->n_devices + 1);
    if (names == NULL)
        return ridge_fail_nomem(r->cx);
    for (size_t i = 0; i < r->n_devices; i++)
        names[i] = r->devices[i].name;
    qsort(r->devices, r->n_devices, sizeof *r->devices, compare_devices);
    for (size_t i = 0; i < r->n_ports; i++) {
        const ib_device *d = find_device(r, names[r->ports[i].from]);
        r->ports[i].from = (size_t)(d - r->devices);
    }
    return RIDGE_OK;
}

static bool is_adapter(const ib_device *d)
{
    return d != NULL && !d->is_switch && !d->is_aggregation;
}

/* Leaves, then what is next to a level that is known. */
static void set_levels(ib_reader *r)
{
    for (size_t i = 0; i < r->n_ports; i++) {
        if (is_adapter(find_device(r, r->ports[i].peer)))
            r->devices[r->ports[i].from].level = 0;
    }
    for (int level = 0; level + 1 < RIDGE_FABRIC_LEVEL_MAX; level++) {
        for (size_t i = 0; i < r->n_ports; i++) {
            const ib_device *peer = find_device(r, r->ports[i].peer);
            ib_device *d = &r->devices[r->ports[i].from];
            if (d->level == LEVEL_NONE && peer != NULL && peer->is_switch &&
                peer->level == level)
                d->level = level + 1;
        }
    }
}

static void add_rates(ib_reader *r)
{
    for (size_t i = 0; i < r->n_ports; i++) {
        const ib_port *port = &r->ports[i];
        const ib_device *peer = find_device(r, port->peer);
        ib_device *d = &r->devices[port->from];
        if (is_adapter(peer) ||
            (peer != NULL && peer->is_switch && peer->level < d->level))
            d->down_bytes_per_s += port->bytes_per_s;
        else if (peer != NULL && peer->is_switch && peer->level > d->level)
            d->up_bytes_per_s += port->bytes_per_s;
        if (is_adapter(peer) && port->bytes_per_s > r->out->fabric.adapter_bytes_per_s)
            r->out->fabric.adapter_bytes_per_s = port->bytes_per_s;
    }
}

/** An adapter of a named host, and the leaf that it is on. */
typedef struct ib_seat {
    ridge_str host;
    size_t leaf;
} ib_seat;

static int compare_seats(const void *a, const void *b)
{
    const ib_seat *x = a, *y = b;
    const int order = compare_text(x->host, y->host);
    return order != 0 ? order : (x->leaf > y->leaf) - (x->leaf < y->leaf);
}

/* Nodes and adapters of hosts; members[d] of a leaf d: its nodes. */
static ridge_status count_hosts(ib_reader *r, int64_t *members)
{
    ridge_fabric *f = &r->out->fabric;
    ib_seat *seats = ridge_new(ridge_ctx_scratch(r->cx), ib_seat, r->n_ports + 1);
    int64_t *adapters = ridge_new(ridge_ctx_scratch(r->cx), int64_t, r->n_ports + 1);
    size_t n = 0, hosts = 0, rails = 0;
    if (seats == NULL || adapters == NULL)
        return ridge_fail_nomem(r->cx);
    for (size_t i = 0; i < r->n_ports; i++) {
        const ib_device *peer = find_device(r, r->ports[i].peer);
        if (is_adapter(peer) && peer->host.n > 0) {
            seats[n++] = (ib_seat){peer->host, r->ports[i].from};
        } else if (is_adapter(peer)) {
            f->unnamed_adapters++;
            members[r->ports[i].from]++;
        }
    }
    qsort(seats, n, sizeof *seats, compare_seats);
    for (size_t i = 0, from = 0, leaves = 0; i < n; i++) {
        const bool is_new = i == 0 || compare_text(seats[i].host, seats[i - 1].host);
        from = is_new ? i : from;
        leaves = is_new ? 0 : leaves;
        if (is_new || seats[i].leaf != seats[i - 1].leaf) {
            members[seats[i].leaf]++;
            leaves++;
        }
        if (i + 1 == n || compare_text(seats[i].host, seats[i + 1].host) != 0) {
            adapters[hosts++] = (int64_t)(i - from + 1);
            rails += leaves > 1 && leaves == i - from + 1;
        }
    }
    f->nodes = (int64_t)hosts;
    f->adapters_per_node = ridge__usual_count(adapters, hosts);
    f->has_rails = hosts > 0 && 2 * rails > hosts;
    return RIDGE_OK;
}

/* Switches of the level below that each switch of one has, each once. */
static void count_below(ib_reader *r, int level, int64_t *members)
{
    for (size_t i = 0; i < r->n_ports; i++) {
        const ib_port *port = &r->ports[i];
        const ib_device *peer = find_device(r, port->peer);
        bool is_new = r->devices[port->from].level == level && peer != NULL &&
                      peer->is_switch && peer->level == level - 1;
        for (size_t k = i; is_new && k > 0 && r->ports[k - 1].from == port->from; k--)
            is_new = !ridge_str_equal(r->ports[k - 1].peer, port->peer);
        members[port->from] += is_new;
    }
}

/* One level of all its switches. @return false: it has none */
static bool sum_level(const ib_reader *r, int level, const int64_t *members,
                      int64_t *counts, ridge_fabric_level *out)
{
    static const char *const names[] = {"leaf", "spine", "core"};
    ridge_fabric_level l = {.name = names[level]};
    size_t n = 0;
    for (size_t i = 0; i < r->n_devices; i++) {
        const ib_device *d = &r->devices[i];
        if (!d->is_switch || d->level != level || members[i] == 0)
            continue;
        counts[n++] = members[i];
        l.down_bytes_per_s += d->down_bytes_per_s;
        l.up_bytes_per_s += d->up_bytes_per_s;
    }
    l.switches = (int64_t)n;
    l.members = ridge__usual_count(counts, n);
    if (n == 0)
        return false;
    l.members_least = counts[0];
    l.members_most = counts[n - 1];
    l.down_bytes_per_s /= (double)n;
    l.up_bytes_per_s /= (double)n;
    *out = l;
    return true;
}

static ridge_status sum_network(ib_reader *r)
{
    ridge_fabric *f = &r->out->fabric;
    ridge_arena *scratch = ridge_ctx_scratch(r->cx);
    int64_t *members = ridge_new(scratch, int64_t, r->n_devices + 1);
    int64_t *counts = ridge_new(scratch, int64_t, r->n_devices + 1);
    if (members == NULL || counts == NULL)
        return ridge_fail_nomem(r->cx);
    set_levels(r);
    add_rates(r);
    RIDGE_TRY(count_hosts(r, members));
    for (int i = 0; i < RIDGE_FABRIC_LEVEL_MAX; i++) {
        if (i > 0)
            count_below(r, i, members);
        if (!sum_level(r, i, members, counts, &f->levels[i]))
            break;
        f->n_levels = i + 1;
    }
    for (size_t i = 0; i < r->n_devices; i++)
        f->can_reduce = f->can_reduce || r->devices[i].is_aggregation;
    return RIDGE_OK;
}

ridge_status ridge__infiniband_read(ridge_ctx *cx, ridge_str text, ridge_topology *out)
{
    ib_reader r = {.cx = cx, .out = out};
    size_t lines = 1;
    for (size_t i = 0; i < text.n; i++)
        lines += text.p[i] == '\n';
    if (lines > DEVICES_MOST)
        return ridge_fail(cx, RIDGE_E_PARSE, "%s: more than %d lines", out->file,
                          DEVICES_MOST);
    r.devices = ridge_new(ridge_ctx_scratch(cx), ib_device, lines);
    r.ports = ridge_new(ridge_ctx_scratch(cx), ib_port, lines);
    if (r.devices == NULL || r.ports == NULL)
        return ridge_fail_nomem(cx);
    RIDGE_TRY(read_lines(&r, text));
    RIDGE_TRY(sort_devices(&r));
    out->format = "ibnetdiscover";
    RIDGE_TRY(sum_network(&r));
    if (out->fabric.n_levels > 0)
        return RIDGE_OK;
    return ridge_fail(cx, RIDGE_E_PARSE,
                      "%s: no switch with adapters in it: give the whole output of "
                      "ibnetdiscover",
                      out->file);
}
