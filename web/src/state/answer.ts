// Answers of the library as state of a component.
import { createContext } from 'preact';
import { useContext, useLayoutEffect, useState } from 'preact/hooks';
import type { Engine, LaneName } from '../engine/engine';
import type { Line, LineFile, Reply } from '../engine/wire';

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
  /** identity of the line that `value` or `error` answers */
  of: string;
  ms: number;
}

const NOTHING = { files: [], code: 0, isBusy: false, of: '', ms: 0 };

function complaint(err: string): string {
  return err.trim().replace(/^ridge: /, '') || 'there is no answer';
}

export function lineIdentity(line: Line | null): string {
  return line ? JSON.stringify([line.words, line.files?.map((file) => [file.path, file.bytes.length])]) : '';
}

function answerOf<T>(reply: Reply, of: string): Answer<T> {
  const isAnswer = reply.code < 2 && reply.out !== '';
  return {
    value: isAnswer ? (JSON.parse(reply.out) as T) : undefined,
    error: isAnswer ? undefined : complaint(reply.err),
    files: reply.files,
    code: reply.code,
    isBusy: false,
    of,
    ms: reply.ms,
  };
}

/** Ask a line that prints JSON, again whenever its words change; null: nothing is asked.
 *  It is asked before the frame is drawn: a frame is a sixth of what a slider may take. */
export function useAnswer<T>(lane: LaneName, key: string, line: Line | null): Answer<T> {
  const engine = useEngine();
  const [answer, setAnswer] = useState<Answer<T>>(NOTHING);
  const identity = lineIdentity(line);
  useLayoutEffect(() => {
    if (!line) {
      engine.drop(lane, key);
      setAnswer((last) => ({ ...last, isBusy: false }));
      return;
    }
    setAnswer((last) => ({ ...last, isBusy: true }));
    void engine.ask(lane, key, line).then((reply) => {
      if (reply) setAnswer(answerOf<T>(reply, identity));
    });
  }, [engine, lane, key, identity]);
  return answer;
}

/** What never changes, whoever asks for it: of the catalogue. null: nothing is asked. */
export function useFact<T>(words: string[] | null): Answer<T> {
  const engine = useEngine();
  const [answer, setAnswer] = useState<Answer<T>>(NOTHING);
  const identity = words?.join(' ') ?? '';
  useLayoutEffect(() => {
    let isCurrent = true;
    if (words) {
      void engine.fact(words).then((reply) => {
        if (reply && isCurrent) setAnswer(answerOf<T>(reply, identity));
      });
    }
    return () => {
      isCurrent = false;
    };
  }, [engine, identity]);
  return answer;
}

/** Several lines at once, in their order; a place is empty until its answer is there. */
export function useAnswers<T>(lane: LaneName, key: string, lines: Line[]): (Answer<T> | undefined)[] {
  const engine = useEngine();
  const [found, setFound] = useState<Record<string, Answer<T>>>({});
  const identities = lines.map(lineIdentity);
  const identity = identities.join('\n');
  useLayoutEffect(() => {
    lines.forEach((line, i) => {
      const of = identities[i] ?? '';
      if (found[of]) return;
      void engine.ask(lane, `${key} ${i}`, line).then((reply) => {
        if (reply) setFound((last) => ({ ...last, [of]: answerOf<T>(reply, of) }));
      });
    });
  }, [engine, lane, key, identity]);
  return identities.map((of) => found[of]);
}
