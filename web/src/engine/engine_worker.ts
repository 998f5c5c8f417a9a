// A thread that answers command lines, one after the other.
import type { Glue } from 'ridge-wasm';
import type { FromWorker, Line, Reply, ToWorker } from './wire';
import { openLibrary, withText } from './wasm_library';

let glue: Glue | undefined;

function post(message: FromWorker): void {
  self.postMessage(message);
}

function ask(at: Glue, words: string[]): Omit<Reply, 'files' | 'ms'> {
  return withText(at, JSON.stringify(words), (request) => {
    const reply = at._bridge_ask(request);
    if (!reply) return { code: 2, out: '', err: 'ridge: out of memory: reload the page' };
    try {
      return {
        code: at._bridge_code(reply),
        out: at.UTF8ToString(at._bridge_out(reply)),
        err: at.UTF8ToString(at._bridge_err(reply)),
      };
    } finally {
      at._bridge_close(reply);
    }
  });
}

function answer(at: Glue, line: Line): Reply {
  const start = performance.now();
  const given = line.files ?? [];
  for (const file of given) at.FS.writeFile(file.path, file.bytes);
  const said = ask(at, line.words);
  const wanted = (line.wants ?? []).filter((path) => at.FS.analyzePath(path).exists);
  const files = wanted.map((path) => ({ path, bytes: at.FS.readFile(path) }));
  for (const path of new Set([...given.map((file) => file.path), ...wanted])) at.FS.unlink(path);
  return { ...said, files, ms: performance.now() - start };
}

function answerSafely(line: Line): Reply {
  try {
    if (!glue) throw new Error('asked before it was opened');
    return answer(glue, line);
  } catch (fault) {
    const err = `ridge: the library stopped: ${String(fault)}`;
    return { code: 2, out: '', err, files: [], ms: 0 };
  }
}

self.onmessage = async (event: MessageEvent<ToWorker>) => {
  const message = event.data;
  if (message.kind === 'open') {
    glue = await openLibrary(message.module);
    post({ kind: 'ready' });
  } else {
    post({ kind: 'reply', id: message.id, reply: answerSafely(message.line) });
  }
};
