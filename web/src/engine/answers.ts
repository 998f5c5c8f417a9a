// The JSON of the verbs, as far as the page reads it. Keys are those of `ridge VERB --json`.

export interface ChipLevel {
  name: string;
  kind: string;
  bytes_per_s: number;
  latency_s: number;
  efficiency: number;
  can_reduce: boolean;
  bf16_flops_per_byte: number | null;
}

export interface ChipPrice {
  usd_per_chip_hour: number;
  kind: string;
  provider: string;
  region: string;
  source: string;
  date: string;
}

export interface Chip {
  name: string;
  full_name: string;
  vendor: string;
  kind: string;
  year: number;
  peak_flops_per_s: Record<string, number>;
  ridge_flops_per_byte: Record<string, number>;
  vector_flops_per_s: number | null;
  hbm_bytes: number;
  visible_bytes: number;
  hbm_bytes_per_s: number;
  power_watts: number | null;
  usd_per_hour: number | null;
  network?: { system: string; torus_dims: number; levels: ChipLevel[] };
  prices?: ChipPrice[];
  slices?: ChipSlice[];
  l2_bytes: number | null;
  facts?: { key: string; value: number; source: string; date: string; note?: string }[];
}

export interface ChipsAnswer {
  chips: Chip[];
}

export interface ModelsAnswer {
  models: { name: string; total: number; active: number; layers: number; d_model: number; max_positions: number; kv_bytes_per_token: number }[];
}

export interface ModelAnswer {
  name: string;
  model_type: string;
  layers: number;
  d_model: number;
  vocab: number;
  max_positions: number;
  seq_tokens: number;
  parameters: Record<string, number>;
  weight_bytes: number;
  weight_bytes_by_dtype: Record<string, number>;
  training_state_bytes: Record<string, number>;
  flops_per_token: { forward: number; train: number; forward_parts: Record<string, number>; vector: number };
  conventions: Record<string, number>;
  kv_bytes_per_token: number;
  kv_bf16: { bytes_per_token_long: number; state_bytes_per_sequence: number; bytes_per_sequence: number };
  remat: Record<string, { activation_bytes_per_token: number; recomputed_flops_per_token: number }>;
  layer_kinds: { count: number; mixer: string; ffn: string; is_encoder: boolean }[];
  legal_tp: number[];
  notes: string[];
}

export interface ChipSlice {
  slice: string;
  chips: number;
}

export interface RooflinePoint {
  [dim: string]: number | string;
  time_s: number;
  bound_time_s: number;
  bound_by: string;
  flops_per_s: number;
  bound_flops_per_s: number;
  intensity_flops_per_byte: number;
}

export interface RooflineAnswer {
  op: string;
  chip: string;
  flops: number;
  bytes: number;
  intensity_flops_per_byte: number;
  ridge_flops_per_byte: number;
  peak_flops_per_s: number;
  bytes_per_s: number;
  time_s: number;
  bound_time_s: number;
  bound_by: string;
  flops_per_s: number;
  bound_flops_per_s: number;
  critical?: { dim: string; size: number | null } | null;
  sweep?: RooflinePoint[];
}

export interface ShardArray {
  name: string;
  dims: { name: string; size: number; local: number; axes: string[] }[];
  partial: string[];
}

export interface ShardCollective {
  text: string;
  kind: string;
  array: string;
  axes: string[];
  is_before_product: boolean;
  bytes: number;
  sent_bytes: number;
  time_s?: number;
  bound_time_s?: number;
}

export interface ShardStrategy {
  collectives: ShardCollective[];
  arrays: ShardArray[];
  time_s?: number;
  bound_time_s?: number;
  range_low_s?: number;
  range_high_s?: number;
  bound_by?: string;
  compute_s?: number;
  network_s?: number;
  bytes_per_chip: number;
  held_bytes_per_chip: number;
  sent_bytes_per_chip: number;
  padding_share: number;
}

export interface ShardAnswer {
  expression: string;
  case: number;
  mesh: Record<string, number>;
  dims: Record<string, number>;
  arrays: ShardArray[];
  slice?: string;
  placement?: Record<string, string>;
  strategies: ShardStrategy[];
}

export type MeshAxis = 'dp' | 'fsdp' | 'tp' | 'cp' | 'pp' | 'ep';

export interface TrainRun {
  days: number | null;
  chip_hours: number | null;
  usd: number | null;
  usd_per_million_tokens: number | null;
  goodput: number;
}

export interface TrainLayout {
  mesh: Record<MeshAxis, number>;
  placement: string;
  placement_index: number;
  zero_stage: number;
  sp: boolean;
  vpp: number;
  schedule: string;
  first_layers: number | null;
  last_layers: number | null;
  cp_exchange: string;
  microbatch_seqs: number;
  microbatches: number;
  remat: string;
  remat_layers: number;
  offload: string;
  precision: string;
  optimizer: string;
  tp_overlap: boolean;
  fsdp_overlap: boolean;
  dp_overlap: boolean;
  pp_overlap: boolean;
  ep_overlap: boolean;
  step_time_s: number;
  bound_step_time_s: number;
  range_low_s: number;
  range_high_s: number;
  mfu: number;
  hfu: number;
  tokens_per_s_per_chip: number;
  tflops_per_chip: number;
  peak_memory_bytes: number;
  memory: Record<string, number>;
  breakdown: Record<string, number>;
  hidden_communication_s: number;
  bottleneck: string;
  days: number | null;
  usd: number | null;
  run?: TrainRun;
}

