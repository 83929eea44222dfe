import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { PricedModel } from '../../src/application/prices/price-list.js';
import { Instant } from '../../src/domain/kernel/instant.js';
import type { TokenPrice } from '../../src/domain/pricing/pricing.js';
import { type Cast, dataOf, openStage, type RestServer, send, serveRest } from './rest-server.js';

/* What `/api/pricing` says beside the members of its contract: of tiers, dates, media, tools and tiers of service. */

type Item = Readonly<Record<string, unknown>>;

/** All that an older client reads. */
const contract = [
  'model_name',
  'owner_by',
  'quota_type',
  'model_ratio',
  'model_price',
  'completion_ratio',
  'cache_ratio',
  'reasoning_ratio',
  'enable_groups',
];

const listed = async (url: string): Promise<ReadonlyMap<string, Item>> =>
  new Map(
    dataOf<Item[]>(await send(url, 'GET', '/api/pricing')).map((item) => [String(item.model_name), item] as const),
  );

let stage: Cast;
beforeAll(async () => {
  stage = await openStage();
});
afterAll(() => stage?.stop());

describe('GET /api/pricing of a gateway with prices of every kind', () => {
  beforeAll(async () => {
    const { gateway } = stage;
    await gateway.setOption('ModelRatio', '{"long":1.25,"gemini-9-pro":1,"gpt-4o-audio-preview":1.25,"claude-9":2}');
    await gateway.setOption('CompletionRatio', '{"long":6}');
    await gateway.setOption('CacheRatio', '{"long":0.1}');
    await gateway.setOption('ModelPrice', '{"per-call":0.04}');
    await gateway.setOption('ImageOutputRatio', '{"gemini-9-pro":15}');
    await gateway.setOption(
      'ContextTiers',
      '{"long":[{"over":200000,"input":1.5,"output":1.2},{"over":272000,"input":2,"output":1.5,"cachedInput":3}]}',
    );
    await gateway.setOption('ServiceTiers', '{"long":{"flex":0.5,"priority":2.5},"claude-*":{"fast":2}}');
    await gateway.setOption(
      'ToolPrice',
      '{"web_search":10,"web_search:long*":25,"google_search":14,"google_maps":0,"code_execution":50}',
    );
    await gateway.addChannel({
      models: ['long', 'gemini-9-pro', 'gpt-4o-audio-preview', 'claude-9', 'per-call', 'text-embedding-3-small'],
    });
  });

  test('shows the cost of a call in each context tier, relative to the plain input of that tier', async () => {
    expect((await listed(stage.url)).get('long')).toEqual({
      model_name: 'long',
      owner_by: '',
      enable_groups: ['default'],
      quota_type: 0,
      model_ratio: 1.25,
      model_price: 0,
      completion_ratio: 6,
      cache_ratio: 0.1,
      reasoning_ratio: 6,
      create_cache_ratio: 1.25,
      create_cache_1h_ratio: 2,
      tiers: [
        {
          over: 200_000,
          model_ratio: 1.875,
          completion_ratio: 4.8,
          cache_ratio: 0.1,
          reasoning_ratio: 4.8,
          create_cache_ratio: 1.25,
          create_cache_1h_ratio: 2,
        },
        {
          over: 272_000,
          model_ratio: 2.5,
          completion_ratio: 4.5,
          cache_ratio: 0.15,
          reasoning_ratio: 4.5,
          create_cache_ratio: 1.25,
          create_cache_1h_ratio: 2,
        },
      ],
      tool_prices: { web_search: 25 },
      service_tiers: { flex: 0.5, priority: 2.5 },
    });
  });

  test('names media, the vendor’s tools, and service tiers by the beginning of a name', async () => {
    const items = await listed(stage.url);
    expect(items.get('gemini-9-pro')).toMatchObject({
      image_output_ratio: 15,
      tool_prices: { google_search: 14, google_maps: 0 },
    });
    expect(items.get('gpt-4o-audio-preview')).toMatchObject({
      audio_ratio: 40,
      audio_completion_ratio: 2,
      audio_output_ratio: 80,
      create_cache_ratio: 1,
    });
    expect(items.get('claude-9')).toMatchObject({
      tool_prices: { web_search: 10, code_execution: 50 },
      service_tiers: { fast: 2 },
    });
    expect(items.get('text-embedding-3-small')).not.toHaveProperty('tool_prices');
  });

  test('has tool prices of a model that is charged by the call, whose tokens have no ratio', async () => {
    expect((await listed(stage.url)).get('per-call')).toMatchObject({
      quota_type: 1,
      model_ratio: 0,
      model_price: 0.04,
      tool_prices: { web_search: 10 },
    });
  });

  test('only adds members: those of the contract are in every item, as numbers and texts', async () => {
    for (const item of (await listed(stage.url)).values()) {
      expect(Object.keys(item)).toEqual(expect.arrayContaining(contract));
      for (const member of contract.filter((name) => name.endsWith('_ratio') || name.endsWith('_price')))
        expect(item[member]).toBeTypeOf('number');
    }
  });

  test('follows a change of a price, of tools and of service tiers at once', async () => {
    const { gateway } = stage;
    await gateway.setOption('ServiceTiers', '{"long":{"flex":0.25}}');
    await gateway.setOption('ToolPrice', '{}');
    const items = await listed(stage.url);
    expect(items.get('long')).toMatchObject({ service_tiers: { flex: 0.25 } });
    expect(items.get('long')).not.toHaveProperty('tool_prices');
    expect(items.get('claude-9')).not.toHaveProperty('service_tiers');
  });
});

