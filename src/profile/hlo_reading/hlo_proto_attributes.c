/* What protos say of instructions, written as HLO text writes it. */
#include "hlo_proto.h"

#include <string.h>

/** Attributes being written. */
typedef struct writer {
    ridge_arena *arena;
    hlo_list *list;
    bool is_short;
} writer;

static void add(writer *w, const char *key, const ridge_buf *text)
{
    ridge_hlo_attribute *a = hlo_list_push(w->arena, w->list);
    if (a == NULL || text->is_short) {
        w->is_short = true;
        return;
    }
    *a = (ridge_hlo_attribute){ridge_str_of(key), {ridge_buf_text(text), text->n}};
}

static ridge_buf begin(const writer *w)
{
    ridge_buf b;
    ridge_buf_init(&b, w->arena);
    return b;
}

static void put_ints(ridge_buf *b, const char *open, size_t n, const int64_t *v,
                     const char *close)
{
    ridge_buf_puts(b, open);
    for (size_t k = 0; k < n; k++)
        ridge_buf_printf(b, "%s%lld", k ? "," : "", (long long)v[k]);
    ridge_buf_puts(b, close);
}

static void put_order(ridge_buf *b, size_t n, const int32_t *v)
{
    for (size_t k = 0; k < n; k++)
        ridge_buf_printf(b, "%s%d", k ? "," : "T(", v[k]);
    ridge_buf_puts(b, n ? ")" : "");
}

static void add_ints(writer *w, const char *key, size_t n, const int64_t *v)
{
    ridge_buf b = begin(w);
    put_ints(&b, "{", n, v, "}");
    add(w, key, &b);
}

static void add_number(writer *w, const char *key, int64_t v)
{
    ridge_buf b = begin(w);
    ridge_buf_printf(&b, "%lld", (long long)v);
    add(w, key, &b);
}

static void add_text(writer *w, const char *key, const char *open, const char *text,
                     const char *close)
{
    ridge_buf b = begin(w);
    ridge_buf_printf(&b, "%s%s%s", open, text, close);
    add(w, key, &b);
}

/* ---- products ---------------------------------------------------------------------
 */

static void add_dot(writer *w, const Ridge__Hlo__DotDims *d)
{
    if (d == NULL)
        return;
    add_ints(w, "lhs_batch_dims", d->n_lhs_batch, d->lhs_batch);
    add_ints(w, "rhs_batch_dims", d->n_rhs_batch, d->rhs_batch);
    add_ints(w, "lhs_contracting_dims", d->n_lhs_contracting, d->lhs_contracting);
    add_ints(w, "rhs_contracting_dims", d->n_rhs_contracting, d->rhs_contracting);
}

static void add_window(writer *w, const Ridge__Hlo__Window *window)
{
    static const struct {
        const char *key;
        size_t offset;
    } fields[] = {
        {"size", offsetof(Ridge__Hlo__WindowDim, size)},
        {" stride", offsetof(Ridge__Hlo__WindowDim, stride)},
        {" lhs_dilate", offsetof(Ridge__Hlo__WindowDim, base_dilation)},
        {" rhs_dilate", offsetof(Ridge__Hlo__WindowDim, window_dilation)},
    };
    ridge_buf b = begin(w);
    if (window == NULL || window->n_dimensions == 0)
        return;
    ridge_buf_puts(&b, "{");
    for (size_t f = 0; f < RIDGE_COUNT_OF(fields); f++) {
        for (size_t k = 0; k < window->n_dimensions; k++) {
            const char *dim = (const char *)window->dimensions[k];
            int64_t v;
            memcpy(&v, dim + fields[f].offset, sizeof v);
            ridge_buf_printf(&b, "%s%s%lld", k ? "x" : fields[f].key, k ? "" : "=",
                             (long long)(v > 0 ? v : 1));
        }
    }
    for (size_t k = 0; k < window->n_dimensions; k++)
        ridge_buf_printf(&b, "%s%lld_%lld", k ? "x" : " pad=",
                         (long long)window->dimensions[k]->padding_low,
                         (long long)window->dimensions[k]->padding_high);
    ridge_buf_puts(&b, "}");
    add(w, "window", &b);
}

/** One array of a convolution: which dim is what. */
typedef struct conv_part {
    const char *letters;
    int64_t first, second;
    size_t n;
    const int64_t *spatial;
} conv_part;

