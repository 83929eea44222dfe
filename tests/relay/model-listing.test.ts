import { expect, test } from 'vitest';
import { serveDialectRouter } from '../support/callers/served-dialect-router.js';

test('a listing reads every channel once, however many models there are, and names the first provider of each', async () => {
  const models = Array.from({ length: 50 }, (_, number) => `model-${number}`);
  let looked = 0;
  const channel = (type: number, serves: readonly string[]) => ({
    settings: {
      type,
      get models() {
        looked++;
        return serves;
      },
    },
  });
  const channels = [channel(1, models.slice(0, 10)), channel(2, models.slice(5, 40)), channel(3, [])];
  const directory = {
    channels: () => channels,
    models: () => models,
    settings: () => ({ selfUseMode: true, prices: { groupRatio: new Map() }, maxOutputTokens: new Map() }),
  };
  const caller = { user: { group: 'default' }, apiKey: { terms: { group: '', modelLimitsEnabled: false } } };
  const url = await serveDialectRouter({
    relay: { identify: async () => caller },
    directory,
    providerName: (type: number) => `Provider ${type}`,
  } as never);
  const { data } = (await (await fetch(`${url}/v1/models`)).json()) as { data: { id: string; owned_by: string }[] };
  expect(data.map(({ owned_by }) => owned_by)).toEqual([
    ...Array(10).fill('provider 1'),
    ...Array(30).fill('provider 2'),
    ...Array(10).fill('custom'),
  ]);
  expect(looked).toBe(channels.length);
});
