/*
 * The plain rooflines of serving. Symbols: n chips of C FLOP/s and W bytes/s of HBM, P
 * parameters of w bytes, B sequences of kv bytes each, T prompt and G output tokens.
 */
#include "ridge/plan_serving_roofline.h"

#include <math.h>

/* Narrower weights than the checkpoint's are as narrow as asked; others its own.
 * Experts have a format of their own. */
static void set_weights(const ridge_model *model, const ridge_params *params,
                        const ridge_serving_formats *f, ridge_roofline_service *out)
{
    const double n = (double)params->experts;
    const double experts = n * ridge_dtype_bytes(f->expert);
    const double asked =
        experts + ((double)params->total - n) * ridge_dtype_bytes(f->weight);
    out->weight_bytes = fmin(ridge_model_weight_bytes(model), asked);
    if (n <= 0)
        return;
    out->expert_bytes = out->weight_bytes * experts / asked;
    out->expert_share = (double)params->experts_active / n;
}

/* Sequences choose their experts one by one, at random: what none chose is not read. */
static double bytes_read(const ridge_roofline_service *service, double sequences)
{
    return service->weight_bytes -
           service->expert_bytes * pow(1 - service->expert_share, sequences);
}

/* The rate at which all products of a token run one after the other, those of experts
 * in their own arithmetic. */
static double peak_of(const ridge_chip *chip, const ridge_params *params,
                      const ridge_serving_formats *f)
{
    const double dense = ridge_chip_peak(chip, f->compute, NULL);
    const double all = (double)params->matmul_active;
    const double experts = (double)params->experts_active;
    if (experts <= 0)
        return dense;
    const double expert = ridge_chip_peak(chip, f->expert_compute, NULL);
    return all / ((all - experts) / dense + experts / expert);
}

ridge_roofline_service ridge_roofline_service_of(const ridge_model *model,
                                                 const ridge_slice *slice,
                                                 const ridge_serving_formats *formats,
                                                 double context_tokens)
{
    const ridge_params params = ridge_model_params(model);
    const ridge_dtype cache = formats->cache;
    ridge_roofline_service service = {
        .chips = (double)slice->chips,
        .peak_flops_per_s = peak_of(slice->chip, &params, formats),
        .hbm_bytes_per_s = slice->chip->hbm_bytes_per_s,
        .hbm_bytes = slice->chip->hbm_bytes,
        .active_params = (double)params.matmul_active,
        .kv_bytes_per_token = ridge_model_kv(model, cache).bytes_per_token,
        .kv_bytes = ridge_model_kv_bytes(model, cache, context_tokens, false),
    };
    set_weights(model, &params, formats, &service);
    return service;
}

ridge_decode_roofline ridge_roofline_decode(const ridge_roofline_service *service,
                                            double sequences)
{
    const double bytes_per_s = service->chips * service->hbm_bytes_per_s;
    const double flops_per_s = service->chips * service->peak_flops_per_s;
    ridge_decode_roofline r = {.kv_bytes = sequences * service->kv_bytes};
    r.total_bytes = r.kv_bytes + service->weight_bytes;
    r.fits = r.total_bytes <= service->chips * service->hbm_bytes;
    r.kv_load_s = r.kv_bytes / bytes_per_s;
    r.weight_load_s = bytes_read(service, sequences) / bytes_per_s;
    r.flops_s = 2 * sequences * service->active_params / flops_per_s;
    r.step_s = r.kv_load_s + fmax(r.flops_s, r.weight_load_s);
    r.tokens_per_s = sequences / r.step_s;
    r.tokens_per_s_per_chip = r.tokens_per_s / service->chips;
    return r;
}

double ridge_roofline_batch_most(const ridge_roofline_service *service)
{
    const double left = service->chips * service->hbm_bytes - service->weight_bytes;
    if (left <= 0)
        return 0;
    return service->kv_bytes > 0 ? floor(left / service->kv_bytes) : (double)INFINITY;
}

double ridge_roofline_batch_crossover(const ridge_roofline_service *service)
{
    return service->kv_bytes > 0 ? service->weight_bytes / service->kv_bytes
                                 : (double)INFINITY;
}