describe('GET /api/pricing of prices that options cannot state', () => {
  let served: RestServer;
  let prices: readonly PricedModel[];
  const token = (rest: Partial<TokenPrice>): TokenPrice => ({
    per: 'token',
    model: '1',
    ratios: { output: '4' },
    group: '1',
    ...rest,
  });
  const sold = (price: PricedModel['price'], rest: Partial<PricedModel> = {}): PricedModel => ({
    model: 'm',
    price,
    serviceTiers: [],
    coming: null,
    groups: ['default'],
    ...rest,
  });

  beforeAll(async () => {
    const { application } = stage.gateway;
    served = await serveRest({ ...application, queries: { ...application.queries, prices: () => prices } }, {});
  });
  afterAll(() => served?.stop());
  const only = async (price: PricedModel): Promise<Item | undefined> => {
    prices = [price];
    return (await listed(served.url)).get('m');
  };

  test('announces the next price with the second of its start, in the same members', async () => {
    const from = Instant(Date.UTC(2027, 0, 1));
    expect(
      await only(
        sold(token({}), {
          coming: { from, price: token({ model: '2' }), serviceTiers: [{ tier: 'flex', factor: '0.5' }] },
        }),
      ),
    ).toMatchObject({
      model_ratio: 1,
      coming: {
        from: 1_798_761_600,
        quota_type: 0,
        model_ratio: 2,
        model_price: 0,
        completion_ratio: 4,
        service_tiers: { flex: 0.5 },
      },
    });
    const perCall = { per: 'call', price: '0.5', quotaPerUnit: '500000', group: '1' } as const;
    expect(await only(sold(token({}), { coming: { from, price: perCall, serviceTiers: [] } }))).toMatchObject({
      quota_type: 0,
      coming: { quota_type: 1, model_price: 0.5, model_ratio: 0 },
    });
  });

  test('shows older clients the real cost of plain input, where it has a ratio of its own', async () => {
    const ratios = { input: '0.5', output: '4', cachedInput: '0.1', videoInput: '1', videoOutput: '8' };
    expect(await only(sold(token({ ratios })))).toMatchObject({
      model_ratio: 0.5,
      completion_ratio: 8,
      cache_ratio: 0.2,
      video_ratio: 2,
      video_output_ratio: 16,
    });
  });

  test('keeps the price of audio output where audio input is free', async () => {
    expect(await only(sold(token({ ratios: { audioInput: '0', audioOutput: '20' } })))).toMatchObject({
      audio_ratio: 0,
      audio_completion_ratio: 0,
      audio_output_ratio: 20,
    });
  });

  test('has prices by the second, the character and the picture in dollars for one', async () => {
    const dollars = { seconds: '0.0001', characters: '0.000015', images: '0.04', 'calls:web_search': '0.01' };
    expect(await only(sold(token({ pieces: { dollars, quotaPerUnit: '500000' } })))).toMatchObject({
      tool_prices: { web_search: 10 },
      piece_prices: { seconds: 0.0001, characters: 0.000015, images: 0.04 },
    });
  });
});
