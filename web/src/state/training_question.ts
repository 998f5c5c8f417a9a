// What the training page asks: all layouts in a thread that may take its time, and while
// that works, layouts like the last best one in another, which takes milliseconds.
import type { TrainAnswer, TrainLayout } from '../engine/answers';
import type { Line } from '../engine/wire';
import { useModel } from './model_choice';
import { likeKnobs } from './training_knobs';
import type { TwoAnswers } from './two_answers';
import { useTwoAnswers } from './two_answers';

export type Params = Readonly<Record<string, string>>;

export const USUAL = { on: 'h100:16x8', batch: '4M', seq: '4096', net: '1' } as const;

export const TIMELINE_FILE = 'timeline.json';
export const PLAN_FILE = 'plan.json';

export function valueOf(params: Params, name: keyof typeof USUAL): string {
  return params[name] ?? USUAL[name];
}

/** The words that say what is asked, without knobs and how to show it. */
export function subjectWords(params: Params, model: string): string[] {
  const options = ['tokens', 'precision', 'stack', 'headroom', 'price'].flatMap((name) => (params[name] ? [`--${name}`, params[name]] : []));
  return ['train', model, '--on', valueOf(params, 'on'), '--batch', valueOf(params, 'batch'), '--seq', valueOf(params, 'seq'), ...options];
}

export function knobWords(params: Params): string[] {
  return (params['knobs'] ?? '').split(/\s+/).filter(Boolean);
}

function whatIfWords(params: Params): string[] {
  const net = valueOf(params, 'net');
  return net === '1' ? [] : ['--what-if', `network=${net}x`];
}

export interface TrainingQuestion extends TwoAnswers<TrainAnswer> {
  line: Line | null;
  modelError?: string | undefined;
}

export function useTraining(params: Params): TrainingQuestion {
  const model = useModel(params['model']);
  const { word, files } = model;
  const ask = (knobs: string[], top: string): Line | null =>
    word ? { words: [...subjectWords(params, word), ...knobs, ...whatIfWords(params), '--top', top, '--json'], files } : null;
  const line = ask(knobWords(params), '10');
  const narrow = (best: TrainLayout) => (params['knobs'] ? null : ask(likeKnobs(best), '3'));
  return { line, modelError: model.error, ...useTwoAnswers<TrainAnswer, TrainLayout>('train', line, word, narrow) };
}
