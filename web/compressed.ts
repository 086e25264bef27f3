import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { brotliCompressSync, constants, gzipSync } from 'node:zlib';
import type { Plugin } from 'vite';

/** Writes beside each file what a server sends to browsers: the file compressed as far as it goes. */
export function compressed(): Plugin {
  return {
    name: 'hookline-compressed',
    apply: 'build',
    // The files as they are on disk: other plugins change them until the last moment.
    writeBundle({ dir = '' }, bundle) {
      const quality = { params: { [constants.BROTLI_PARAM_QUALITY]: constants.BROTLI_MAX_QUALITY } };
      for (const path of Object.keys(bundle).map((name) => join(dir, name))) {
        const content = readFileSync(path);
        writeFileSync(`${path}.br`, brotliCompressSync(content, quality));
        writeFileSync(`${path}.gz`, gzipSync(content, { level: 9 }));
      }
    },
  };
}