export interface TrainAnswer {
  model: string;
  slice: string;
  chips: number;
  batch_tokens: number;
  batch_seqs: number;
  seq_tokens: number;
  layouts: TrainLayout[];
  pareto?: TrainLayout[];
  what_if?: { change: string; same_layout: TrainLayout | null; best_layout: TrainLayout | null };
  relaxations: { change: string; what: string; step_time_s: number; token_time_change: number; layout: string }[];
  sensitivity: { change: string; step_change: number }[];
  search: { covered: number; priced: number; seconds: number };
}

export interface ExplainAnswer {
  title: string;
  derivation: { depth: number; name: string; formula: string; values: string; result: string }[];
  sensitivity?: { change: string; step_change: number }[];
}

export interface ServePool {
  role: string;
  servers: number;
  chips_per_server: number;
  batch: number;
  mesh: { tp: number; pp: number; ep: number; attention_dp: number };
  kv_cut: string;
  weight_gathered: boolean;
  sequences: number;
  budget_tokens: number;
  dtypes: Record<string, string | number>;
}

export interface ServeLayout {
  mode: string;
  pools: ServePool[];
  why_not?: string;
  ttft_s: number;
  bound_ttft_s: number;
  tpot_s: number;
  bound_tpot_s: number;
  e2e_s: number;
  batch: number;
  chips: number;
  concurrency: number;
  requests_per_s: number;
  tokens_per_s: number;
  tokens_per_s_per_chip: number;
  bound_tokens_per_s_per_chip: number;
  tokens_per_s_per_user: number;
  usd_per_million_tokens: number | null;
  cache_use: number;
  memory: Record<string, number>;
  breakdown: { tpot: Record<string, number>; ttft: Record<string, number> };
  bottleneck: string;
}

export interface ServeAnswer {
  model: string;
  slice: string;
  chips: number;
  engine: string;
  goals: Record<'ttft_s' | 'tpot_s' | 'e2e_s' | 'quantile', number | null>;
  layouts: ServeLayout[];
  nearest?: ServeLayout;
  least?: Record<string, ServeLayout>;
  other_mode?: ServeLayout;
  pareto?: ServeLayout[];
  limits?: { critical_batch: number | null; crossover_batch: number | null; largest_batch: number | null; longest_context_tokens: number | null; held_back_by: string | null };
  relaxations?: { change: string; what: string; gain: number; ttft_s: number; tpot_s: number; tokens_per_s_per_chip: number; layout: string }[];
  sensitivity?: { change: string; ttft_change: number; tpot_change: number; throughput_change: number }[];
  refused?: { layouts: number; why: string; tp: number; pp: number; ep: number; attention_dp: number }[];
  search: { covered: number; priced: number; seconds: number };
}

export type Spread = Record<'mean' | 'p50' | 'p90' | 'p99', number | null>;

export interface StreamAnswer {
  requests: number;
  completed: number;
  refused?: number;
  ttft_s: Spread;
  tpot_s: Spread;
  e2e_s: Spread;
  goodput_requests_per_s: number | null;
  output_tokens_per_s: number;
  kv?: { peak_fraction: number; hit_rate: number; preemptions: number };
  simulated_s: number;
  wall_s?: number;
  split?: { ttft: Record<string, number>; ttft_slowest_1_percent?: Record<string, number> };
}

export interface ProfileAnswer {
  format: string;
  files: number;
  events: number;
  bytes: number;
  chip: string | null;
  step_time_s: number;
  breakdown: Record<string, number>;
  devices: { name: string; hardware: string; steps: number; step_time_s: number; breakdown: Record<string, number> }[];
  steps: { name: string; device: string; time_s: number; breakdown: Record<string, number> }[];
  ops: { name: string; class: string; count: number; time_s: number; least_s: number; most_s: number }[];
  collectives: Record<string, string | number | null>[];
  advice: { key: string; title: string; evidence: string; worth_s: number | null }[];
}

export interface HloAnswer {
  module: string;
  devices: number;
  instructions: number;
  flops: number;
  bytes: number;
  intensity_flops_per_byte: number | null;
  time_s?: number | null;
  bound_time_s?: number | null;
  bound_by?: string | null;
  exposed_s?: number | null;
  hidden_s?: number | null;
  peak_memory_bytes?: number | null;
  memory?: Record<string, unknown>;
  categories?: Record<string, { kernels: number; flops: number; bytes: number; time_s?: number | null }>;
  collectives: Record<string, unknown>[];
  ops: { name: string; op: string; category: string; shape: string; source: string; times: number; flops: number; bytes: number; time_s?: number | null; bound_s?: number | null; bound_by?: string | null }[];
}
