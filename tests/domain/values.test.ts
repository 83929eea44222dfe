import { describe, expect, test } from 'vitest';
import { beginning, Position, streamKey, streams } from '../../src/domain/events/events.js';
import { assertNever, Failure, invalidField } from '../../src/domain/kernel/failure.js';
import { ApiKeyId, CallId, ChannelId, Sealed, SecretId, UserId } from '../../src/domain/kernel/ids.js';
import { Instant, unixSeconds } from '../../src/domain/kernel/instant.js';
import { max, minus, plusQuota, Quota, zero } from '../../src/domain/kernel/quota.js';
import { atLeast } from '../../src/domain/user/role.js';

const code = (expected: string) => expect.objectContaining({ code: expected });

describe('a numeric id', () => {
  test.each([UserId, ApiKeyId, ChannelId])('is a positive integer, as number or text', (parse) => {
    expect(parse(7)).toBe(7);
    expect(parse('7')).toBe(7);
    for (const raw of [0, -1, 1.5, Number.NaN, 2 ** 53, '', ' 7', '7x', '-7', '1e3', null, undefined, {}])
      expect(() => parse(raw)).toThrow(code('invalid-field'));
  });
});

describe('a text id', () => {
  test.each([CallId, SecretId, Sealed])('is a non-empty text', (parse) => {
    expect(parse('abc')).toBe('abc');
    for (const raw of ['', 7, null, undefined]) expect(() => parse(raw)).toThrow(code('invalid-field'));
  });
});

describe('an instant', () => {
  test('is in integer milliseconds', () => {
    expect(Instant(1_800_000_000_123)).toBe(1_800_000_000_123);
    for (const raw of [1.5, Number.NaN, '1', null]) expect(() => Instant(raw)).toThrow(code('invalid-field'));
  });
  test('in unix seconds is rounded down', () => {
    expect(unixSeconds(Instant(1_999))).toBe(1);
    expect(unixSeconds(Instant(-1))).toBe(-1);
  });
});

describe('a quota', () => {
  test('is a safe integer', () => {
    expect(Quota(-5)).toBe(-5);
    expect(Quota(Number.MAX_SAFE_INTEGER)).toBe(Number.MAX_SAFE_INTEGER);
    for (const raw of [1.5, 2 ** 53, Number.NaN, Number.POSITIVE_INFINITY, '5', null])
      expect(() => Quota(raw)).toThrow(code('quota-out-of-range'));
  });
  test('has one zero: -0 and 0 are the same amount', () => {
    expect(Object.is(Quota(-0), 0)).toBe(true);
    expect(Object.is(minus(zero, zero), 0)).toBe(true);
  });
  test('can be added, subtracted and compared', () => {
    expect(plusQuota(Quota(2), Quota(3))).toBe(5);
    expect(minus(Quota(2), Quota(3))).toBe(-1);
    expect(max(Quota(2), Quota(3))).toBe(3);
    expect(max(Quota(3), Quota(2))).toBe(3);
  });
  test('refuses a sum beyond the safe integers', () => {
    expect(() => plusQuota(Quota(Number.MAX_SAFE_INTEGER), Quota(1))).toThrow(code('quota-out-of-range'));
    expect(() => minus(Quota(Number.MIN_SAFE_INTEGER), Quota(1))).toThrow(code('quota-out-of-range'));
  });
});

describe('a position', () => {
  test('is an integer from -1, which is before the first', () => {
    expect(Position('42')).toBe(42);
    expect(Position(42n)).toBe(42);
    expect(beginning).toBe(-1);
    for (const raw of [-2, 1.5, Number.NaN, 'x']) expect(() => Position(raw)).toThrow(code('invalid-field'));
  });
});

describe('a stream', () => {
  test('is named by its kind and its id', () => {
    expect(streams.user(UserId(7))).toBe('user-7');
    expect(streams.apiKey(ApiKeyId(12))).toBe('apikey-12');
    expect(streams.channel(ChannelId(3))).toBe('channel-3');
    expect(streams.call(CallId('20260102-x'))).toBe('call-20260102-x');
    expect(streams.options).toBe('options');
    expect(streams.system).toBe('system');
  });
  test('has a name that is the same in any letter case', () =>
    expect(streams.username('Alice')).toBe(streams.username('aLICE')));
  test('has a name from which the id can be read, dashes included', () => {
    expect(streamKey(streams.user(UserId(7)))).toBe('7');
    expect(streamKey(streams.call(CallId('a-b-c')))).toBe('a-b-c');
  });
});

describe('a role', () => {
  test('includes the roles below it', () => {
    expect(atLeast('root', 'admin')).toBe(true);
    expect(atLeast('admin', 'admin')).toBe(true);
    expect(atLeast('ordinary', 'admin')).toBe(false);
    expect(atLeast('admin', 'root')).toBe(false);
  });
});

describe('a domain failure', () => {
  test('has a kind by its code', () => {
    expect(new Failure('username-taken')).toMatchObject({ kind: 'conflict', message: 'username-taken', details: {} });
    expect(new Failure('insufficient-user-quota').kind).toBe('exhausted');
  });
  test('about a field names the field and the allowed values', () =>
    expect(invalidField('weight', 'an integer from 0')).toMatchObject({
      code: 'invalid-field',
      kind: 'invalid',
      details: { field: 'weight', allowed: 'an integer from 0' },
    }));
  test('is not the result of an unhandled case: that is a bug', () =>
    expect(() => assertNever({ type: 'Forgotten' } as never)).toThrow('Unhandled case: {"type":"Forgotten"}'));
});