/* @source scaling-book-2025 chapter 7: T_math = 2BDF/C against T_mem = wDF/W */
double ridge_roofline_batch_critical(double peak_flops_per_s, double hbm_bytes_per_s,
                                     double weight_bytes)
{
    return peak_flops_per_s / hbm_bytes_per_s * weight_bytes / 2;
}

double ridge_roofline_chips_least(double bytes, double hbm_bytes)
{
    return ceil(bytes / hbm_bytes);
}

double ridge_roofline_full_step(double hbm_bytes, double hbm_bytes_per_s)
{
    return hbm_bytes / hbm_bytes_per_s;
}

double ridge_roofline_prefill(const ridge_roofline_service *service, double tokens,
                              double score_flops, double mfu)
{
    const double flops = 2 * service->active_params * tokens + score_flops;
    return flops / (service->chips * service->peak_flops_per_s * mfu);
}

double ridge_roofline_prefix_share(double prompt_tokens, double cached_tokens)
{
    return (prompt_tokens - cached_tokens) / prompt_tokens;
}

double ridge_roofline_requests_per_s(double sequences, double step_s,
                                     double output_tokens)
{
    return sequences / (step_s * output_tokens);
}

double ridge_roofline_prefill_ratio(double prefill_s, double sequences, double step_s,
                                    double output_tokens)
{
    return prefill_s * ridge_roofline_requests_per_s(sequences, step_s, output_tokens);
}

ridge_churn ridge_roofline_churn(double sequences, double prompt_tokens,
                                 double output_tokens)
{
    const double ending = sequences / output_tokens;
    return (ridge_churn){.sequences_per_step = ending,
                         .tokens_per_step = ending * (prompt_tokens + output_tokens)};
}

/* Sums over i = 1 .. n of i, and of i (i + 1) / 2. */
ridge_sampling_flops ridge_roofline_sampling(double linear_flops, double score_flops,
                                             double tokens, bool has_cache)
{
    const double pairs = tokens * (tokens + 1) / 2;
    if (has_cache)
        return (ridge_sampling_flops){linear_flops * tokens, score_flops * pairs};
    return (ridge_sampling_flops){linear_flops * pairs,
                                  score_flops * pairs * (tokens + 2) / 3};
}

/* ---- sharding -------------------------------------------------------------------- */

/* @source scaling-book-2025 chapter 7: T_hbm = 2DF/(Y W_hbm), T_ici = 2BD/W_ici */
double ridge_roofline_tp_memory(double d_ff, double batch_tokens, double beta)
{
    return d_ff / (batch_tokens * beta);
}

/* @source scaling-book-2025 chapter 7, appendix C: bytes / Y < W_one_way T_hop */
double ridge_roofline_tp_latency(double activation_bytes, double link_bytes_per_s,
                                 double hop_s)
{
    return activation_bytes / (link_bytes_per_s * hop_s);
}

/* The least of a / X + c X / n is where both are equal. */
ridge_stationary_2d ridge_roofline_stationary_on(const ridge_stationary_axes *axes,
                                                 double chips, double d_model,
                                                 double d_ff, double row_s)
{
    const double x = sqrt(chips * d_model / (axes->across * d_ff));
    const double yz = chips / x;
    return (ridge_stationary_2d){.x = x,
                                 .yz = yz,
                                 .time_s = 2 * row_s *
                                           (d_model / (axes->across * x) + d_ff / yz),
                                 .time_1d_s = 2 * row_s * d_model / axes->all};
}

double ridge_roofline_stationary_on_from(const ridge_stationary_axes *axes,
                                         double d_model, double d_ff)
{
    return 4 * axes->all * axes->all * d_ff / (axes->across * d_model);
}

static const ridge_stationary_axes THREE_AXES = {.all = 3, .across = 2};

ridge_stationary_2d ridge_roofline_stationary_2d(double chips, double d_model,
                                                 double d_ff, double batch_tokens,
                                                 double element_bytes,
                                                 double axis_bytes_per_s)
{
    return ridge_roofline_stationary_on(&THREE_AXES, chips, d_model, d_ff,
                                        element_bytes * batch_tokens /
                                            axis_bytes_per_s);
}

double ridge_roofline_stationary_2d_from(double d_model, double d_ff)
{
    return ridge_roofline_stationary_on_from(&THREE_AXES, d_model, d_ff);
}
