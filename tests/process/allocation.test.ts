import { spawnSync } from 'node:child_process';
import { expect, test } from 'vitest';

test('V8 knows what it is told about where objects begin: else it would say so', () => {
  const source = new URL('../../src/process/allocation.ts', import.meta.url).href;
  const told = spawnSync(
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
  expect([told.stdout, told.stderr]).toEqual(['told\n', '']);
});
