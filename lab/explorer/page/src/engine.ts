// The library in a worker: questions go to it, and answers come back, in JSON.
import type { Answers, Question } from "./answers";

/** An error of the library: a full sentence, and the code of circoll/error.hpp. */
export class LibraryError extends Error {
  constructor(
    readonly code: number,
    what: string,
  ) {
    super(what);
  }
}

/** Bytes that the page brings along, in base64 and compressed. */
async function unpacked(id: string): Promise<ArrayBuffer> {
  const packed = Uint8Array.from(atob(document.getElementById(id)!.textContent!.trim()), (c) => c.charCodeAt(0));
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"));
  return new Response(stream).arrayBuffer();
}

let wasm: Promise<ArrayBuffer> | undefined;
let script: string | undefined;

interface Waiting {
  resolve: (answer: unknown) => void;
  reject: (error: Error) => void;
}

/** One copy of the library, in a worker of its own. */
export class Engine {
  private readonly worker: Worker;
  private readonly waiting = new Map<number, Waiting>();
  private last = 0;

  constructor() {
    script ??= URL.createObjectURL(
      new Blob([document.getElementById("worker")!.textContent!], { type: "text/javascript" }),
    );
    this.worker = new Worker(script);
    this.worker.onmessage = ({ data }: MessageEvent<{ number: number; text: string }>) => this.take(data.number, data.text);
    this.worker.onerror = (event) => this.fail(new LibraryError(7, `the library has stopped: ${event.message}`));
    wasm ??= unpacked("wasm");
    void wasm.then((bytes) => this.worker.postMessage({ wasm: bytes }));
  }

  /** Asks; the promise is rejected with a LibraryError if the library refuses. */
  ask<Q extends keyof Answers>(ask: Q, question: Question = {}): Promise<Answers[Q]> {
    const number = ++this.last;
    return new Promise((resolve, reject) => {
      this.waiting.set(number, { resolve: resolve as (answer: unknown) => void, reject });
      void wasm!.then(() => this.worker.postMessage({ number, question: JSON.stringify({ ask, ...question }) }));
    });
  }

  /** Ends it, whatever it is doing. */
  end(): void {
    this.worker.terminate();
    this.fail(new LibraryError(0, "stopped"));
  }

  private take(number: number, text: string): void {
    const waiting = this.waiting.get(number);
    this.waiting.delete(number);
    const answer = JSON.parse(text) as { ok?: unknown; error?: { code: number; what: string } };
    if (answer.error) waiting?.reject(new LibraryError(answer.error.code, answer.error.what));
    else waiting?.resolve(answer.ok);
  }

  private fail(error: Error): void {
    for (const waiting of this.waiting.values()) waiting.reject(error);
    this.waiting.clear();
  }
}
