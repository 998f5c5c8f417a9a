// The library in this page: unpacked and compiled once, opened in each thread that asks.
import open, { type Glue } from 'ridge-wasm';

/** Unpack and compile what the build embedded in the page. */
export async function compileLibrary(): Promise<WebAssembly.Module> {
  const text = document.getElementById('ridge-wasm')?.textContent;
  if (!text) throw new Error('the page lacks its library: build it again');
  const packed = Uint8Array.from(atob(text), (c) => c.charCodeAt(0));
  const unpacked = new Blob([packed]).stream().pipeThrough(new DecompressionStream('gzip'));
  return WebAssembly.compile(await new Response(unpacked).arrayBuffer());
}

export async function openLibrary(module: WebAssembly.Module): Promise<Glue> {
  return open({
    instantiateWasm(imports, receive) {
      void WebAssembly.instantiate(module, imports).then((instance) => receive(instance, module));
      return {};
    },
  });
}

/** Call with a text of C that lives for the call. */
export function withText<T>(glue: Glue, text: string, call: (at: number) => T): T {
  const bytes = glue.lengthBytesUTF8(text) + 1;
  const at = glue._malloc(bytes);
  try {
    glue.stringToUTF8(text, at, bytes);
    return call(at);
  } finally {
    glue._free(at);
  }
}
