/* Small traces for tests. */
#include "trace_text.h"

#include <string.h>

void trace_fixture_open(trace_fixture *f, const char *name)
{
    memset(f, 0, sizeof *f);
    f->cx = ridge_ctx_open();
    assert_non_null(f->cx);
    f->folder = own_folder(f->cx, name);
}

void trace_fixture_close(trace_fixture *f)
{
    own_folder_remove(f->folder);
    ridge_ctx_close(f->cx);
}

void trace_profile(trace_fixture *f, const char *document)
{
    const ridge_profile_request request = {
        .path = own_file(f->cx, f->folder, "t.json", document, strlen(document))};
    assert_done(f->cx, ridge_profile_read(f->cx, &request, &f->profile));
    assert_parts_sum(&f->profile);
}

void trace_profile_events(trace_fixture *f, const char *events)
{
    const char *document =
        ridge_sprintf(ridge_ctx_arena(f->cx), "{\"traceEvents\": [%s]}", events);
    assert_non_null(document);
    trace_profile(f, document);
}

void trace_kernel(ridge_buf *out, const char *name, int stream, long long start_ns,
                  long long length_ns, const char *args)
{
    ridge_buf_printf(
        out,
        "%s{\"ph\": \"X\", \"cat\": \"kernel\", \"name\": \"%s\", \"pid\": "
        "0, \"tid\": %d, \"ts\": %lld.%03lld, \"dur\": %lld.%03lld%s}",
        out->n > 0 ? ",\n" : "", name, stream, start_ns / 1000, start_ns % 1000,
        length_ns / 1000, length_ns % 1000, args);
}

long long trace_part(const trace_fixture *f, ridge_profile_part part)
{
    return f->profile.times.part_ns[part];
}

void assert_parts_sum(const ridge_profile *p)
{
    for (int i = 0; i < p->n_devices; i++) {
        for (int k = 0; k < p->devices[i].n_steps; k++) {
            const ridge_profile_step *s = &p->devices[i].steps[k];
            int64_t sum = 0;
            for (int part = 0; part < RIDGE_PROFILE_PART_COUNT; part++) {
                assert_true(s->times.part_ns[part] >= 0);
                sum += s->times.part_ns[part];
            }
            assert_int_equal(sum, s->times.total_ns);
            assert_int_equal(sum, s->end_ns - s->start_ns);
        }
    }
}
