// The library as the page sees it: lines of the program, answered in workers; numbers as
// the program writes them, formatted here and now.
import type { Glue } from 'ridge-wasm';
import { Lane } from './lane';
import { compileLibrary, openLibrary, withText } from './wasm_library';
import type { Line, Reply } from './wire';

/** quick: what a person waits for. thorough: what may take seconds. */
export type LaneName = 'quick' | 'thorough';

export type FormatKind =
  | 'seconds' | 'bytes' | 'si' | 'count' | 'exact' | 'percent' | 'usd' | 'double';

const TEXT_BYTES = 48; /* of a ridge_text */

export class Engine {
  private readonly lanes: Record<LaneName, Lane>;
  private readonly textAt: number;
  private readonly facts = new Map<string, Promise<Reply | null>>();

  private constructor(module: WebAssembly.Module, private readonly glue: Glue) {
    this.lanes = { quick: new Lane(module), thorough: new Lane(module) };
    this.textAt = glue._malloc(TEXT_BYTES);
  }

  static async open(): Promise<Engine> {
    const module = await compileLibrary();
    return new Engine(module, await openLibrary(module));
  }

  /** Answer a line; a newer one of the same key and lane replaces it (null). */
  ask(lane: LaneName, key: string, line: Line): Promise<Reply | null> {
    return this.lanes[lane].ask(key, line);
  }

  /** Answer a line whose answer never changes, such as what chips there are: once. */
  fact(words: string[]): Promise<Reply | null> {
    const key = `fact ${words.join(' ')}`;
    const known = this.facts.get(key);
    if (known) return known;
    const asked = this.ask('quick', key, { words });
    this.facts.set(key, asked);
    return asked;
  }

  drop(lane: LaneName, key: string): void {
    this.lanes[lane].drop(key);
  }

  /** A number as the program writes it. */
  format(kind: FormatKind, value: number): string {
    return withText(this.glue, kind, (kindAt) => {
      this.glue._bridge_format(kindAt, value, this.textAt);
      return this.glue.UTF8ToString(this.textAt);
    });
  }
}
