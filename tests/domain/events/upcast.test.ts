import { describe, expect, test } from 'vitest';
import { currentPayloads, payloadVersions } from '../../../src/domain/events/upcast.js';

describe('upcasting a payload', () => {
  const versions = payloadVersions({
    OptionChanged: [
      ({ name, ...rest }) => ({ ...rest, key: name }),
      (data) => ({ ...data, value: { text: data.value } }),
    ],
  });

  test('without upcasters keeps version 1', () => {
    expect(versions.current('UsernameReleased')).toBe(1);
    expect(versions.upcast('UsernameReleased', 1, {})).toEqual({ type: 'UsernameReleased' });
  });

  test('adds a version with each upcaster', () => {
    expect(versions.current('OptionChanged')).toBe(3);
  });

  test.each([
    [1, { name: 'a', value: 'b' }],
    [2, { key: 'a', value: 'b' }],
    [3, { key: 'a', value: { text: 'b' } }],
  ])('of version %i results in the present shape', (version, data) => {
    expect(versions.upcast('OptionChanged', version, data)).toEqual({
      type: 'OptionChanged',
      key: 'a',
      value: { text: 'b' },
    });
  });

  test.each([0, 4])('of the unknown version %i is refused', (version) => {
    expect(() => versions.upcast('OptionChanged', version, {})).toThrow(/versions 1 to 3/);
  });

  test.each(['CreditLent', 'constructor'])('of the unknown type %s is refused', (type) => {
    expect(() => versions.upcast(type, 1, {})).toThrow(
      `The event ${type} cannot be read: this release knows no events of that type`,
    );
  });

  test('treats names that objects inherit as ordinary type names', () => {
    expect(versions.current('constructor')).toBe(1);
  });
});

describe('an API key from before budgets', () => {
  test.each(['ApiKeyIssued', 'ApiKeyEdited'])('has none (%s)', (type) => {
    const stored = { owner: 7, terms: { name: 'ci', unlimited: false } };
    expect(currentPayloads.upcast(type, 1, stored)).toEqual({
      type,
      owner: 7,
      terms: { name: 'ci', unlimited: false, budget: null },
    });
    const budget = { quota: 5, period: 'daily' };
    const now = { owner: 7, terms: { name: 'ci', budget } };
    expect(currentPayloads.upcast(type, 2, now)).toEqual({ type, ...now });
  });
});

describe('an outcome of a call from before suspense had a figure', () => {
  test('books the reservation if it is a release with unknown upstream cost', () => {
    const { upcast } = currentPayloads;
    const known = { reserved: 40, upstreamCostUnknown: false };
    expect(upcast('CallReleased', 1, known)).toEqual({ type: 'CallReleased', reserved: 40, suspense: 0 });
    const unknown = { reserved: 40, upstreamCostUnknown: true };
    expect(upcast('CallReleased', 1, unknown)).toEqual({ type: 'CallReleased', reserved: 40, suspense: 40 });
  });

  test('books nothing if it is a settlement', () => {
    const price = { per: 'call', price: '1', quotaPerUnit: '5', group: '1' };
    const usage = { prompt: 2, cached: 0, cacheWrite: 0, image: 0, completion: 0, reasoning: 0 };
    expect(currentPayloads.upcast('CallSettled', 1, { charged: 5, usage, price })).toEqual({
      type: 'CallSettled',
      charged: 5,
      usage: { input: 2 },
      price,
      suspense: 0,
      uncovered: 0,
    });
  });
});
