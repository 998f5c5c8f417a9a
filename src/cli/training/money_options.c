/*
 * Reads the options that tell where a training run takes place.
 */
#include "money_options.h"

#include <string.h>

static const cli_option names[] = {CLI_MONEY_OPTIONS};

bool cli_money_is_asked(const cli_run *run)
{
    for (size_t i = 0; i < RIDGE_COUNT_OF(names); i++) {
        if (cli_option_text(run, names[i].name) != NULL)
            return true;
    }
    return false;
}

/* Names the option that a message is about. */
static ridge_status noted(cli_run *run, const char *name, ridge_status st)
{
    if (st != RIDGE_OK)
        ridge_ctx_note(run->cx, "--%s", name);
    return st;
}

static ridge_status read_price(cli_run *run, const ridge_chip *chip,
                               ridge_money_request *out)
{
    const char *text = cli_option_text(run, "price");
    out->has_price = text != NULL || chip->n_prices > 0;
    if (!out->has_price)
        return RIDGE_OK;
    return noted(
        run, "price",
        ridge_price_choose(run->cx, chip, text == NULL ? "" : text, &out->price));
}

static ridge_status read_failures(cli_run *run, const ridge_catalog *catalog,
                                  const ridge_chip *chip, ridge_money_request *out)
{
    const char *text = cli_option_text(run, "failures");
    const char *mtbf = cli_option_text(run, "mtbf");
    if (text != NULL && *text == '\0') /* where it is a flag: those of the chip */
        text = NULL;
    if (mtbf != NULL && text != NULL) {
        return ridge_fail(run->cx, RIDGE_E_ARG,
                          "both --mtbf and --failures: tell one of them");
    }
    if (mtbf != NULL)
        return noted(run, "mtbf", ridge_mtbf_parse(run->cx, mtbf, out));
    out->is_reliable = text != NULL && strcmp(text, "none") == 0;
    if (out->is_reliable)
        return RIDGE_OK;
    if (text == NULL)
        return ridge_failure_of_chip(run->cx, catalog, chip, &out->failures);
    return noted(run, "failures",
                 ridge_failure_find(run->cx, catalog, text, &out->failures));
}

static ridge_status read_time(cli_run *run, const char *name, bool *has, double *out)
{
    const char *text = cli_option_text(run, name);
    *has = text != NULL;
    return text == NULL ? RIDGE_OK
                        : noted(run, name, ridge_duration_parse(run->cx, text, out));
}

/* A number from low to high; 0 when it was not given. */
static ridge_status read_number(cli_run *run, const char *name, double low, double high,
                                double *out)
{
    const char *text = cli_option_text(run, name);
    double v = 0;
    if (text == NULL)
        return RIDGE_OK;
    if (!ridge_parse_double(ridge_str_of(text), &v) || !(v >= low && v <= high)) {
        return ridge_fail(run->cx, RIDGE_E_ARG, "--%s '%.40s': expected %g to %g", name,
                          text, low, high);
    }
    *out = v;
    return RIDGE_OK;
}

static ridge_status read_spares(cli_run *run, ridge_money_request *out)
{
    double spares = 0;
    RIDGE_TRY(cli_option_count(run, "spares", 0, &spares));
    if (spares > 1e6 || spares != (double)(int64_t)spares) {
        return ridge_fail(run->cx, RIDGE_E_ARG,
                          "--spares: expected a whole number of nodes, at most 1e6");
    }
    out->spare_nodes = (int64_t)spares;
    return RIDGE_OK;
}

static ridge_status read_storage(cli_run *run, ridge_money_request *out)
{
    RIDGE_TRY(cli_option_bytes(run, "storage", 0, &out->storage_bytes_per_s));
    if (cli_option_text(run, "storage") != NULL && !(out->storage_bytes_per_s > 0))
        return ridge_fail(run->cx, RIDGE_E_ARG,
                          "--storage: expected more than 0 bytes a second");
    return RIDGE_OK;
}

static ridge_status read_all(cli_run *run, const ridge_chip *chip, bool has_price,
                             ridge_money_request *out)
{
    const ridge_catalog *catalog = NULL;
    const char *site = cli_option_text(run, "site");
    const char *checkpoint = cli_option_text(run, "checkpoint");
    ridge_money_request r = {0};
    RIDGE_TRY(cli_catalog(run, &catalog));
    RIDGE_TRY(
        noted(run, "site",
              ridge_site_find(run->cx, catalog,
                              site == NULL ? RIDGE_SITE_DEFAULT : site, &r.site)));
    if (has_price)
        RIDGE_TRY(read_price(run, chip, &r));
    RIDGE_TRY(read_failures(run, catalog, chip, &r));
    if (checkpoint != NULL)
        RIDGE_TRY(
            noted(run, "checkpoint", ridge_checkpoint_parse(run->cx, checkpoint, &r)));
    RIDGE_TRY(read_storage(run, &r));
    RIDGE_TRY(read_time(run, "restart", &r.has_restart, &r.restart_s));
    RIDGE_TRY(read_time(run, "repair", &r.has_repair, &r.repair_s));
    RIDGE_TRY(read_spares(run, &r));
    RIDGE_TRY(read_number(run, "watts", 0.1, 1e6, &r.watts_per_chip));
    RIDGE_TRY(read_number(run, "pue", 1, 5, &r.pue));
    RIDGE_TRY(read_number(run, "kwh-price", 0, 1e3, &r.usd_per_kwh));
    *out = r;
    return RIDGE_OK;
}

ridge_status cli_money(cli_run *run, const ridge_chip *chip, ridge_money_request *out)
{
    return read_all(run, chip, true, out);
}

ridge_status cli_money_unpriced(cli_run *run, const ridge_chip *chip,
                                ridge_money_request *out)
{
    return read_all(run, chip, false, out);
}
