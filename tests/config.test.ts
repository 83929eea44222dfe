import { readFileSync } from 'node:fs';
import { parseEnv } from 'node:util';
import { describe, expect, test } from 'vitest';
import { ConfigError, environment, readConfig } from '../src/config.js';

const file = (name: string): string => readFileSync(new URL(`../${name}`, import.meta.url), 'utf8');

/** What a start with these variables is refused with, one line per variable; [] when it is not refused. */
const problemsOf = (env: Record<string, string>): readonly string[] => {
  try {
    readConfig(env);
    return [];
  } catch (error) {
    if (error instanceof ConfigError) return error.problems;
    throw error;
  }
};

describe('an empty environment', () => {
  const config = readConfig({});

  test('listens on loopback, port 3000, and trusts no proxy', () => {
    expect(config.server).toMatchObject({ host: '127.0.0.1', port: 3000, trustedProxies: [] });
  });
  test('uses the embedded Postgres and a key file, both in ./data', () => {
    const waiting = { takeoverWaitMs: 10_000, appendPatienceMs: 15_000 };
    expect(config.database).toEqual({ url: null, dataDir: './data', ...waiting, journal: true });
    expect(config.vault).toEqual({ secretKey: null, dataDir: './data' });
  });
  test('uses a journal with the embedded Postgres, unless it is switched off, and with no other', () => {
    expect(readConfig({ APPEND_JOURNAL: 'false' }).database.journal).toBe(false);
    const elsewhere = { DATABASE_URL: 'postgres://u@h/d', APPEND_JOURNAL: 'true' };
    expect(readConfig(elsewhere).database.journal).toBe(false);
  });
  test('accepts bodies up to 64 MiB', () => {
    expect(config.server.maxBodyBytes).toBe(67_108_864);
  });
  test('limits /api, pages and logins as older gateways did', () => {
    expect(config.server.rateLimits).toEqual({
      api: { limit: 180, windowSeconds: 180 },
      web: { limit: 60, windowSeconds: 180 },
      critical: { limit: 20, windowSeconds: 1200 },
    });
  });
  test('sets the timeout of a silent stream to a minute and of every upstream call to ten', () => {
    expect(config.relay).toMatchObject({ streamIdleMs: 60_000, answerTimeoutMs: 600_000 });
  });
});

describe('a variable that is set', () => {
  test('replaces the default', () => {
    const { server, relay, log } = readConfig({ PORT: '0', RELAY_TIMEOUT: '30', LOG_LEVEL: 'WARN' });
    expect([server.port, relay.answerTimeoutMs, log.level]).toEqual([0, 30_000, 'warn']);
  });
  test('is ignored when it is empty or blank', () => {
    expect(readConfig({ PORT: '', DATABASE_URL: '  ', REDIS_URL: '', TRUSTED_PROXIES: '' })).toEqual(readConfig({}));
  });
  test('can switch a rate limit off', () => {
    expect(readConfig({ GLOBAL_API_RATE_LIMIT_ENABLE: 'false' }).server.rateLimits.api).toBeNull();
  });
  test('lists trusted proxies as addresses and ranges', () => {
    const { server } = readConfig({ TRUSTED_PROXIES: '10.0.0.0/8, ::1' });
    expect(server.trustedProxies).toEqual(['10.0.0.0/8', '::1']);
  });
  test('may belong to another program', () => {
    expect(readConfig({ HOME: '/root', EDITOR: 'ed' })).toEqual(readConfig({}));
  });
});

