import { type ChannelTestUsage, channelDecider } from '../../domain/channel/channel.js';
import type { ChannelSettings } from '../../domain/channel/channel-settings.js';
import { type Position, streams } from '../../domain/events/events.js';
import type { RedemptionId } from '../../domain/kernel/ids.js';
import { Quota } from '../../domain/kernel/quota.js';
import { redemptionDecider } from '../../domain/payment/redemption.js';
import { priceOf } from '../../domain/pricing/price-tables.js';
import { chargeOf } from '../../domain/pricing/pricing.js';
import { channelCast, embeddingModel } from '../cast.js';
import { around, type Random } from '../random.js';
import { mannersOf, outages } from './faults.js';
import { dayMs, hourMs } from './hours.js';
import { channelNamed, personNamed, type Stage } from './stage.js';
import { topUp } from './top-up.js';

/* What people and the gateway itself have done in the past beside the calls. */

interface Act {
  /** Milliseconds since the past began. */
  readonly at: number;
  /** Resolves with the position after which it is in force; null: nothing came of it. */
  readonly run: (stage: Stage) => Promise<Position | null>;
}

const on = (day: number, hour: number, run: Act['run']): Act => ({ at: day * dayMs + hour * hourMs, run });

const option = (day: number, hour: number, key: string, value: string): Act =>
  on(day, hour, ({ app, seeded }) => app.options.change(seeded.root, key, value));

/** The price of one model, in a table of all. */
const modelRatio = (day: number, hour: number, model: string, ratio: number): Act =>
  on(day, hour, ({ app, seeded }) => {
    const table = JSON.parse(app.directory.settings().text('ModelRatio')) as Record<string, number>;
    return app.options.change(seeded.root, 'ModelRatio', JSON.stringify({ ...table, [model]: ratio }));
  });

const edit = (day: number, hour: number, channel: string, settings: Partial<ChannelSettings>): Act =>
  on(day, hour, (stage) => stage.app.channels.edit(stage.seeded.root, channelNamed(stage, channel), { settings }));

const switched = (day: number, hour: number, channel: string, enabled: boolean): Act =>
  on(day, hour, (stage) =>
    stage.app.channels.edit(stage.seeded.root, channelNamed(stage, channel), { settings: {}, enabled }),
  );

const grant = (day: number, hour: number, username: string, quota: number): Act =>
  on(day, hour, async (stage) => {
    const { id } = personNamed(stage, username);
    const position = await stage.app.users.adjustQuota(stage.seeded.root, id, { delta: 0, gift: quota });
    stage.balances.add(id, quota);
    return position;
  });

/** Codes are issued, and some of them are redeemed later. */
function codes(): Act[] {
  const quota = 100_000;
  const issued: RedemptionId[] = [];
  const redeem = (day: number, hour: number, username: string): Act =>
    on(day, hour, async (stage) => {
      const code = issued.shift();
      if (code === undefined) return null;
      const { id } = personNamed(stage, username);
      const command = {
        type: 'RedeemCode',
        user: id,
        role: 'ordinary',
        balance: Quota(stage.balances.of(id)),
      } as const;
      const { position } = await stage.handle(redemptionDecider, streams.redemption(code), command);
      stage.balances.add(id, quota);
      return position;
    });
  return [
    on(3, 9, async ({ app, seeded }) => {
      const batch = await app.redemptions.issue(seeded.root, { name: 'Hackathon', quota }, 6);
      issued.push(...batch.codes.map(({ id }) => id));
      return batch.position;
    }),
    redeem(6, 18.5, 'erin'),
    redeem(13, 17.2, 'erin'),
    redeem(15, 20.1, 'dave'),
    redeem(22, 19.4, 'erin'),
  ];
}

const refusedKey =
  'type authentication_error, httpCode 401, code invalid_api_key, message Incorrect API key provided by the deployment';

