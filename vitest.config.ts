import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';
import { LongestFirst } from './tests/support/longest-first.js';

export default defineConfig({
  // Without this, test code and type-graphql would each load a graphql of their own, which refuse each other's schemas.
  resolve: { alias: [{ find: /^graphql$/, replacement: 'graphql/index.js' }] },
  test: {
    include: ['tests/**/*.test.{ts,tsx}'],
    globalSetup: ['tests/support/global-setup.ts'],
    pool: 'forks',
    // Reading the gateway's modules anew for every file took more processor time than most files' tests.
    isolate: false,
    sequence: { sequencer: LongestFirst },
    // Most files wait for a database, a gateway or a browser longer than they work: three on two cores use half of them.
    maxWorkers: availableParallelism() + 2,
    testTimeout: 30_000,
    // One second, as usual, is no bound for a page to be drawn anew on a machine that does other things.
    expect: { poll: { timeout: 15_000 } },
    hookTimeout: 120_000,
  },
});