static void put_labels(ridge_buf *b, const conv_part *p)
{
    char word[RIDGE_HLO_RANK_MAX];
    const size_t rank = p->n + 2;
    if (p->n > 8)
        return;
    memset(word, '?', sizeof word);
    if (p->first >= 0 && p->first < (int64_t)rank)
        word[p->first] = p->letters[0];
    if (p->second >= 0 && p->second < (int64_t)rank)
        word[p->second] = p->letters[1];
    for (size_t k = 0; k < p->n; k++) {
        if (p->spatial[k] >= 0 && p->spatial[k] < (int64_t)rank)
            word[p->spatial[k]] = (char)('0' + k);
    }
    ridge_buf_add(b, (ridge_str){word, rank});
}

static void add_convolution(writer *w, const Ridge__Hlo__ConvDims *d)
{
    if (d == NULL)
        return;
    const conv_part parts[] = {
        {"bf", d->input_batch, d->input_feature, d->n_input_spatial, d->input_spatial},
        {"io", d->kernel_input_feature, d->kernel_output_feature, d->n_kernel_spatial,
         d->kernel_spatial},
        {"bf", d->output_batch, d->output_feature, d->n_output_spatial,
         d->output_spatial},
    };
    ridge_buf b = begin(w);
    put_labels(&b, &parts[0]);
    ridge_buf_puts(&b, "_");
    put_labels(&b, &parts[1]);
    ridge_buf_puts(&b, "->");
    put_labels(&b, &parts[2]);
    add(w, "dim_labels", &b);
}

static void add_precision(writer *w, const Ridge__Hlo__Precision *p)
{
    static const char *const words[] = {"default", "high", "highest"};
    ridge_buf b = begin(w);
    if (p == NULL || p->n_operand_precision == 0)
        return;
    for (size_t k = 0; k < p->n_operand_precision; k++) {
        const int32_t v = p->operand_precision[k];
        ridge_buf_printf(&b, "%s%s", k ? "," : "{", words[v >= 0 && v < 3 ? v : 0]);
    }
    ridge_buf_puts(&b, "}");
    add(w, "operand_precision", &b);
}

/* ---- devices ----------------------------------------------------------------------
 */

static void add_groups(writer *w, size_t n, Ridge__Hlo__Group *const *groups)
{
    ridge_buf b = begin(w);
    ridge_buf_puts(&b, "{");
    for (size_t k = 0; k < n; k++)
        put_ints(&b, k ? ",{" : "{", groups[k]->n_ids, groups[k]->ids, "}");
    ridge_buf_puts(&b, "}");
    add(w, "replica_groups", &b);
}

static void add_devices(writer *w, const Ridge__Hlo__Instruction *i)
{
    const Ridge__Hlo__IotaGroups *iota = i->device_list ? i->device_list->iota : NULL;
    if (iota) {
        ridge_buf b = begin(w);
        ridge_buf_printf(&b, "[%lld,%lld]<=", (long long)iota->groups,
                         (long long)iota->devices);
        put_ints(&b, "[", iota->n_reshape, iota->reshape, "]");
        put_order(&b, iota->n_transpose, iota->transpose);
        add(w, "replica_groups", &b);
    } else if (i->device_list && i->device_list->n_groups > 0) {
        add_groups(w, i->device_list->n_groups, i->device_list->groups);
    } else if (i->n_replica_groups > 0) {
        add_groups(w, i->n_replica_groups, i->replica_groups);
    }
    if (i->n_source_target_pairs == 0)
        return;
    ridge_buf b = begin(w);
    for (size_t k = 0; k < i->n_source_target_pairs; k++)
        ridge_buf_printf(&b, "%s{%lld,%lld}", k ? "," : "{",
                         (long long)i->source_target_pairs[k]->source,
                         (long long)i->source_target_pairs[k]->target);
    ridge_buf_puts(&b, "}");
    add(w, "source_target_pairs", &b);
}

/* OpSharding.type */
enum {
    SHARDING_REPLICATED = 0,
    SHARDING_MAXIMAL = 1,
    SHARDING_OTHER = 3,
    SHARDING_MANUAL = 4
};