/** The flaky channel goes out by itself, fails a test, passes the next one and comes back. */
function comingAndGoing(random: Random): Act[] {
  const order = (stage: Stage, command: Parameters<typeof channelDecider.decide>[0]) =>
    stage.handle(channelDecider, streams.channel(channelNamed(stage, 'flaky')), command);
  const byItself = (stage: Stage) => {
    const channel = stage.app.directory.channel(channelNamed(stage, 'flaky'));
    if (channel === null) throw new Error('The flaky channel is gone');
    return { automatic: true, key: channel.secrets.key } as const;
  };
  return outages.flatMap(({ at, forMs }) => [
    {
      at,
      run: async (stage: Stage) =>
        (await order(stage, { type: 'DisableChannel', ...byItself(stage), reason: refusedKey })).position,
    },
    { at: at + forMs / 2, run: tested('flaky', 'Incorrect API key provided', random) },
    { at: at + forMs - 1_000, run: tested('flaky', null, random) },
    {
      at: at + forMs,
      run: async (stage: Stage) => (await order(stage, { type: 'EnableChannel', ...byItself(stage) })).position,
    },
  ]);
}

const testTokens = { promptTokens: 8, completionTokens: 16 };

/** What a test would cost with the channel's first model; null: it has no price by tokens. */
function testUsage({ app }: Stage, channel: string): ChannelTestUsage | null {
  const model = channelCast.find(({ name }) => name === channel)?.models[0] ?? '';
  const price = priceOf(app.directory.settings().prices, model, 'default', false);
  if (price?.per !== 'token') return null;
  const { promptTokens: input, completionTokens: output } = testTokens;
  const ratios = { modelRatio: price.model, completionRatio: price.ratios.output ?? '1', modelPrice: null };
  return { model, ...testTokens, quota: chargeOf({ input, output }, price), ...ratios };
}

/** `error` null: it passed. */
const tested =
  (channel: string, error: string | null, random: Random): Act['run'] =>
  async (stage) => {
    const { position } = await stage.handle(channelDecider, streams.channel(channelNamed(stage, channel)), {
      type: 'RecordChannelTest',
      ok: error === null,
      responseTimeMs: error === null ? around(mannersOf(channel).firstTokenMs * 2, 0.3, random) : 140,
      error,
      usage: error === null ? testUsage(stage, channel) : null,
    });
    return position;
  };

/** Every channel twice a day. */
const tests = (days: number, random: Random): Act[] =>
  Array.from({ length: days * 2 }, (_, half) => half).flatMap((half) =>
    channelCast.map(({ name }, index) => ({
      at: half * (dayMs / 2) + 5 * hourMs + index * 20_000,
      run: tested(name, null, random),
    })),
  );

/** What is left in the account of a channel, which is filled up once. */
const balances = (days: number): Act[] =>
  Array.from({ length: days }, (_, day) =>
    on(day, 6, async (stage) => {
      const balance = (day < 18 ? 60 - day * 2.85 : 140 - (day - 18) * 3.1).toFixed(2);
      const command = { type: 'RecordChannelBalance', balance, currency: 'USD', low: 10 } as const;
      return (await stage.handle(channelDecider, streams.channel(channelNamed(stage, 'west')), command)).position;
    }),
  );

/** All of it, oldest first. */
export function timeline(days: number, random: Random): Act[] {
  const west = channelCast.find(({ name }) => name === 'west')?.models ?? [];
  const acts = [
    option(0, 1, 'GroupRatio', '{"default":1,"vip":0.9,"svip":1}'),
    option(1, 10, 'Notice', 'Welcome. Limits are raised on Fridays.'),
    modelRatio(10, 11, embeddingModel, 0.012),
    option(14, 9, 'GroupRatio', '{"default":1,"vip":0.8,"svip":1}'),
    option(16, 15, 'QuotaRemindThreshold', '50000'),
    option(23, 13, 'Notice', 'gemini-2.5-flash is served in the west again.'),
    edit(4, 10, 'west', { weight: 15 }),
    edit(9, 16, 'flaky', { priority: 5 }),
    edit(9, 17.5, 'flaky', { priority: 10 }),
    edit(20, 12, 'west', { models: west.filter((model) => model !== 'gemini-2.5-flash') }),
    edit(20, 14.5, 'west', { models: west }),
    edit(26, 10, 'east', { weight: 30 }),
    switched(17, 11, 'anthropic', false),
    switched(17, 12.5, 'anthropic', true),
    grant(5, 9, 'erin', 50_000),
    grant(18, 9, 'bob', 250_000),
    on(8, 20, (stage) => topUp(stage, personNamed(stage, 'dave'), 10, false, random)),
    ...codes(),
    ...comingAndGoing(random),
    ...tests(days, random),
    ...balances(days),
  ];
  return acts.sort((a, b) => a.at - b.at);
}
