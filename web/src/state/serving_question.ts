// What the serving page asks: all deployments in a thread that may take its time, and
// while that works, deployments like the last best one in another.
import type { ServeAnswer, ServeLayout, ServePool } from '../engine/answers';
import type { Line, LineFile } from '../engine/wire';
import { useModel } from './model_choice';
import type { TwoAnswers } from './two_answers';
import { useTwoAnswers } from './two_answers';

export type Params = Readonly<Record<string, string>>;

export const USUAL = { on: 'h100:1x8', prompt: '1024', output: '256' } as const;
export const PLAN_FILE = 'serve.json';

/** The goals as the verbs take them; nothing where there are none. */

export function valueOf(params: Params, name: keyof typeof USUAL): string {
  return params[name] ?? USUAL[name];
}

export function goalWords(params: Params): string[] {
  const goals = ['ttft', 'tpot', 'e2e'].flatMap((name) => (params[name] ? [`${name}=${params[name]}`] : []));
  const percentile = params['percentile'];
  return goals.length ? ['--slo', [...goals, ...(percentile ? [percentile] : [])].join(',')] : [];
}

export function subjectWords(params: Params, model: string): string[] {
  const options = ['cached', 'rate', 'engine', 'price', 'draft', 'accept'].flatMap((name) => (params[name] ? [`--${name}`, params[name]] : []));
  const aim = params['for'] ? ['--for', params['for']] : [];
  return ['serve', model, '--on', valueOf(params, 'on'), '--prompt', valueOf(params, 'prompt'), '--output', valueOf(params, 'output'), ...goalWords(params), ...options, ...aim];
}

/** What is fixed: the batch of the slider, formats, and knobs as they are written. */
export function knobWords(params: Params): string[] {
  const one = (name: string) => (params[name] ? [`${name}=${params[name]}`] : []);
  return [...one('batch'), ...one('weights'), ...one('cache'), ...(params['knobs'] ?? '').split(/\s+/).filter(Boolean)];
}

function degrees(pool: ServePool, prefix: string): string[] {
  const { tp, pp, ep, attention_dp } = pool.mesh;
  return [`${prefix}tp=${tp}`, `${prefix}pp=${pp}`, `${prefix}ep=${ep}`, `${prefix}attention_dp=${attention_dp}`];
}

function likeKnobs(layout: ServeLayout): string[] {
  const isSplit = layout.mode === 'disaggregated';
  const pools = layout.pools.flatMap((pool) => degrees(pool, isSplit ? `${pool.role}_` : ''));
  return [`mode=${layout.mode}`, ...pools];
}

export function poolText(pool: ServePool): string {
  const ways = Object.entries(pool.mesh).filter(([, n]) => n > 1).map(([axis, n]) => `${axis.replace('_', ' ')} ${n}`);
  return `${pool.servers} × ${ways.join(' · ') || 'one chip'}`;
}

export function layoutText(layout: ServeLayout): string {
  return layout.pools.map(poolText).join(' → ');
}

/** The plan file of a layout: that of the best one, with this one's pools in it. */
export function planOf(files: LineFile[], layout: ServeLayout): LineFile | undefined {
  const best = files.find((one) => one.path === PLAN_FILE);
  if (!best) return undefined;
  const plan = JSON.parse(new TextDecoder().decode(best.bytes)) as Record<string, unknown>;
  const own = { ...plan, mode: layout.mode, pools: layout.pools, predicted: layout };
  return { path: PLAN_FILE, bytes: new TextEncoder().encode(JSON.stringify(own, null, 2)) };
}

export interface ServingQuestion extends TwoAnswers<ServeAnswer> {
  line: Line | null;
  modelError?: string | undefined;
}

export function useServing(params: Params): ServingQuestion {
  const model = useModel(params['model']);
  const { word, files } = model;
  const ask = (knobs: string[], tail: string[]): Line | null =>
    word ? { words: [...subjectWords(params, word), ...knobs, ...tail, '--plan', PLAN_FILE, '--json'], files, wants: [PLAN_FILE] } : null;
  const line = ask(knobWords(params), ['--front', '--top', '10']);
  /* fronts and plays are left to the search over all */
  const narrow = (best: ServeLayout) => (params['knobs'] ? null : ask([...likeKnobs(best), ...knobWords(params)], ['--top', '3', '--brief']));
  return { line, modelError: model.error, ...useTwoAnswers<ServeAnswer, ServeLayout>('serve', line, word, narrow) };
}
