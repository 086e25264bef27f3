import { defineConfig } from 'vite';
import { compressed } from '../compressed.ts';

/** The API reference of `/docs`: Swagger UI from its package, with a style of ours. */
export default defineConfig({
  root: import.meta.dirname,
  base: './',
  plugins: [compressed()],
  build: {
    outDir: 'dist',
    emptyOutDir: true,
    target: 'es2023',
    modulePreload: { polyfill: false },
    assetsInlineLimit: 0,
    // Swagger UI comes as one minified file of 1.7 MB, which leaves nothing to split.
    chunkSizeWarningLimit: 2_000,
    // Compressing takes most of the time, as it should.
    rolldownOptions: { checks: { bundlerTimings: false } },
  },
});
