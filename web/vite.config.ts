// One self-contained index.html: script, styles, worker and the wasm inside, so that the
// page opens from a disk as well as from a server, and never asks a network.
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { gzipSync } from 'node:zlib';
import { defineConfig, type Plugin } from 'vite';
import { viteSingleFile } from 'vite-plugin-singlefile';

// Where `cmake --build --preset emscripten` leaves ridge_web.mjs and ridge_web.wasm.
const built = resolve(process.env['RIDGE_WASM_DIR'] ?? '../build/emscripten');

function embedWasm(): Plugin {
  return {
    name: 'ridge-embed-wasm',
    transformIndexHtml() {
      const packed = gzipSync(readFileSync(resolve(built, 'ridge_web.wasm')), { level: 9 });
      return [
        {
          tag: 'script',
          attrs: { type: 'text/plain', id: 'ridge-wasm' },
          children: packed.toString('base64'),
          injectTo: 'body',
        },
      ];
    },
  };
}

export default defineConfig({
  base: './',
  plugins: [viteSingleFile(), embedWasm()],
  resolve: { alias: { 'ridge-wasm': resolve(built, 'ridge_web.mjs') } },
  worker: { format: 'iife' },
  server: { fs: { allow: ['..'] } },
  build: {
    target: 'es2022',
    outDir: process.env['RIDGE_WEB_OUT'] ?? '../build/web',
    emptyOutDir: true,
    assetsInlineLimit: 1 << 30,
    chunkSizeWarningLimit: 4000,
    reportCompressedSize: false,
  },
});
