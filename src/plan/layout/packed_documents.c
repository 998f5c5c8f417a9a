/* Scores of packed documents: how many, how they spread, and the chunks that stand for
 * them. */
#include "ridge/plan_documents.h"
#include "ridge/simulate_chance.h"

#include <math.h>
#include <string.h>

enum {
    QUANTILES = 4096,
    CHUNKS = 2 << RIDGE_DOCUMENTS_CP, /* of a sequence over the most ranks */
    SEQUENCES_CUT = 256,
    SEQUENCES = 4096,
    DOCUMENTS_DRAWN = 500,
    PIECES_MOST = 1 << 23
};

/* Which length is the p-th of all. */
static double length_at(const ridge_length *l, double p)
{
    switch (l->kind) {
    case RIDGE_LENGTH_UNIFORM:
        return l->mean * (1 - l->spread + 2 * l->spread * p);
    case RIDGE_LENGTH_LOGNORMAL: {
        const double sigma2 = log1p(l->spread * l->spread);
        return exp(log(l->mean) - sigma2 / 2 + sqrt(sigma2) * ridge_normal_quantile(p));
    }
    case RIDGE_LENGTH_FIXED:
        break;
    }
    return l->mean;
}

/* Tokens seen before it, summed over the tokens of a document, in the mean of where
 * sequences begin. */
static double seen_in(double length, double seq)
{
    if (length > seq)
        return seq * seq / 3 + (length - seq) * seq / 2;
    return length * length / 2 - length * length * length / (6 * seq);
}

/* The i-th of QUANTILES lengths and its weight. Long ones matter by their square, so
 * the tail of a lognormal is not cut where equal weights would. */
static double node_at(const ridge_length *l, int i, double *weight)
{
    enum { FARTHEST = 16 }; /* standard deviations */
    const double part = (i + 0.5) / QUANTILES;
    *weight = 1;
    if (l->kind != RIDGE_LENGTH_LOGNORMAL)
        return length_at(l, part);
    const double z = FARTHEST * (2 * part - 1);
    const double sigma2 = log1p(l->spread * l->spread);
    *weight = exp(-z * z / 2);
    return exp(log(l->mean) - sigma2 / 2 + sqrt(sigma2) * z);
}

static double mean_context(const ridge_length *l, double seq)
{
    double seen = 0, tokens = 0;
    for (int i = 0; i < QUANTILES; i++) {
        double weight;
        const double length = fmax(1, node_at(l, i, &weight));
        seen += weight * seen_in(length, seq);
        tokens += weight * length;
    }
    return seen / tokens;
}

/* Scores of sequences that are cut from documents one behind the other. */
static double drawn_spread(const ridge_length *l, double seq)
{
    ridge_chance chance = ridge_chance_of(1, 0);
    double left = 0, sum = 0, squares = 0;
    int64_t pieces = 0;
    int n = 0;
    for (; n < SEQUENCES && pieces < PIECES_MOST; n++) {
        double scores = 0;
        for (double room = seq; room > 0; pieces++) {
            left =
                left > 0 ? left : fmax(1, length_at(l, ridge_chance_uniform(&chance)));
            const double piece = fmin(left, room);
            scores += piece * piece / 2;
            left -= piece;
            room -= piece;
        }
        sum += scores;
        squares += scores * scores;
    }
    const double mean = sum / n;
    const double variance = squares / n - mean * mean;
    return variance > 0 ? sqrt(variance) / mean : 0;
}

/* ---- ranks of cp ----------------------------------------------------------------- */

/* Scores of a sequence up to each of its CHUNKS cuts. @return whether pieces are left
 */
static bool draw_scores(const ridge_length *l, double seq, ridge_chance *chance,
                        double *left, double *scores)
{
    double start = 0, before = 0;
    int64_t pieces = 0;
    int cut = 0;
    for (; start < seq && pieces < PIECES_MOST / SEQUENCES_CUT; pieces++) {
        *left = *left > 0 ? *left : fmax(1, length_at(l, ridge_chance_uniform(chance)));
        const double piece = fmin(*left, seq - start);
        for (; cut <= CHUNKS && seq * cut / CHUNKS <= start + piece; cut++) {
            const double age = seq * cut / CHUNKS - start;
            scores[cut] = before + age * age / 2;
        }
        before += piece * piece / 2;
        start += piece;
        *left -= piece;
    }
    for (; cut <= CHUNKS; cut++)
        scores[cut] = before;
    return start >= seq;
}

/* Rank r of n has the r-th of 2 n chunks and the r-th from the end. */
static double busiest(const double *scores, int ranks)
{
    const int h = CHUNKS / (2 * ranks);
    double most = 0;
    for (int r = 0; r < ranks; r++) {
        const int far = CHUNKS - (r + 1) * h;
        most = fmax(most, scores[(r + 1) * h] - scores[r * h] + scores[far + h] -
                              scores[far]);
    }
    return most * ranks;
}

