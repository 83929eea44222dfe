import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { expect, test } from 'vitest';
import { endAllBelow, servesData } from '../../torture/processes.js';
import { isAlive } from '../support/gateway/gateway-process.js';

/* What a torture that is ended before its time leaves behind: nobody. */

test.skipIf(process.platform !== 'linux')(
  'a torture that is ended early kills the processes below it, also those that are stopped',
  async () => {
    const child = spawn('sh', ['-c', 'sleep 1000 & kill -STOP $!; echo $!; wait'], {
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    const [line] = await once(child.stdout, 'data');
    const sleeping = Number(String(line).trim());
    expect(isAlive(sleeping)).toBe(true);
    expect(await servesData(sleeping, '1000')).toBe(true);
    expect(await servesData(sleeping, '/somewhere/else')).toBe(false);
    const ended = once(child, 'exit');
    await endAllBelow(child.pid ?? 0, new Set([sleeping]));
    expect(isAlive(sleeping)).toBe(true);
    await endAllBelow(child.pid ?? 0);
    await ended;
    expect(isAlive(sleeping)).toBe(false);
  },
);
