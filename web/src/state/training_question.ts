// What the training page asks: all layouts in a thread that may take its time, and while
// that works, layouts like the last best one in another, which takes milliseconds.
import { useRef } from 'preact/hooks';
import type { TrainAnswer, TrainLayout } from '../engine/answers';
import type { Line } from '../engine/wire';
import type { Answer } from './answer';
import { lineIdentity, useAnswer } from './answer';
import { useModel } from './model_choice';
import { likeKnobs } from './training_knobs';

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

export interface TrainingQuestion {
  line: Line | null;
  modelError?: string | undefined;
  /** for the current question, if there is any */
  answer: Answer<TrainAnswer>;
  /** it holds layouts like the last best one; all layouts are being searched */
  isNarrowed: boolean;
  /** of some earlier question */
  isStale: boolean;
}

export function useTraining(params: Params): TrainingQuestion {
  const model = useModel(params['model']);
  const tail = [...whatIfWords(params), '--top', '10', '--json'];
  const line: Line | null = model.word ? { words: [...subjectWords(params, model.word), ...knobWords(params), ...tail], files: model.files } : null;
  const lastBest = useRef<{ model: string; layout: TrainLayout } | undefined>(undefined);
  const thorough = useAnswer<TrainAnswer>('thorough', 'train', line);
  const isDone = thorough.of === lineIdentity(line);
  const like = lastBest.current;
  const canNarrow = line && model.word && !isDone && like?.model === model.word && !params['knobs'];
  const narrow: Line | null = canNarrow && model.word
    ? { words: [...subjectWords(params, model.word), ...likeKnobs(like.layout), ...whatIfWords(params), '--top', '3', '--json'], files: model.files }
    : null;
  const quick = useAnswer<TrainAnswer>('quick', 'train', narrow);
  const best = isDone ? thorough.value?.layouts[0] : undefined;
  if (best && model.word) lastBest.current = { model: model.word, layout: best };
  const hasQuick = narrow !== null && quick.of === lineIdentity(narrow) && (quick.value?.layouts.length ?? 0) > 0;
  const answer = hasQuick && !isDone ? quick : thorough;
  return { line, modelError: model.error, answer, isNarrowed: hasQuick && !isDone, isStale: !isDone && !hasQuick };
}