static void cut_for_ranks(const ridge_length *l, double seq, double *wait)
{
    static const uint64_t seed = 1;
    ridge_chance chance = ridge_chance_of(seed, 1);
    double scores[CHUNKS + 1];
    double most[RIDGE_DOCUMENTS_CP] = {0};
    double left = 0, sum = 0;
    for (int n = 0; n < SEQUENCES_CUT; n++) {
        if (!draw_scores(l, seq, &chance, &left, scores))
            break;
        sum += scores[CHUNKS];
        for (int i = 0; i < RIDGE_DOCUMENTS_CP; i++)
            most[i] += busiest(scores, 2 << i);
    }
    for (int i = 0; i < RIDGE_DOCUMENTS_CP; i++)
        wait[i] = sum > 0 ? fmax(0, most[i] / sum - 1) : 0;
}

/* E[L^k] of a whole document, k 1 to 4. */
static double moment(const ridge_length *l, int k)
{
    const double low = l->mean * (1 - l->spread), high = l->mean * (1 + l->spread);
    switch (l->kind) {
    case RIDGE_LENGTH_UNIFORM:
        if (high - low > 1e-9 * l->mean)
            return (pow(high, k + 1) - pow(low, k + 1)) / ((k + 1) * (high - low));
        break;
    case RIDGE_LENGTH_LOGNORMAL:
        return pow(l->mean, k) * pow(1 + l->spread * l->spread, k * (k - 1) / 2.0);
    case RIDGE_LENGTH_FIXED:
        break;
    }
    return pow(l->mean, k);
}

/* The same of so many documents that where they are cut does not count: their number
 * gives way so that their tokens fill the sequence (renewal rewards). */
static double limit_spread(const ridge_length *l, double seq)
{
    const double tokens = moment(l, 1), scores = moment(l, 2) / 2;
    const double r = scores / tokens;
    const double variance = moment(l, 4) / 4 - r * moment(l, 3) + r * r * moment(l, 2);
    return variance > 0 ? sqrt(variance * tokens / seq) / scores : 0;
}

static double spread_of(const ridge_length *l, double seq)
{
    const bool is_many = seq > DOCUMENTS_DRAWN * l->mean * (1 + l->spread * l->spread);
    return is_many ? limit_spread(l, seq) : drawn_spread(l, seq);
}

ridge_status ridge_documents_of(ridge_ctx *cx, const ridge_length *l, double seq,
                                ridge_documents *out)
{
    const double spread_most = l->kind == RIDGE_LENGTH_UNIFORM ? 1 : 10;
    if (!(l->mean >= 1 && l->mean <= 1e9))
        return ridge_fail(cx, RIDGE_E_ARG,
                          "documents of %g tokens: expected 1 to 1e9 in the mean",
                          l->mean);
    if (!(l->spread >= 0 && l->spread <= spread_most))
        return ridge_fail(cx, RIDGE_E_ARG,
                          "a spread of documents of %g: expected 0 to "
                          "%g of the mean",
                          l->spread, spread_most);
    *out = (ridge_documents){.tokens = fmin(seq, 2 * mean_context(l, seq)),
                             .spread = spread_of(l, seq)};
    cut_for_ranks(l, seq, out->cp_wait);
    return RIDGE_OK;
}

static bool sees_documents(const ridge_mixer *m, int64_t tokens)
{
    const bool has_scores =
        m->kind == RIDGE_MIXER_ATTENTION || m->kind == RIDGE_MIXER_MLA;
    return has_scores && m->is_causal && !m->is_cross && m->compress_ratio == 0 &&
           (m->window == 0 || m->window > tokens);
}

ridge_status ridge_model_with_documents(ridge_ctx *cx, const ridge_model *model,
                                        double tokens, const ridge_model **out)
{
    const int64_t chunk = tokens < 1 ? 1 : (int64_t)round(tokens);
    ridge_model *made = ridge_new(ridge_ctx_arena(cx), ridge_model, 1);
    ridge_layer *layers =
        ridge_new(ridge_ctx_arena(cx), ridge_layer, (size_t)model->n_layers + 1);
    if (made == NULL || layers == NULL)
        return ridge_fail_nomem(cx);
    *made = *model;
    for (int i = 0; i < model->n_layers; i++) {
        layers[i] = model->layers[i];
        if (!sees_documents(&layers[i].mixer, chunk))
            continue;
        layers[i].mixer.window = chunk;
        layers[i].mixer.is_window_chunked = true;
    }
    made->layers = layers;
    *out = made;
    return RIDGE_OK;
}

double ridge_documents_wait(const ridge_documents *documents, double replicas,
                            double seqs)
{
    if (documents->spread <= 0 || replicas < 2 || seqs <= 0)
        return 0;
    return documents->spread / sqrt(seqs) * ridge_normal_largest(replicas);
}

double ridge_documents_cp_wait(const ridge_documents *documents, double cp, double seqs)
{
    if (documents->tokens <= 0 || cp < 2 || seqs <= 0)
        return 0;
    const double at = fmin(log2(cp) - 1, RIDGE_DOCUMENTS_CP - 1);
    const int low = (int)floor(at);
    const int high = low + 1 < RIDGE_DOCUMENTS_CP ? low + 1 : low;
    const double *wait = documents->cp_wait;
    return (wait[low] + (wait[high] - wait[low]) * (at - low)) / sqrt(seqs);
}
