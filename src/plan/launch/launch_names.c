/* @source maxtext-2025, configs/models; torchtitan-2025, models and train_configs */
#include "launch_names.h"

#include "ridge/base.h"

#include <string.h>

/* clang-format off */
static const launch_name rows[] = {
    {"llama-2-7b", "llama2-7b", NULL, NULL},
    {"llama-2-13b", "llama2-13b", NULL, NULL},
    {"llama-2-70b", "llama2-70b", NULL, NULL},
    {"llama-3-8b", "llama3-8b", "llama3", "8B"},
    {"llama-3-70b", "llama3-70b", "llama3", "70B"},
    {"llama-3.1-8b", "llama3.1-8b", "llama3", "8B"},
    {"llama-3.1-70b", "llama3.1-70b", "llama3", "70B"},
    {"llama-3.1-405b", "llama3.1-405b", "llama3", "405B"},
    {"llama-3.3-70b", "llama3.3-70b", "llama3", "70B"},
    {"llama-4-scout", "llama4-17b-16e", "llama4", "17bx16e"},
    {"llama-4-maverick", "llama4-17b-128e", "llama4", "17bx128e"},
    {"mistral-7b", "mistral-7b", NULL, NULL},
    {"mixtral-8x7b", "mixtral-8x7b", NULL, NULL},
    {"mixtral-8x22b", "mixtral-8x22b", NULL, NULL},
    {"deepseek-v2-lite", "deepseek2-16b", "deepseek_v3", "16B"},
    {"deepseek-v2", "deepseek2-236b", "deepseek_v3", "236B"},
    {"deepseek-v3", "deepseek3-671b", "deepseek_v3", "671B"},
    {"kimi-k2", "kimi-k2-1t", NULL, NULL},
    {"gemma-2b", "gemma-2b", NULL, NULL},
    {"gemma-7b", "gemma-7b", NULL, NULL},
    {"gemma-2-2b", "gemma2-2b", NULL, NULL},
    {"gemma-2-9b", "gemma2-9b", NULL, NULL},
    {"gemma-2-27b", "gemma2-27b", NULL, NULL},
    {"gemma-3-4b", "gemma3-4b", NULL, NULL},
    {"gemma-3-12b", "gemma3-12b", NULL, NULL},
    {"gemma-3-27b", "gemma3-27b", NULL, NULL},
    {"qwen3-0.6b", "qwen3-0.6b", "qwen3", "0.6B"},
    {"qwen3-1.7b", NULL, "qwen3", "1.7B"},
    {"qwen3-4b", "qwen3-4b", "qwen3", "4B"},
    {"qwen3-8b", "qwen3-8b", "qwen3", "8B"},
    {"qwen3-14b", "qwen3-14b", "qwen3", "14B"},
    {"qwen3-32b", "qwen3-32b", "qwen3", "32B"},
    {"qwen3-30b-a3b", "qwen3-30b-a3b", "qwen3", "30B-A3B"},
    {"qwen3-235b-a22b", "qwen3-235b-a22b", "qwen3", "235B-A22B"},
    {"qwen3-coder-480b-a35b", "qwen3-480b-a35b", NULL, NULL},
    {"gpt-oss-20b", "gpt-oss-20b", "gpt_oss", "20b"},
    {"gpt-oss-120b", "gpt-oss-120b", "gpt_oss", "120b"},
    {"gpt3-175b", "gpt3-175b", NULL, NULL},
    /* names of files of sizes, Primus */
    {"llama-3.1-405b", "llama3-405b", NULL, NULL},
    {"mixtral-8x7b", "mixtral-8x7b-v0.1", NULL, NULL},
    {"mixtral-8x22b", "mixtral-8x22b-v0.1", NULL, NULL},
};
/* clang-format on */

/* "deepseek_v3" and "671B" as "deepseek-v3-671b". */
static bool is_flavor(const launch_name *row, const char *name)
{
    const char *const parts[] = {row->titan, "-", row->flavor};
    for (size_t i = 0; i < RIDGE_COUNT_OF(parts); i++) {
        for (const char *p = parts[i]; p != NULL && *p != '\0'; p++, name++) {
            const char c = *p == '_' ? '-' : *p;
            if (*name != (c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c))
                return false;
        }
    }
    return row->titan != NULL && *name == '\0';
}

const launch_name *launch_name_find(const char *name)
{
    for (size_t i = 0; i < RIDGE_COUNT_OF(rows); i++) {
        if (strcmp(rows[i].library, name) == 0 ||
            (rows[i].maxtext != NULL && strcmp(rows[i].maxtext, name) == 0) ||
            is_flavor(&rows[i], name))
            return &rows[i];
    }
    return NULL;
}

const launch_name *launch_name_of(const char *library)
{
    for (size_t i = 0; i < RIDGE_COUNT_OF(rows); i++) {
        if (strcmp(rows[i].library, library) == 0)
            return &rows[i];
    }
    return NULL;
}
