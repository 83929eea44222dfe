import { spawnSync } from 'node:child_process';
import { getPriority } from 'node:os';
import { describe, expect, test } from 'vitest';

/** Of `nice`, which whoever runs the tests may have lowered. */
const ours = getPriority();
const source = new URL('../../src/process/thread-priorities.ts', import.meta.url).href;

/** What a process of its own prints, read as JSON. */
function printedBy(script: string, flags: readonly string[] = []): unknown {
  const options = ['--import', 'tsx', '--input-type=module', ...flags];
  const printed = spawnSync(process.execPath, [...options, '-e', script], { encoding: 'utf8' });
  expect(printed.stderr).toBe('');
  return JSON.parse(printed.stdout);
}

const threadsOf = `
  import { readdirSync, readFileSync } from 'node:fs';
  const { letHelpersWait } = await import('${source}');
  const niceAt = 16;
  const threads = () => readdirSync('/proc/self/task').map(Number).map((id) => ({
    id,
    nice: Number(readFileSync('/proc/self/task/' + id + '/stat', 'utf8').split(') ')[1].split(' ')[niceAt]),
    ranNs: Number(readFileSync('/proc/self/task/' + id + '/schedstat', 'utf8').split(' ')[0]),
  }));
`;

describe.runIf(process.platform === 'linux')('the threads with a lower priority', () => {
  test('are those of the garbage collector', () => {
    const printed = printedBy(`${threadsOf}
      letHelpersWait();
      const before = new Map(threads().map(({ id, ranNs }) => [id, ranNs]));
      const beside = () => threads().filter(({ id, ranNs }) => id !== process.pid && ranNs - (before.get(id) ?? 0) > 20e6);
      const kept = [];
      const until = Date.now() + 60_000;
      let busy = [];
      while (busy.length === 0 && Date.now() < until) {
        for (let made = 0; made < 300_000; made++) kept[made] = { made: [made] };
        busy = beside();
      }
      const main = threads().find(({ id }) => id === process.pid);
      console.log(JSON.stringify({ main: main.nice, busy: [...new Set(busy.map(({ nice }) => nice))] }));
    `);
    expect(printed).toEqual({ main: ours, busy: [Math.min(ours + 10, 19)] });
  });

  test('are unchanged where another pool size is configured', () => {
    const printed = printedBy(
      `${threadsOf}
      letHelpersWait();
      console.log(JSON.stringify(threads().filter(({ nice }) => nice !== ${ours})));
    `,
      ['--v8-pool-size=2'],
    );
    expect(printed).toEqual([]);
  });
});