static void put_sharding(ridge_arena *arena, ProtobufCBinaryData bytes, int depth,
                         ridge_buf *b)
{
    enum { DEPTH_MOST = 8 };
    ProtobufCAllocator room = hlo_proto_allocator(arena);
    const Ridge__Hlo__Sharding *s =
        depth > DEPTH_MOST ? NULL
                           : ridge__hlo__sharding__unpack(&room, bytes.len, bytes.data);
    if (s == NULL)
        return;
    ridge_buf_puts(b, "{");
    for (size_t k = 0; k < s->n_parts; k++) {
        ridge_buf_puts(b, k ? ", " : "");
        put_sharding(arena, s->parts[k], depth + 1, b);
    }
    if (s->type == SHARDING_REPLICATED && s->n_parts == 0)
        ridge_buf_puts(b, "replicated");
    if (s->type == SHARDING_MANUAL)
        ridge_buf_puts(b, "manual");
    if (s->type == SHARDING_MAXIMAL && s->n_tile_devices == 1)
        ridge_buf_printf(b, "maximal device=%lld", (long long)s->tile_devices[0]);
    if (s->type == SHARDING_OTHER) {
        put_ints(b, "devices=[", s->n_tile_dims, s->tile_dims, "]");
        if (s->n_iota_reshape > 0) {
            put_ints(b, "<=[", s->n_iota_reshape, s->iota_reshape, "]");
            put_order(b, s->n_iota_transpose, s->iota_transpose);
        } else {
            put_ints(b, "", s->n_tile_devices, s->tile_devices, "");
        }
        ridge_buf_puts(b,
                       s->replicate_on_last_tile_dim ? " last_tile_dim_replicate" : "");
    }
    ridge_buf_puts(b, "}");
}

/* ---- all --------------------------------------------------------------------------
 */

static void add_metadata(writer *w, const Ridge__Hlo__Metadata *m)
{
    ridge_buf b = begin(w);
    if (m == NULL)
        return;
    ridge_buf_printf(&b, "{op_name=\"%s\"", m->op_name);
    if (m->source_file[0])
        ridge_buf_printf(&b, " source_file=\"%s\" source_line=%d", m->source_file,
                         m->source_line);
    if (m->stack_frame_id > 0)
        ridge_buf_printf(&b, " stack_frame_id=%d", m->stack_frame_id);
    ridge_buf_puts(&b, "}");
    add(w, "metadata", &b);
}

static void add_slices(writer *w, const Ridge__Hlo__Instruction *i)
{
    ridge_buf b = begin(w);
    if (i->n_slice_dims == 0)
        return;
    for (size_t k = 0; k < i->n_slice_dims; k++)
        ridge_buf_printf(&b, "%s[%lld:%lld:%lld]", k ? ", " : "{",
                         (long long)i->slice_dims[k]->start,
                         (long long)i->slice_dims[k]->limit,
                         (long long)i->slice_dims[k]->stride);
    ridge_buf_puts(&b, "}");
    add(w, "slice", &b);
}

static void add_plain(writer *w, const Ridge__Hlo__Instruction *i)
{
    if (i->n_dimensions > 0)
        add_ints(w, "dimensions", i->n_dimensions, i->dimensions);
    if (strcmp(i->opcode, "get-tuple-element") == 0)
        add_number(w, "index", i->tuple_index);
    if (i->channel_id > 0)
        add_number(w, "channel_id", i->channel_id);
    if (i->feature_group_count > 1)
        add_number(w, "feature_group_count", i->feature_group_count);
    if (i->batch_group_count > 1)
        add_number(w, "batch_group_count", i->batch_group_count);
    if (i->custom_call_target[0])
        add_text(w, "custom_call_target", "\"", i->custom_call_target, "\"");
    if (i->comparison_direction[0])
        add_text(w, "direction", "", i->comparison_direction, "");
    if (i->is_host_transfer)
        add_text(w, "is_host_transfer", "", "true", "");
    if (i->fusion_kind[0])
        add_text(w, "kind", "", i->fusion_kind, "");
    if (i->backend_config.len > 0) {
        ridge_buf b = begin(w);
        ridge_buf_add(&b, (ridge_str){(const char *)i->backend_config.data,
                                      i->backend_config.len});
        add(w, "backend_config", &b);
    }
}

bool hlo_proto_attributes(ridge_arena *arena, const Ridge__Hlo__Instruction *i,
                          hlo_list *list)
{
    writer w = {.arena = arena, .list = list};
    add_plain(&w, i);
    add_slices(&w, i);
    add_dot(&w, i->dot_dims);
    add_window(&w, i->window);
    add_convolution(&w, i->conv_dims);
    add_precision(&w, i->precision);
    add_devices(&w, i);
    if (i->sharding.len > 0) {
        ridge_buf b = begin(&w);
        put_sharding(arena, i->sharding, 0, &b);
        add(&w, "sharding", &b);
    }
    add_metadata(&w, i->metadata);
    return !w.is_short;
}
