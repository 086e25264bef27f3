import react from '@vitejs/plugin-react';
import { defineConfig } from 'vite';
import { compressed } from './compressed.ts';
import { pageStyle } from './page-style.ts';

/** The API that `npm run web` (Vite's own server, for work on the application) passes requests on to. */
const API = 'http://127.0.0.1:8080';

export default defineConfig({
  root: import.meta.dirname,
  // Addresses of files are relative to each other, so that the service may have any path below its public address.
  base: './',
  plugins: [react(), pageStyle(), compressed()],
  build: {
    outDir: 'dist',
    emptyOutDir: true,
    target: 'es2023',
    // Browsers since spring of 2024: they know `light-dark()`.
    cssTarget: ['chrome123', 'firefox121', 'safari17.5'],
    modulePreload: { polyfill: false },
    // Everything is a file of its own: the policy allows no `data:` but for images.
    assetsInlineLimit: 0,
  },
  server: { proxy: { '^/(v\\d|oauth|\\.well-known)': API } },
});
