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
  hbm_bytes_per_s: number;
  power_watts: number | null;
  usd_per_hour: number | null;
  network?: { system: string; torus_dims: number; levels: ChipLevel[] };
  prices?: ChipPrice[];
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
