#!/usr/bin/env python3
"""The facts of data/engines, for check_data.py: what each file may say, and within which bounds."""
ENGINE_CHOICES = {"batching": ("mixed", "prefill", "static"),
                  "preemption": ("recompute", "swap", "reserve"),
                  "victim": ("latest", "shortest"), "memory": ("all", "static", "free")}
ENGINE_FLAGS = ("is_chunked", "has_prefix_cache", "keeps_order", "pads_prompts",
                "is_slotted", "is_hybrid", "cuts_sequences", "cuts_tokens",
                "gathers_weights", "lacks_stages", "lacks_pools", "lacks_attention_dp", "deals_over_all", "is_host_hidden",
                "splits_layers", "overlaps_shared", "splits_batches", "ignores_windows",
                "keeps_chunks", "reads_cache_scheme", "reads_modelopt_cache",
                "replicates_experts",
                "captures_decoding", "sums_in_fp16", "decodes_first",
                "hosts_embedding")
ENGINE_COUNTS = {"prompts": (0, 1e6), "block_tokens": (1, 1e6), "budget_tokens": (1, 1e9),
                 "chunk_tokens": (0, 1e9), "sequences": (1, 1e6), "retract_steps": (0, 1e6),
                 "range_rows": (0, 1e6), "balance_iterations": (0, 1e6),
                 "planned_steps": (0, 1e4), "waiting_steps": (0, 1e6), "state_slots": (1, 100),
                 "gather_iterations": (0, 1e6)}
ENGINE_NUMBERS = {"watermark": (0, 0.5), "reserve_share": (0, 1),
                  "reserve_share_least": (0, 1), "reserve_steps": (1, 1e6),
                  "reserve_tokens": (1, 1e9), "memory_share": (0.05, 1),
                  "reserve_bytes": (0, 1e11), "group_bytes": (0, 1e11), "host_s": (0, 1),
                  "host_sequence_s": (0, 1e-2), "stage_host_s": (0, 1),
                  "stage_sequence_s": (0, 1e-2), "draft_s": (0, 1), "draft_pass_s": (0, 1e-1),
                  "draft_token_s": (0, 1e-2), "request_s": (0, 10),
                  "waiting_share": (0, 100), "state_ratio": (0, 100),
                  "graph_sequences": (0, 1e6), "launch_s": (0, 1e-3),
                  "shared_rows": (0, 1e6), "split_rows": (0, 1e6),
                  "layer_s": (0, 1e-2), "peer_layer_s": (0, 1e-2), "experts_share": (0.05, 1),
                  "experts_share_fp8": (0.05, 1), "experts_share_fp4": (0.05, 1),
                  "experts_fp8_s": (0, 1e-2), "experts_share_narrow": (0.05, 1),
                  "experts_narrow_s": (0, 1e-2), "experts_narrow_launch_s": (0, 1), "handoff_s": (0, 10),
                  "matmul_share": (0.05, 1), "cycle_bytes": (0, 1e4),
                  "unpack_cycle_weights": (0, 1e4), "stream_bytes": (0, 1e4), "score_bytes": (0, 1e4),
                  "ttft_low": (0.05, 20), "ttft_high": (0.05, 20), "tpot_low": (0.05, 20),
                  "tpot_high": (0.05, 20)}


def check_count(check, path, key, value, bounds):
    if isinstance(value, dict):
        check.fact(path, key, value, bounds, True)
    else:
        check.number(path, key, value, bounds, True)


def check_engine(check, path, own, whole, chips, vendors):
    check.only(path, "", own, {"name", "full_name", "version", "aliases", "base", "rules",
                               "limits", "cache_line", "vendors", "range_vendors", *ENGINE_CHOICES, *ENGINE_FLAGS,
                               *ENGINE_COUNTS, *ENGINE_NUMBERS})
    for key, choices in ENGINE_CHOICES.items():
        if whole.get(key) not in choices:
            check.fail(path, key, f"{whole.get(key)!r} is none of {', '.join(choices)}")
    for key in ("vendors", "range_vendors"):
        for vendor in own.get(key, []):
            if vendor not in vendors:
                check.fail(path, key, f"no chip is made by {vendor!r}")
    for key in ENGINE_FLAGS:
        if not isinstance(own.get(key, False), bool):
            check.fail(path, key, "true or false is wanted")
    for key, bounds in ENGINE_COUNTS.items():
        if key in own:
            check_count(check, path, key, own[key], bounds)
    for key, bounds in ENGINE_NUMBERS.items():
        if key in own:
            check.fact(path, key, own[key], bounds)
    for i, limit in enumerate(own.get("limits", [])):
        key = f"limits[{i}]"
        check.only(path, key, limit, {"chips", "below_bytes", "budget_tokens", "sequences"})
        for chip in limit.get("chips", []):
            if chip not in chips:
                check.fail(path, f"{key}.chips", f"no chip is called {chip!r}")
        for member in ("budget_tokens", "sequences"):
            check_count(check, path, f"{key}.{member}", limit.get(member, 1), (1, 1e9))
    for key in ("full_name", "version", "rules", "block_tokens", "memory_share", "host_s"):
        if key not in whole:
            check.fail(path, key, "missing")
    check.origin(path, "rules", own.get("rules", whole.get("rules", {})))
