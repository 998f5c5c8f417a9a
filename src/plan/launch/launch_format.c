/* Which framework a file is for, by its content, and the reader that takes it. */
#include "launch_read.h"

#include <string.h>

static const size_t FILE_BYTES_MOST = (size_t)4 << 20;

static const struct {
    const char *text, *what;
} launchers[] = {
#define LAUNCHER_ROW(name, text, what, is_read) {text, what},
    RIDGE_LAUNCHER_LIST(LAUNCHER_ROW)
#undef LAUNCHER_ROW
};

const char *ridge_launcher_text(ridge_launcher launcher)
{
    return launchers[launcher].text;
}

const char *ridge_launcher_what(ridge_launcher launcher)
{
    return launchers[launcher].what;
}

ridge_status ridge_launcher_parse(ridge_ctx *cx, const char *text, ridge_launcher *out)
{
    const char *names[RIDGE_LAUNCHER_COUNT];
    for (int i = 0; i < RIDGE_LAUNCHER_COUNT; i++) {
        names[i] = launchers[i].text;
        if (strcmp(text, names[i]) == 0) {
            *out = (ridge_launcher)i;
            return RIDGE_OK;
        }
    }
    return ridge_fail_name(cx, RIDGE_E_ARG, "launcher", text, names,
                           RIDGE_LAUNCHER_COUNT);
}

/* ---- what a text is -------------------------------------------------------------- */

typedef enum syntax { SYNTAX_ARGS, SYNTAX_YAML, SYNTAX_TOML, SYNTAX_JSON } syntax;

/* Lines by their first letters: what most of them look like decides. */
static syntax guess_syntax(ridge_str text)
{
    int options = 0;
    int tables = 0;
    int keys = 0;
    ridge_str rest = text;
    bool is_first = true;
    while (rest.p != NULL) {
        const ridge_str line = ridge_str_trim(ridge_str_cut(&rest, '\n'));
        if (line.n == 0 || line.p[0] == '#')
            continue;
        if (is_first && line.p[0] == '{')
            return SYNTAX_JSON;
        is_first = false;
        const bool is_option = line.n > 2 && line.p[0] == '-' && line.p[1] == '-';
        const char *colon = memchr(line.p, ':', line.n);
        const char *space = memchr(line.p, ' ', line.n);
        const bool is_key = colon != NULL && (space == NULL || colon < space) &&
                            (colon + 1 == line.p + line.n || colon[1] == ' ');
        keys += is_key ? 1 : 0;
        options += is_option && !is_key ? 1 : 0;
        tables +=
            line.p[0] == '[' && line.p[line.n - 1] == ']' && colon == NULL ? 1 : 0;
    }
    if (tables > 0 && options == 0 && keys == 0)
        return SYNTAX_TOML;
    return keys > options ? SYNTAX_YAML : SYNTAX_ARGS;
}

/* What follows @p mark in a name; NULL: it is not there. */
static const char *after(const char *name, const char *mark)
{
    const char *at = strstr(name, mark);
    return at == NULL ? NULL : at + strlen(mark);
}

/* Primus: modules.NAME.overrides.OPTION, and modules.NAME.model. */
static bool open_primus(launch_settings *s)
{
    bool is_primus = false;
    for (int i = 0; i < s->n; i++) {
        const char *module = after(s->all[i].name, "modules.");
        const char *option = module == NULL ? NULL : after(module, ".overrides.");
        const char *dot = module == NULL ? NULL : strchr(module, '.');
        if (option != NULL) {
            s->all[i].name = option;
            is_primus = true;
        } else if (dot != NULL && strcmp(dot, ".model") == 0) {
            s->all[i].name = "model";
        }
    }
    return is_primus;
}

/* Megatron's tests: MODEL_ARGS.--OPTION. */
static bool open_test(launch_settings *s)
{
    bool is_test = false;
    for (int i = 0; i < s->n; i++) {
        const char *option = after(s->all[i].name, "MODEL_ARGS.--");
        if (option != NULL) {
            s->all[i].name = option;
            is_test = true;
        }
    }
    return is_test;
}

static int count_known(const launch_settings *s, const launch_option *options)
{
    ridge_launch ignored = {0};
    launch_sheet sheet;
    if (launch_sheet_fill(s, options, false, &ignored, &sheet) != RIDGE_OK)
        return 0;
    return ignored.read;
}

/* What Primus's own base configuration sets where a file is silent.
 * @source primus-2025, configs/modules/megatron/trainer_base.yaml */
static const launch_setting primus_presets[] = {{"bf16", "true", 0},
                                                {"micro-batch-size", "2", 0},
                                                {"global-batch-size", "128", 0},
                                                {"seq-length", "4096", 0}};

static ridge_status add_presets(launch_settings *s, ridge_launch *launch)
{
    for (size_t p = 0; p < RIDGE_COUNT_OF(primus_presets); p++) {
        const launch_setting *preset = &primus_presets[p];
        bool is_stated = false;
        for (int i = 0; i < s->n && !is_stated; i++)
            is_stated = launch_name_is(s->all[i].name, preset->name);
        if (is_stated)
            continue;
        launch_notes_add(s->cx, &launch->assumed, "%s %s", preset->name, preset->value);
        RIDGE_TRY(launch_settings_add(s, ridge_str_of(preset->name), preset->value, 0));
    }
    return RIDGE_OK;
}

