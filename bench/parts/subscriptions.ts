import { count, seconds } from '../arguments.js';
import { booksLine } from '../books.js';
import { costing, microsecondsEach } from '../cpu.js';
import type { Customer } from '../customer.js';
import { unlimited } from '../data-set.js';
import { rounded } from '../figures.js';
import { type Outcome, part } from '../part.js';
import { startChild } from '../processes/child.js';
import type { Seen, Watched, WatchersAnswer, WatchersQuestion } from '../processes/watchers.js';
import { type Rig, withRig } from '../rig.js';
import { decimal, whole } from '../table.js';

/* Live subscriptions: what many of them keep in memory, and how soon and at what cost they show what happens. */

const model = 'gpt-4o-mini';
/** What the gateway allows a user. */
const connectionsPerUser = 20;
const warmUp = { perSecond: 10, seconds: 2 };

const newest = `{ usageLog(first: 1) { pageInfo { startCursor } } }`;

async function watchedBy({ session, apiKey }: Customer, watchers: number): Promise<Watched> {
  const { usageLog } = await session.query<{ usageLog: { pageInfo: { startCursor: string } } }>(newest, {});
  return { cookie: session.cookie, apiKey, watchers, after: usageLog.pageInfo.startCursor };
}

/** Users with as many connections as one may have, until there are so many. */
async function audience(rig: Rig, subscribers: number): Promise<Watched[]> {
  const users: Watched[] = [];
  for (let left = subscribers; left > 0; left -= connectionsPerUser) {
    const customer = await rig.addCustomer(`watcher-${users.length + 1}`);
    users.push(await watchedBy(customer, Math.min(left, connectionsPerUser)));
  }
  return users;
}

function seenIn(answer: WatchersAnswer): Seen {
  if ('connected' in answer) throw new Error('the watchers did not tell what they saw');
  return answer;
}

const differencesOf = ({ missing, repeated, lost }: Seen): string[] => [
  ...Object.entries(lost).map(([reason, times]) => `subscriptions that ${reason}: ${times}`),
  ...(missing === 0 ? [] : [`lines that did not arrive: ${missing}`]),
  ...(repeated === 0 ? [] : [`lines that arrived more than once: ${repeated}`]),
];

export const subscriptions = part({
  name: 'subscriptions',
  says: 'live subscriptions to usage: how soon lines arrive, CPU of each, memory of each subscriber',
  options: {
    subscribers: count(1000, 'connections with a subscription each', 20_000),
    'per-second': count(20, 'calls per second, in turns of all users', 10_000),
    seconds: seconds(10, 'for how long calls are made'),
  },
  run({ subscribers, 'per-second': perSecond, seconds }, surroundings) {
    const { progress } = surroundings;
    const models = { [model]: { chunks: 50, chunkSize: 5 } };
    return withRig({ models, environment: unlimited }, surroundings, async (rig): Promise<Outcome> => {
      progress('adding users');
      const users = await audience(rig, subscribers);
      const watchers = startChild<WatchersQuestion, WatchersAnswer>('./watchers.ts');
      try {
        const before = (await rig.meter.resident()).gateway;
        progress(`connecting ${subscribers} subscribers`);
        await watchers.ask({ ask: 'open', url: rig.url, users });
        const connected = (await rig.meter.resident()).gateway;
        const warmed = seenIn(await watchers.ask({ ask: 'call', model, ...warmUp }));
        progress(`${perSecond} calls a second`);
        const { value: seen, cpu } = await costing(rig.meter, async () =>
          seenIn(await watchers.ask({ ask: 'call', model, perSecond, seconds })),
        );
        rig.alsoSent(warmed.calls + seen.calls);
        const { books, differences } = await rig.checkBooks();
        const perLine = (name: string): number => Math.round(microsecondsEach(cpu, name, seen.delivered));
        const bytes =
          before === undefined || connected === undefined ? null : Math.round((connected - before) / subscribers);
        const cost = { gateway: perLine('gateway'), postgres: perLine('postgres') };
        const { calls, delivered, delayMs } = seen;
        return {
          figures: {
            ...seen,
            linesPerSecond: rounded(delivered / seconds, 1),
            cpuUsPerLine: rig.meter.missing === null ? cost : null,
            bytesPerSubscriber: bytes,
            books,
          },
          lines: [
            `${whole(subscribers)} subscribers, ${whole(calls)} calls, ${whole(delivered)} lines delivered`,
            `from the end of a call to its line: p50 ${decimal(delayMs.p50)} ms, p99 ${decimal(delayMs.p99)} ms, max ${decimal(delayMs.max)} ms`,
            rig.meter.missing ??
              `CPU per line delivered, the calls themselves included: gateway ${cost.gateway} µs, Postgres ${cost.postgres} µs`,
            ...(bytes === null ? [] : [`memory per subscriber: ${decimal(bytes / 1000, 1)} kB`]),
            booksLine(books, differences),
          ],
          differences: [...differencesOf(seen), ...differences],
        };
      } finally {
        await watchers.stop();
      }
    });
  },
});
