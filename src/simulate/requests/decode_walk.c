/* The time of iterations that only decode, many at once. */
#include "decode_walk.h"

#include <math.h>

#include "speed_table.h"

/* ---- one iteration --------------------------------------------------------------- */

double ridge__host_time(const play_unit *unit, int64_t sequences)
{
    return unit->speed->host_s + unit->speed->host_sequence_s * (double)sequences;
}

static double price_rows(const play_unit *u, int64_t n)
{
    const ridge_serving_speed *s = u->speed;
    const double ranks = (double)u->n_ranks;
    const double padded =
        s->graph_sizes.n > 0
            ? ranks * ridge_graph_padded(&s->graph_sizes, ceil((double)n / ranks))
            : (double)n;
    const double rows =
        ridge_curve_table_at(&s->rows, padded * (double)s->draft.verified);
    const double head = ridge_curve_table_at(&s->head, (double)(n * s->draft.verified));
    const bool drafts = s->draft.verified > 1 && s->draft.draft.n > 0;
    return rows + head +
           (drafts ? ridge_curve_table_at(&s->draft.draft, (double)n) : 0);
}

double ridge__rows_of_decoding(play_unit *unit, int64_t sequences)
{
    if (sequences == 0)
        return 0;
    if (sequences >= unit->n_row)
        return price_rows(unit, sequences);
    double *kept = &unit->row_s[sequences];
    if (*kept < 0)
        *kept = price_rows(unit, sequences);
    return *kept;
}

/* Attention over the step from now: its value, its slope, and for how many steps. */
typedef struct attention_line {
    double at, slope;
    int64_t steps;
} attention_line;

/* A row of a plane at x: values at the knots j and j + 1 of y. */
static void plane_row(const ridge_plane_table *t, double x, int j, double *low,
                      double *high)
{
    const double *z = t->z + j;
    const int next = t->n_y > 1 ? 1 : 0;
    if (t->n_x == 1) {
        *low = z[0];
        *high = z[next];
        return;
    }
    const int i = ridge__knot_below(t->x, t->n_x, x);
    const double share = (x - t->x[i]) / (t->x[i + 1] - t->x[i]);
    const double *a = z + (size_t)i * (size_t)t->n_y, *b = a + t->n_y;
    *low = a[0] + share * (b[0] - a[0]);
    *high = a[next] + share * (b[next] - a[next]);
}

/* One kind of cache: n sequences read y tokens in the mean, dy more each step. */
static void add_line(const ridge_plane_table *t, double n, double y, double dy,
                     attention_line *line)
{
    double low, high;
    if (t->n_y == 1) {
        plane_row(t, n, 0, &low, &high);
        line->at += low;
        return;
    }
    const int j = ridge__knot_below(t->y, t->n_y, y);
    const double width = t->y[j + 1] - t->y[j];
    plane_row(t, n, j, &low, &high);
    const double slope = (high - low) / width;
    line->at += low + slope * (y - t->y[j]);
    line->slope += slope * dy;
    if (dy > 0 && j < t->n_y - 2) {
        const double steps = floor((t->y[j + 1] - y) / dy) + 1;
        if (steps < (double)line->steps)
            line->steps = steps < 1 ? 1 : (int64_t)steps;
    }
}

static attention_line line_of(const play_unit *u, const play_batch *b, int64_t skipped)
{
    attention_line line = {0, 0, INT64_MAX};
    const double n = (double)ridge__batch_decoding(b);
    if (n == 0)
        return line;
    for (int i = 0; i < u->speed->n_caches; i++) {
        const batch_cache *c = &b->caches[i];
        const double read = c->read + c->rising * (double)skipped;
        add_line(&u->speed->caches[i].decode, n, read / n, c->rising / n, &line);
    }
    return line;
}

double ridge__attention_of_decoding(const play_unit *unit, const play_batch *b)
{
    return line_of(unit, b, 0).at;
}

/* ---- many ------------------------------------------------------------------------ */

