import { spawnSync } from 'node:child_process';
import { expect, test } from 'vitest';

test('V8 accepts the flags for allocation without a warning', () => {
  const source = new URL('../../src/process/allocation.ts', import.meta.url).href;
  const result = spawnSync(
    process.execPath,
    [
      '--import',
      'tsx',
      '--input-type=module',
      '-e',
      `(await import('${source}')).allocateYoung(); console.log('told')`,
    ],
    { encoding: 'utf8' },
  );
  expect([result.stdout, result.stderr]).toEqual(['told\n', '']);
});
