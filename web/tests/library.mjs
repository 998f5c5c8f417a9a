// The library as it is in the page, without a browser: for tests of what it says.
import { existsSync, readFileSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

export const ROOT = resolve(dirname(fileURLToPath(import.meta.url)), '../..');
const BUILT = resolve(process.env.RIDGE_WASM_DIR ?? resolve(ROOT, 'build/emscripten'));

export async function openLibrary() {
  /* Emscripten's script looks whether it is in a worker. */
  globalThis.importScripts ??= () => {};
  globalThis.self ??= { location: { href: '' } };
  const { default: open } = await import(pathToFileURL(resolve(BUILT, 'ridge_web.mjs')).href);
  const module = await WebAssembly.compile(readFileSync(resolve(BUILT, 'ridge_web.wasm')));
  return open({
    instantiateWasm(imports, receive) {
      WebAssembly.instantiate(module, imports).then((instance) => receive(instance, module));
      return {};
    },
  });
}

function makeFolders(at, path) {
  const parts = path.split('/').slice(0, -1);
  parts.forEach((_, i) => {
    const folder = parts.slice(0, i + 1).join('/');
    if (folder && !at.FS.analyzePath(folder).exists) at.FS.mkdir(folder);
  });
}

/** Lay a file of the tree where the library finds it by the same path. */
export function lend(at, path) {
  if (!existsSync(resolve(ROOT, path))) return;
  makeFolders(at, path);
  at.FS.writeFile(path, readFileSync(resolve(ROOT, path)));
}

/** @return exit code, stdout and stderr of `ridge WORDS` */
export function ask(at, words) {
  const text = JSON.stringify(words);
  const bytes = at.lengthBytesUTF8(text) + 1;
  const request = at._malloc(bytes);
  at.stringToUTF8(text, request, bytes);
  const reply = at._bridge_ask(request);
  at._free(request);
  const said = { code: at._bridge_code(reply), out: at.UTF8ToString(at._bridge_out(reply)), err: at.UTF8ToString(at._bridge_err(reply)) };
  at._bridge_close(reply);
  return said;
}