describe('a wrong value', () => {
  test.each([
    ['PORT', '70000', 'PORT is "70000"; use an integer from 0 to 65535'],
    ['PORT', '0x50', 'PORT is "0x50"; use an integer from 0 to 65535'],
    ['STREAMING_TIMEOUT', '0', 'STREAMING_TIMEOUT is "0"; use an integer from 1 to 86400'],
    ['FORCE_STREAM_OPTION', 'maybe', 'FORCE_STREAM_OPTION is "maybe"; use true or false'],
    ['LOG_LEVEL', 'loud', 'LOG_LEVEL is "loud"; use one of fatal, error, warn, info, debug, trace, silent'],
    ['RELEASES_URL', 'api.example', 'RELEASES_URL is "api.example"; use an http:// or https:// address'],
    ['HOST', 'http://x', 'HOST is "http://x"; use an address or host name to listen on'],
    ...['10.0.0.1:80', '[::1]', 'fe80::1%eth0', '::ffff:10.0.0.0/95', '10.0.0.1,,10.0.0.2'].map((value) => [
      'TRUSTED_PROXIES',
      value,
      `TRUSTED_PROXIES is "${value}"; use addresses or CIDR ranges such as 10.0.0.0/8 or ::1, separated by commas`,
    ]),
    [
      'TRUSTED_PROXIES',
      '10.0.0.0/33',
      'TRUSTED_PROXIES is "10.0.0.0/33"; use addresses or CIDR ranges such as 10.0.0.0/8 or ::1, separated by commas',
    ],
  ])('%s=%s is refused with its name and the allowed values', (name, value, problem) => {
    expect(problemsOf({ [name]: value })).toEqual([problem]);
  });

  test('is not reported for another spelling of a right one', () => {
    const { trustedProxies } = readConfig({ TRUSTED_PROXIES: '::ffff:10.0.0.0/104, 2001:DB8:0::1,10.0.0.1' }).server;
    expect(trustedProxies).toEqual(['10.0.0.0/8', '2001:db8::1', '10.0.0.1']);
  });

  test('is not repeated when it may be a secret', () => {
    expect(problemsOf({ SECRET_KEY: 'too-short-a-secret', DATABASE_URL: 'mysql://root:hunter2@db/x' })).toEqual([
      'DATABASE_URL: use postgres://user:password@host:port/database',
      'SECRET_KEY: use at least 32 characters without spaces',
    ]);
  });
  test('is reported together with every other one, a line each', () => {
    expect(() => readConfig({ PORT: 'x', RELAY_TIMEOUT: '-1' })).toThrow(
      /^PORT is "x"; [^\n]+\nRELAY_TIMEOUT is "-1"; [^\n]+$/,
    );
  });
});

describe('an unsupported feature', () => {
  test('of several nodes is refused: REDIS_URL', () => {
    expect(problemsOf({ REDIS_URL: 'redis://:hunter2@cache' })).toEqual([
      'REDIS_URL: unset it: this version runs on one node, which needs no Redis',
    ]);
  });
  test('of an external event store is refused: EVENTSTORE_URL', () => {
    expect(problemsOf({ EVENTSTORE_URL: 'esdb://events' })).toEqual([
      'EVENTSTORE_URL: unset it: this version keeps its events in Postgres; EventStoreDB comes later',
    ]);
  });
});

describe('the documentation of the variables', () => {
  const names = Object.keys(environment.shape).sort();
  const example = parseEnv(file('.env.example')) as Record<string, string>;
  const documented = new Map(
    [...file('docs/configuration.md').matchAll(/^\| `([A-Z_]+)` \| (?:`(.*?)`|–) \|/gm)].map(
      ([, name, initial]) => [name ?? '', initial ?? ''] as const,
    ),
  );

  test('lists every variable with its default in .env.example', () => {
    expect(Object.keys(example).sort()).toEqual(names);
    expect(readConfig(example)).toEqual(readConfig({}));
  });
  test('describes every variable or group in .env.example', () => {
    const groups = file('.env.example').split(/\n\n/);
    expect(groups.filter((group) => /^[A-Z_]+=/m.test(group) && !group.includes('#'))).toEqual([]);
  });
  test('lists every variable with its default in docs/configuration.md', () => {
    expect([...documented.keys()].sort()).toEqual(names);
    expect(Object.fromEntries(documented)).toEqual(example);
  });
});
