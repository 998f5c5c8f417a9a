// One worker and the lines that wait for it. A line may replace older ones by the same
// key: a line that waits is dropped, one that runs is stopped when that is worth it.
import EngineWorker from './engine_worker?worker&inline';
import type { FromWorker, Line, Reply, ToWorker } from './wire';

interface Job {
  id: number;
  key: string;
  line: Line;
  settle(reply: Reply | null): void;
  startMs: number;
}

/** A running line is stopped once it took this long: a new worker takes about 20 ms. */
const STOP_AFTER_MS = 60;

export class Lane {
  private worker: Worker | undefined;
  private running: Job | undefined;
  private waiting: Job[] = [];
  private isReady = false;
  private lastId = 0;

  constructor(private readonly module: WebAssembly.Module) {
    this.start();
  }

  /** @return the reply, or null when a newer line of the same key took its place */
  ask(key: string, line: Line): Promise<Reply | null> {
    this.drop(key);
    return new Promise((settle) => {
      this.waiting.push({ id: ++this.lastId, key, line, settle, startMs: 0 });
      this.next();
    });
  }

  /** Forget the lines of a key. */
  drop(key: string): void {
    for (const job of this.waiting) if (job.key === key) job.settle(null);
    this.waiting = this.waiting.filter((job) => job.key !== key);
    const job = this.running;
    if (job?.key !== key) return;
    job.settle(null);
    if (performance.now() - job.startMs > STOP_AFTER_MS) this.restart();
  }

  private start(): void {
    this.worker = new EngineWorker();
    this.worker.onmessage = (event: MessageEvent<FromWorker>) => this.receive(event.data);
    this.worker.onerror = () => this.fail();
    this.post({ kind: 'open', module: this.module });
  }

  private post(message: ToWorker): void {
    this.worker?.postMessage(message);
  }

  private restart(): void {
    this.worker?.terminate();
    this.running = undefined;
    this.isReady = false;
    this.start();
  }

  private fail(): void {
    const err = 'ridge: the library stopped: reload the page';
    this.running?.settle({ code: 2, out: '', err, files: [], ms: 0 });
    this.restart();
  }

  private receive(message: FromWorker): void {
    if (message.kind === 'ready') {
      this.isReady = true;
    } else if (this.running?.id === message.id) {
      this.running.settle(message.reply);
      this.running = undefined;
    }
    this.next();
  }

  private next(): void {
    if (this.running || !this.isReady) return;
    const job = this.waiting.shift();
    if (!job) return;
    this.running = job;
    job.startMs = performance.now();
    this.post({ kind: 'ask', id: job.id, line: job.line });
  }
}
