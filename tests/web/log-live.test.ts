import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import type { LogRowFragment } from '../../web/src/generated/log/log.js';
import { shortenLog } from '../../web/src/log/shortenedLog.js';
import { noneWaiting, withLine } from '../../web/src/log/waitingLines.js';
import { logCache } from './log-cache.js';

const line = (id: number): LogRowFragment => ({
  id: String(id),
  requestId: null,
  createdAt: 1_790_000_000 + id,
  type: 'CONSUME',
  quota: 1,
  promptTokens: 1,
  completionTokens: 0,
  cachedTokens: 0,
  cacheWriteTokens: 0,
  imageTokens: 0,
  reasoningTokens: 0,
  model: 'gpt-4o',
  upstreamModel: null,
  alias: null,
  apiKeyName: 'demo',
  group: 'default',
  useTimeMs: 10,
  firstTokenMs: null,
  isStream: false,
  outcome: 'COMPLETED',
  detail: null,
});

const delivered = (ids: readonly number[]) => ids.map(line).reduce(withLine, noneWaiting);

describe('the lines that wait to be shown', () => {
  test('are newest first, as in the table', () => {
    expect(delivered([5, 6, 9]).lines.map(({ id }) => id)).toEqual(['9', '6', '5']);
  });

  test('are there once, whatever a restored connection repeats', () => {
    expect(delivered([5, 6, 5, 6, 7]).lines.map(({ id }) => id)).toEqual(['7', '6', '5']);
  });

  test('are limited: the oldest are dropped, and that is recorded', () => {
    const many = delivered(Array.from({ length: 201 }, (_, place) => place + 1));
    expect(many.lines).toHaveLength(200);
    expect(many.lines.at(-1)?.id).toBe('2');
    expect(many.overflowed).toBe(true);
    expect(many.count).toBe(201);
  });
});

/** So many lines, newest first, and none before them. */
const opened = (length: number) => {
  const log = logCache();
  log.write(
    Array.from({ length }, (_, place) => length - place),
    { hasNextPage: false },
  );
  shortenLog(log.cache);
  return log;
};

describe('a log that has been open for long', () => {
  test('keeps its newest two hundred lines only, and records that there are more', () => {
    const log = opened(1_200);
    const kept = log.page(null, 200);
    expect(kept?.edges).toHaveLength(200);
    expect(kept?.pageInfo).toEqual({ hasNextPage: true, startCursor: '1200', endCursor: '1001' });
    expect(log.ids('1001', 10)).toBeUndefined();
    const lines = Object.keys(log.cache.extract()).filter((id) => id.startsWith('UsageLogLine:'));
    expect(lines).toHaveLength(200);
  });

  test('is unchanged while it is short', () => {
    const log = opened(200);
    expect(log.ids('10', 20)).toEqual([9, 8, 7, 6, 5, 4, 3, 2, 1]);
  });

  test('keeps nothing of a dropped line, even one with merged parts', () => {
    const script = fileURLToPath(new URL('maps-kept-by-a-log.ts', import.meta.url));
    const options = ['--no-warnings', '--import', 'tsx', script, '200'];
    const { stdout, stderr } = spawnSync(process.execPath, options, { encoding: 'utf8' });
    expect(stderr).toBe('');
    expect(Number(stdout || 'nothing')).toBeLessThan(200);
  });
});
