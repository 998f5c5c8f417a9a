/* The sums of a whole run: checkpoints, goodput, days, dollars and energy, from a
 * layout's step time and what is known of the place where it runs. */
#include "ridge/plan_money.h"

#include <math.h>

double ridge_checkpoint_bytes(const ridge_model *model, const ridge_layout *layout)
{
    const ridge_params params = ridge_model_params(model);
    const ridge_policy policy = ridge_policy_with_optimizer(
        ridge_precision_policy(layout->precision), layout->optimizer);
    return (double)params.total * ridge_policy_state_bytes(&policy);
}

static const double GOODPUT_LEAST = 1e-3;

/* Seconds to move bytes; 0 where the rate is not known. */
static double move_s(double bytes, double bytes_per_s)
{
    return bytes_per_s > 0 ? bytes / bytes_per_s : 0;
}

/* Each chip copies its part of the state to its host. */
static double copy_s(const ridge_slice *slice, double bytes)
{
    const ridge_chip *chip = slice->chip;
    const double link = chip->host_link_bytes_per_s > 0 ? chip->host_link_bytes_per_s
                                                        : chip->pcie_bytes_per_s;
    return move_s(bytes / (double)slice->chips, link);
}

static void read_checkpoint(const ridge_train_request *r, const ridge_layout *layout,
                            const ridge_money_request *money, ridge_money *out)
{
    const double nodes = (double)r->slice->hosts;
    const double own = money->storage_bytes_per_s;
    const double bytes = ridge_checkpoint_bytes(r->model, layout);
    out->checkpoint_bytes = bytes;
    out->write_s =
        move_s(bytes, own > 0 ? own : ridge_site_write_bytes_per_s(money->site, nodes));
    out->load_s =
        move_s(bytes, own > 0 ? own : ridge_site_read_bytes_per_s(money->site, nodes));
    out->copy_s = copy_s(r->slice, bytes);
}

/* The terms of one way to checkpoint, at its best interval. */
static ridge_reliability job_of(const ridge_money *run,
                                const ridge_money_request *money, double mtbf_s,
                                bool is_async)
{
    const double restart_s =
        money->has_restart ? money->restart_s : money->site->restart_s;
    ridge_reliability job = {.mtbf_s = mtbf_s, .restart_s = restart_s + run->load_s};
    /* While it cannot be told from the chip's link, the copy takes as long as writing.
     */
    const bool is_beside = is_async && run->copy_s > 0 && run->copy_s < run->write_s;
    job.blocked_s = is_beside ? run->copy_s : run->write_s;
    job.lag_s = is_beside ? run->write_s : 0;
    job.interval_s = ridge_checkpoint_interval(&job);
    return job;
}

static double goodput_at(ridge_reliability job, double interval_s)
{
    job.interval_s = interval_s;
    return ridge_goodput_of(&job).useful;
}

/* Whole steps between checkpoints: the better neighbour of the best interval, or the
 * nearest to one's own. */
static void choose_interval(const ridge_money_request *money, double step_s,
                            ridge_money *run)
{
    ridge_reliability *job = &run->job;
    if (money->has_interval) /* one checkpoint is written before the next */
        job->interval_s = fmax(money->interval_s, job->lag_s - job->blocked_s);
    if (isinf(job->interval_s)) {
        run->interval_steps = (double)INFINITY;
        return;
    }
    double steps = floor(job->interval_s / step_s);
    if (steps < 1 ||
        goodput_at(*job, (steps + 1) * step_s) > goodput_at(*job, steps * step_s))
        steps++;
    if (money->has_interval)
        steps = ceil(job->interval_s / step_s);
    run->interval_steps = steps;
    job->interval_s = steps * step_s;
}

static void read_goodput(const ridge_train_request *r, const ridge_train_price *price,
                         const ridge_money_request *money, ridge_money *run)
{
    const double mtbf_s = ridge_money_mtbf_s(r->slice, money);
    run->goodput = 1;
    run->spare_availability = 1;
    run->has_goodput = mtbf_s > 0 && run->write_s > 0 &&
                       (money->has_restart || money->site->restart_s > 0);
    if (!run->has_goodput)
        return;
    const ridge_reliability other = job_of(run, money, mtbf_s, !money->is_async);
    run->job = job_of(run, money, mtbf_s, money->is_async);
    run->young_s = ridge_checkpoint_interval_young(run->job.blocked_s, mtbf_s);
    run->daly_s = ridge_checkpoint_interval_daly(run->job.blocked_s, mtbf_s);
    choose_interval(money, price->step_time_s, run);
    run->other_useful = ridge_goodput_of(&other).useful;
    run->share = ridge_goodput_of(&run->job);
    const double repair_s = money->has_repair ? money->repair_s : money->site->repair_s;
    if (repair_s > 0 && !isinf(mtbf_s)) {
        run->spare_availability =
            ridge_spares_availability(mtbf_s, repair_s, money->spare_nodes);
    }
    run->goodput = run->share.useful * run->spare_availability;
    run->is_stuck = run->goodput < GOODPUT_LEAST;
}

static void add_energy(const ridge_money_request *money, double tokens_per_s,
                       double step_s, double wall_s, ridge_money *run)
{
    run->joules_per_token = run->mean_watts / (tokens_per_s * run->goodput);
    run->joules_per_step = run->mean_watts * step_s;
    run->kwh = run->mean_watts * wall_s / (1000 * RIDGE_HOUR_S);
    run->energy_usd = run->kwh * money->usd_per_kwh;
}

ridge_money ridge_train_money(const ridge_train_request *r,
                              const ridge_train_price *price,
                              const ridge_money_request *money)
{
    const ridge_slice *slice = r->slice;
    const double chips = (double)slice->chips;
    ridge_money run = {.power = ridge_power_of_step(slice, money, price)};
    read_checkpoint(r, &price->layout, money, &run);
    read_goodput(r, price, money, &run);
    run.paid_chips =
        chips + (double)money->spare_nodes * (chips / (double)slice->hosts);
    const double spare_watts = run.power.idle_watts > 0
                                   ? run.power.idle_watts * run.power.pue
                                   : run.power.meter_watts;
    run.mean_watts =
        run.power.meter_watts * chips + spare_watts * (run.paid_chips - chips);
    if (run.is_stuck)
        return run;
    const double tokens_per_s = price->tokens_per_s_per_chip * chips;
    const double usd_per_s =
        run.paid_chips * money->price.usd_per_chip_hour / RIDGE_HOUR_S;
    if (money->has_price)
        run.usd_per_million_tokens = usd_per_s / (tokens_per_s * run.goodput) * 1e6;
    const double useful_s = price->has_total ? price->days * RIDGE_DAY_S : 0;
    const double wall_s = useful_s > 0 ? useful_s / run.goodput : 0;
    if (run.has_goodput)
        run.failures = wall_s / run.job.mtbf_s;
    run.days = wall_s / RIDGE_DAY_S;
    run.chip_hours = wall_s / RIDGE_HOUR_S * run.paid_chips;
    run.usd = money->has_price ? run.chip_hours * money->price.usd_per_chip_hour : 0;
    add_energy(money, tokens_per_s, price->step_time_s, wall_s, &run);
    return run;
}

double ridge_run_mfu(double flops_per_token, double tokens, double chip_hours,
                     double peak_flops_per_s)
{
    return flops_per_token * tokens / (chip_hours * RIDGE_HOUR_S * peak_flops_per_s);
}
