import { join } from 'node:path';
import react from '@vitejs/plugin-react';
import { defineConfig } from 'vite';

/** Where `npm run dev:web` finds the gateway. */
const gateway = process.env.GATEWAY_URL ?? 'http://127.0.0.1:3000';

export default defineConfig({
  root: import.meta.dirname,
  plugins: [react()],
  resolve: {
    alias: [
      { find: /^\.\/iconLoader$/, replacement: join(import.meta.dirname, 'src/kit/stringIcons.ts') },
      { find: /^victory-vendor\/d3-scale$/, replacement: join(import.meta.dirname, 'src/kit/chart/scales.ts') },
    ],
  },
  server: {
    proxy: {
      '/graphql': { target: gateway, ws: true },
      '/api': gateway,
      '/export': gateway,
      '/v1': gateway,
    },
  },
  build: {
    target: 'es2022',
    manifest: true,
    emptyOutDir: true,
    // Small images stay files: the content security policy is simpler for it, and they are cached on their own.
    assetsInlineLimit: 0,
    // The console's whole stylesheet is one file, cached with the first page.
    cssCodeSplit: true,
    chunkSizeWarningLimit: 400,
    rolldownOptions: {
      output: {
        codeSplitting: {
          groups: [
            { name: 'react', test: /node_modules[\\/](react|react-dom|react-router|react-router-dom|scheduler)[\\/]/ },
            { name: 'graphql', test: /node_modules[\\/](@apollo|graphql|graphql-ws|rxjs|optimism|@wry)[\\/]/ },
          ],
        },
      },
    },
  },
});
