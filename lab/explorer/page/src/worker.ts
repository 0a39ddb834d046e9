// The worker: it holds the library, which is compiled to WebAssembly, and answers one question after another.
interface Library {
  _circoll_answer(question: number): number;
  _malloc(bytes: number): number;
  _free(at: number): void;
  UTF8ToString(at: number): string;
  stringToUTF8(text: string, at: number, most: number): void;
  lengthBytesUTF8(text: string): number;
}
declare function circollEngine(settings: { wasmBinary: ArrayBuffer }): Promise<Library>;

let library: Promise<Library> | undefined;

function answer(lib: Library, question: string): string {
  const bytes = lib.lengthBytesUTF8(question) + 1;
  const at = lib._malloc(bytes);
  lib.stringToUTF8(question, at, bytes);
  try {
    return lib.UTF8ToString(lib._circoll_answer(at));
  } catch (error) {
    return JSON.stringify({ error: { code: 7, what: `the library has stopped: ${String(error)}` } });
  } finally {
    lib._free(at);
  }
}

self.onmessage = async ({ data }: MessageEvent<{ wasm?: ArrayBuffer; number: number; question: string }>) => {
  if (data.wasm) {
    library = circollEngine({ wasmBinary: data.wasm });
    return;
  }
  const text = answer(await library!, data.question);
  (self as unknown as { postMessage(message: unknown): void }).postMessage({ number: data.number, text });
};
