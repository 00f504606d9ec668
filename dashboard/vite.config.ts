// How the dashboard becomes files: one script, one sheet, an icon. Nothing is inlined, so that a policy of "only from here" holds
// (Content-Security-Policy: default-src 'self'), and nothing is loaded from elsewhere.

import { fileURLToPath } from 'node:url'
import { defineConfig } from 'vite'

export default defineConfig({
  root: fileURLToPath(new URL('.', import.meta.url)),
  base: './',
  publicDir: 'public',
  logLevel: 'warn',
  oxc: { jsx: { runtime: 'automatic', importSource: 'preact' } },
  build: {
    outDir: fileURLToPath(new URL('../dist/dashboard', import.meta.url)),
    emptyOutDir: true,
    // light-dark() is understood by browsers since May 2024.
    target: ['chrome123', 'firefox120', 'safari17.5'],
    assetsInlineLimit: 0,
    modulePreload: false,
    reportCompressedSize: false,
  },
  server: {
    // npm run dashboard: pages from here, answers from the server that serves them otherwise.
    proxy: { '/api': process.env['PORTOLAN_API'] ?? 'http://127.0.0.1:7411' },
  },
})
