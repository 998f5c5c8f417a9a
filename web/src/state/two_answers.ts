// A question that a slider moves, asked twice: for answers like the last best one, which
// take milliseconds, and then for all.
import { useEffect, useRef } from 'preact/hooks';
import type { Line } from '../engine/wire';
import type { Answer } from './answer';
import { lineIdentity, useAnswer, useEngine } from './answer';

export interface TwoAnswers<T> {
  /** to be shown: of the current question, if there is any yet */
  answer: Answer<T>;
  /** of the last question that was searched to its end */
  full: Answer<T>;
  /** it holds what is like the last best one; everything is being searched */
  isNarrowed: boolean;
  /** nothing like the last best one will do; everything is being searched */
  isNoneLike: boolean;
  /** of some earlier question */
  isStale: boolean;
}

/** Ask the narrowed line once before anyone waits for it: the browser compiles what runs
 *  often, and the first slide is as quick as the tenth. */
function useRehearsal(key: string, line: Line | null): void {
  const engine = useEngine();
  const isOver = useRef(false);
  useEffect(() => {
    if (!line || isOver.current) return;
    isOver.current = true;
    void engine.ask('quick', `${key} rehearsal`, line);
  });
}

/**
 * @param key     of both lines in their lanes
 * @param line    the question, or null
 * @param about   what a last best one must agree in to be of use: the model
 * @param narrow  the question narrowed to what is like the last best one, or null
 */
export function useTwoAnswers<T extends { layouts: L[] }, L>(key: string, line: Line | null, about: string | undefined, narrow: (best: L, line: Line) => Line | null): TwoAnswers<T> {
  const last = useRef<{ about: string; best: L; of: string } | undefined>(undefined);
  const identity = lineIdentity(line);
  const like = last.current;
  const canNarrow = line !== null && like !== undefined && like.about === about && like.of !== identity;
  const narrowed = canNarrow ? narrow(like.best, line) : null;
  const quick = useAnswer<T>('quick', key, narrowed);
  const isAnswered = narrowed !== null && quick.of === lineIdentity(narrowed);
  /* the search over all waits for the quick one: both at once would share the processor */
  const thorough = useAnswer<T>('thorough', key, narrowed && !isAnswered ? null : line);
  const isDone = thorough.of === identity;
  const best = isDone ? thorough.value?.layouts[0] : undefined;
  if (best && about !== undefined) last.current = { about, best, of: identity };
  useRehearsal(key, isDone && best && line ? narrow(best, line) : null);
  const isLike = isAnswered && quick.value !== undefined && !isDone;
  const isNarrowed = isLike && (quick.value?.layouts.length ?? 0) > 0;
  const isNoneLike = isLike && !isNarrowed;
  return { answer: isNarrowed ? quick : thorough, full: thorough, isNarrowed, isNoneLike, isStale: !isDone && !isNarrowed };
}
