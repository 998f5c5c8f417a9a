// Answers of the library as state of a component.
import { createContext } from 'preact';
import { useContext, useEffect, useState } from 'preact/hooks';
import type { Engine, LaneName } from '../engine/engine';
import type { Line, LineFile } from '../engine/wire';

export const EngineContext = createContext<Engine | undefined>(undefined);

export function useEngine(): Engine {
  const engine = useContext(EngineContext);
  if (!engine) throw new Error('used outside of the page');
  return engine;
}

export interface Answer<T> {
  /** the last answer; kept while the next one is found */
  value?: T | undefined;
  files: LineFile[];
  /** why there is none: the program's own words */
  error?: string | undefined;
  /** of `value`: 1 when the answer is no */
  code: number;
  isBusy: boolean;
  /** the line that `value` answers */
  line?: Line | undefined;
  ms: number;
}

const NOTHING = { files: [], code: 0, isBusy: false, ms: 0 };

export function complaint(err: string): string {
  return err.trim().replace(/^ridge: /, '') || 'there is no answer';
}

/** Ask a line that prints JSON, again whenever its words change; null: nothing is asked. */
export function useAnswer<T>(lane: LaneName, key: string, line: Line | null): Answer<T> {
  const engine = useEngine();
  const [answer, setAnswer] = useState<Answer<T>>(NOTHING);
  const identity = line ? JSON.stringify([line.words, line.files?.map((file) => [file.path, file.bytes.length])]) : '';
  useEffect(() => {
    if (!line) {
      engine.drop(lane, key);
      setAnswer(NOTHING);
      return;
    }
    setAnswer((last) => ({ ...last, isBusy: true }));
    void engine.ask(lane, key, line).then((reply) => {
      if (!reply) return;
      const isAnswer = reply.code < 2 && reply.out !== '';
      const value = isAnswer ? (JSON.parse(reply.out) as T) : undefined;
      const error = isAnswer ? undefined : complaint(reply.err);
      setAnswer({ value, error, files: reply.files, code: reply.code, isBusy: false, line, ms: reply.ms });
    });
  }, [engine, lane, key, identity]);
  return answer;
}
