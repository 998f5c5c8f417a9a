// What the page and its workers say to each other.

/** A file of a line: at the path that the words name. */
export interface LineFile {
  path: string;
  bytes: Uint8Array;
}

/** A command line, without "ridge". */
export interface Line {
  words: string[];
  files?: LineFile[];
  /** paths of files that the line writes and the page wants */
  wants?: string[];
}

export interface Reply {
  /** exit code: 0 the answer, 1 the answer is no, 2 bad input */
  code: number;
  out: string;
  /** complaints and notes */
  err: string;
  files: LineFile[];
  /** in the worker, from the line's arrival to its answer */
  ms: number;
}

export type ToWorker =
  | { kind: 'open'; module: WebAssembly.Module }
  | { kind: 'ask'; id: number; line: Line };
export type FromWorker =
  | { kind: 'ready' }
  | { kind: 'reply'; id: number; reply: Reply };