/* The rank that takes longest, and how long it stays so. */
static attention_line longest_line(play_unit *u, const play_lane *lane, int64_t skipped)
{
    attention_line best = {0, 0, INT64_MAX};
    int64_t steps = INT64_MAX;
    for (int r = 0; r < u->n_ranks; r++) {
        const attention_line line = line_of(u, &lane->batches[r], skipped);
        u->rank_s[r] = line.at;
        u->rank_slope_s[r] = line.slope;
        steps = line.steps < steps ? line.steps : steps;
        if (r == 0 || line.at > best.at ||
            (line.at == best.at && line.slope > best.slope))
            best = line;
    }
    for (int r = 0; r < u->n_ranks; r++) {
        const double faster = u->rank_slope_s[r] - best.slope;
        if (!(faster > 0))
            continue;
        const double meets = floor((best.at - u->rank_s[r]) / faster) + 1;
        if (meets < (double)steps)
            steps = meets < 1 ? 1 : (int64_t)meets;
    }
    best.steps = steps;
    return best;
}

static double series(double first, double slope, int64_t n)
{
    const double m = (double)n;
    return m * first + slope * (m * (m - 1) / 2);
}

/* Steps of a linear time of the chip, behind which the host is hidden or not. */
static walk_piece piece_of(double device, double slope, int64_t most, double host,
                           bool is_hidden)
{
    if (!is_hidden)
        return (walk_piece){most, device + host, slope, device, slope};
    const bool is_below = device < host;
    if ((is_below && slope > 0) || (!is_below && slope < 0)) {
        const double meets = ceil((host - device) / slope);
        if (meets < (double)most)
            most = meets < 1 ? 1 : (int64_t)meets;
    }
    if (is_below)
        return (walk_piece){most, host, 0, device, slope};
    return (walk_piece){most, device, slope, device, slope};
}

double ridge__walk_host(const play_lane *lane)
{
    double host = 0;
    for (int i = 0; i < lane->n_pieces; i++) {
        const walk_piece *w = &lane->pieces[i];
        const double waits = series(w->first_s, w->slope_s, w->steps) -
                             series(w->device_s, w->device_slope_s, w->steps);
        host += waits > 0 ? waits : 0;
    }
    return host;
}

double ridge__walk_decoding(play_unit *unit, play_lane *lane, int64_t most)
{
    int64_t n = 0, steps = 0;
    double total = 0;
    for (int r = 0; r < unit->n_ranks; r++)
        n += ridge__batch_decoding(&lane->batches[r]);
    const double rows = ridge__rows_of_decoding(unit, n);
    const int64_t planned = unit->rules->planned_steps;
    const double host = ridge__host_time(unit, n) / (planned > 1 ? (double)planned : 1);
    lane->n_pieces = 0;
    while (steps < most && lane->n_pieces < WALK_PIECES_MAX) {
        const attention_line line = longest_line(unit, lane, steps);
        const int64_t left = most - steps;
        const walk_piece piece =
            piece_of(rows + line.at, line.slope, line.steps < left ? line.steps : left,
                     host, unit->speed->is_host_hidden);
        lane->pieces[lane->n_pieces++] = piece;
        total += series(piece.first_s, piece.slope_s, piece.steps);
        steps += piece.steps;
    }
    lane->steps = steps;
    return total;
}

/* The least n for which the first n steps take at least so long; n <= piece's. */
static int64_t steps_until(const walk_piece *piece, double within)
{
    const double a = piece->slope_s / 2, b = piece->first_s - a;
    double guess = within / b;
    if (a != 0) {
        const double root = b * b + 4 * a * within;
        guess = root > 0 ? 2 * within / (b + sqrt(root)) : (double)piece->steps;
    }
    int64_t n = guess < (double)piece->steps ? (int64_t)ceil(guess) : piece->steps;
    n = n < 1 ? 1 : n;
    while (n > 1 && series(piece->first_s, piece->slope_s, n - 1) >= within)
        n--;
    while (n < piece->steps && series(piece->first_s, piece->slope_s, n) < within)
        n++;
    return n;
}

double ridge__walk_cut(play_lane *lane, double within_s, walk_stop stop)
{
    double total = 0;
    int64_t steps = 0;
    for (int i = 0; i < lane->n_pieces; i++) {
        walk_piece *piece = &lane->pieces[i];
        double takes = series(piece->first_s, piece->slope_s, piece->steps);
        if (total + takes >= within_s) {
            int64_t n = steps_until(piece, within_s - total);
            if (stop == WALK_BEFORE &&
                total + series(piece->first_s, piece->slope_s, n) > within_s)
                n--;
            piece->steps = n;
            lane->n_pieces = n > 0 ? i + 1 : i;
            total += series(piece->first_s, piece->slope_s, n);
            lane->steps = steps + n;
            return total;
        }
        total += takes;
        steps += piece->steps;
    }
    lane->steps = steps;
    return total;
}