typedef struct format {
    const char *name;
    ridge_launcher launcher;
    const launch_option *options;
    ridge_status (*read)(launch_sheet *, const ridge_launch_query *, ridge_launch *);
} format;

static const format formats[] = {
    {"Megatron-LM arguments", RIDGE_LAUNCHER_MEGATRON, launch_megatron_options,
     launch_megatron_read},
    {"Megatron-LM yaml", RIDGE_LAUNCHER_MEGATRON, launch_megatron_options,
     launch_megatron_read},
    {"Primus yaml", RIDGE_LAUNCHER_MEGATRON, launch_megatron_options,
     launch_megatron_read},
    {"MaxText yml", RIDGE_LAUNCHER_MAXTEXT, launch_maxtext_options,
     launch_maxtext_read},
    {"torchtitan toml", RIDGE_LAUNCHER_TORCHTITAN, launch_torchtitan_options,
     launch_torchtitan_read},
};

enum { FORMAT_ARGS, FORMAT_TEST, FORMAT_PRIMUS, FORMAT_MAXTEXT, FORMAT_TITAN };

static ridge_status fail_foreign(const launch_settings *s, const char *what)
{
    return ridge_fail(s->cx, RIDGE_E_PARSE,
                      "%s: %s: give Megatron-LM arguments, a MaxText yml or a "
                      "torchtitan toml",
                      s->file, what);
}

static ridge_status read_yaml(ridge_str text, launch_settings *s, int *out)
{
    RIDGE_TRY(launch_yaml_read(text, s));
    if (open_test(s)) {
        *out = FORMAT_TEST;
    } else if (open_primus(s)) {
        *out = FORMAT_PRIMUS;
    } else {
        const int megatron = count_known(s, launch_megatron_options);
        const int maxtext = count_known(s, launch_maxtext_options);
        if (megatron + maxtext == 0)
            return fail_foreign(s, "none of its keys is one of a training launcher");
        *out = maxtext >= megatron ? FORMAT_MAXTEXT : FORMAT_TEST;
    }
    return RIDGE_OK;
}

static ridge_status read_settings(ridge_str text, launch_settings *s, int *out)
{
    switch (guess_syntax(text)) {
    case SYNTAX_JSON:
        return fail_foreign(s, "JSON launch configurations are not read");
    case SYNTAX_TOML:
        *out = FORMAT_TITAN;
        return launch_toml_read(text, s);
    case SYNTAX_YAML:
        return read_yaml(text, s, out);
    case SYNTAX_ARGS:
        break;
    }
    *out = FORMAT_ARGS;
    return launch_args_read(text, s);
}

ridge_status ridge_launch_parse(ridge_ctx *cx, ridge_str text, const char *file,
                                const ridge_launch_query *query, ridge_launch *out)
{
    launch_settings settings = {.cx = cx, .file = file};
    ridge_launch launch = {.path = file, .knobs = ridge_knobs_free()};
    launch_sheet sheet;
    int index = FORMAT_ARGS;
    RIDGE_TRY(read_settings(text, &settings, &index));
    const format *f = &formats[index];
    launch.format = f->name;
    launch.launcher = f->launcher;
    if (index == FORMAT_PRIMUS)
        RIDGE_TRY(add_presets(&settings, &launch));
    RIDGE_TRY(launch_sheet_fill(&settings, f->options, query->model != NULL, &launch,
                                &sheet));
    if (launch.read == 0)
        return fail_foreign(&settings, "no option of a training launcher in it");
    RIDGE_TRY(f->read(&sheet, query, &launch));
    *out = launch;
    return RIDGE_OK;
}

ridge_status ridge_launch_read(ridge_ctx *cx, const char *path,
                               const ridge_launch_query *query, ridge_launch *out)
{
    ridge_str text;
    const char *copy = ridge_str_dup(ridge_ctx_arena(cx), ridge_str_of(path));
    if (copy == NULL)
        return ridge_fail_nomem(cx);
    RIDGE_TRY(ridge_file_read(cx, path, FILE_BYTES_MOST, &text));
    return ridge_launch_parse(cx, text, copy, query, out);
}

const ridge_stack *ridge_launcher_stack(ridge_launcher launcher,
                                        const ridge_catalog *catalog,
                                        const ridge_chip *chip)
{
    /* words of data/stacks: today's releases, which read such files */
    static const char *const words[RIDGE_LAUNCHER_COUNT] = {
        [RIDGE_LAUNCHER_MEGATRON] = "Megatron-Core",
        [RIDGE_LAUNCHER_MEGATRON_BRIDGE] = "Megatron-Core",
        [RIDGE_LAUNCHER_MAXTEXT] = "MaxText",
        [RIDGE_LAUNCHER_TORCHTITAN] = "torchtitan",
        [RIDGE_LAUNCHER_DEEPSPEED] = "DeepSpeed",
        [RIDGE_LAUNCHER_JAX] = "MaxText"};
    return ridge_stack_of_run(catalog, chip, words[launcher]);
}

const ridge_stack *ridge_launch_stack(const ridge_launch *launch,
                                      const ridge_catalog *catalog,
                                      const ridge_chip *chip)
{
    return strstr(launch->format, "Primus") != NULL
               ? ridge_stack_of_run(catalog, chip, "Primus")
               : ridge_launcher_stack(launch->launcher, catalog, chip);
}
