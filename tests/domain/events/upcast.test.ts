import { describe, expect, test } from 'vitest';
import { currentPayloads, payloadVersions } from '../../../src/domain/events/upcast.js';

describe('payload versions', () => {
  const versions = payloadVersions({
    OptionChanged: [
      ({ name, ...rest }) => ({ ...rest, key: name }),
      (data) => ({ ...data, value: { text: data.value } }),
    ],
  });

  test('a type without upcasters has version 1', () => {
    expect(versions.current('UsernameReleased')).toBe(1);
    expect(versions.upcast('UsernameReleased', 1, {})).toEqual({ type: 'UsernameReleased' });
  });

  test('each upcaster adds a version', () => {
    expect(versions.current('OptionChanged')).toBe(3);
  });

  test.each([
    [1, { name: 'a', value: 'b' }],
    [2, { key: 'a', value: 'b' }],
    [3, { key: 'a', value: { text: 'b' } }],
  ])('version %i is lifted to the present shape', (version, data) => {
    expect(versions.upcast('OptionChanged', version, data)).toEqual({
      type: 'OptionChanged',
      key: 'a',
      value: { text: 'b' },
    });
  });

  test.each([0, 4])('version %i, which this release does not know, is refused', (version) => {
    expect(() => versions.upcast('OptionChanged', version, {})).toThrow(/versions 1 to 3/);
  });

  test.each(['CreditLent', 'constructor'])('the type %s, which this release does not know, is refused', (type) => {
    expect(() => versions.upcast(type, 1, {})).toThrow(
      `The event ${type} cannot be read: this release knows no events of that type`,
    );
  });

  test('names that every object has are ordinary type names', () => {
    expect(versions.current('constructor')).toBe(1);
  });
});

describe('API keys from before budgets', () => {
  test.each(['ApiKeyIssued', 'ApiKeyEdited'])('have none (%s)', (type) => {
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

describe('outcomes of calls from before suspense had a figure', () => {
  test('a release whose upstream cost nobody knew books what was held', () => {
    const { upcast } = currentPayloads;
    const known = { reserved: 40, upstreamCostUnknown: false };
    expect(upcast('CallReleased', 1, known)).toEqual({ type: 'CallReleased', reserved: 40, suspense: 0 });
    const unknown = { reserved: 40, upstreamCostUnknown: true };
    expect(upcast('CallReleased', 1, unknown)).toEqual({ type: 'CallReleased', reserved: 40, suspense: 40 });
  });

  test('a settlement books nothing', () => {
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
