import { count, seconds } from '../arguments.js';
import { unlimited } from '../data-set.js';
import { median, rounded } from '../figures.js';
import { type Outcome, part } from '../part.js';
import { startChild } from '../processes/child.js';
import type { RealtimeAnswer, RealtimeQuestion } from '../processes/realtime-peer.js';
import { type Rig, withRig } from '../rig.js';
import { inRounds, oneRound } from '../rounds.js';
import { decimal, whole } from '../table.js';

/* Realtime sessions: how much sound passes beside a bare proxy, and what an open session keeps in memory. */

const model = 'gpt-4o-mini';
const proxied = 'proxy';
const tallygate = 'tallygate';
const file = './realtime-peer.ts';

const startPeer = () => startChild<RealtimeQuestion, RealtimeAnswer>(file);

const urlIn = (answer: RealtimeAnswer): string => {
  if ('url' in answer) return answer.url;
  throw new Error('a peer gave no address');
};
const countIn = (answer: RealtimeAnswer): number => {
  if ('count' in answer) return answer.count;
  throw new Error('a peer counted nothing');
};

/** Asked before the channels of the rig: those answer no realtime sessions. */
const addChannel = (rig: Rig, url: string): Promise<unknown> =>
  rig.root.call('POST', '/api/channel/', {
    ...{ name: 'realtime', type: 1, key: 'sk-bench', base_url: url, models: model, group: 'default', priority: 10 },
  });

export const realtime = part({
  name: 'realtime',
  says: 'realtime sessions: pieces of sound a second beside a bare proxy, memory of an open session',
  options: {
    talking: count(4, 'sessions that sound goes through', 200),
    sessions: count(200, 'sessions that are open at once', 5_000),
    seconds: seconds(3, 'for how long each route is measured in a round'),
    rounds: count(5, 'rounds', 50),
  },
  run({ talking, sessions, seconds, rounds }, surroundings) {
    const models = { [model]: { chunks: 1 } };
    return withRig({ models, environment: unlimited }, surroundings, async (rig): Promise<Outcome> => {
      const [provider, proxy, talker, keeper] = [startPeer(), startPeer(), startPeer(), startPeer()];
      try {
        const upstream = urlIn(await provider.ask({ ask: 'provide' }));
        const through = urlIn(await proxy.ask({ ask: 'pass', upstream }));
        await addChannel(rig, upstream);
        const targets: Readonly<Record<string, { url: string; apiKey: string }>> = {
          [proxied]: { url: through, apiKey: 'sk-bench' },
          [tallygate]: rig.target(tallygate),
        };
        const measured = await inRounds(rounds, surroundings, (number) =>
          oneRound([proxied, tallygate], number, async (route) => {
            const target = targets[route] ?? { url: '', apiKey: '' };
            const counted = countIn(await talker.ask({ ask: 'talk', target, sessions: talking, ms: seconds * 1000 }));
            return counted / seconds;
          }),
        );
        const perSecond = (route: string): number => Math.round(median(measured.map((round) => round[route] ?? 0)));
        const share = rounded(median(measured.map((round) => (round[tallygate] ?? 0) / (round[proxied] ?? 1))), 3);
        const before = (await rig.meter.resident()).gateway;
        await keeper.ask({ ask: 'open', target: rig.target(tallygate), sessions });
        const after = (await rig.meter.resident()).gateway;
        const bytes = before === undefined || after === undefined ? null : Math.round((after - before) / sessions);
        return {
          figures: { proxy: perSecond(proxied), tallygate: perSecond(tallygate), share, bytesPerSession: bytes },
          lines: [
            `pieces of sound a second: bare proxy ${whole(perSecond(proxied))}, Tallygate ${whole(perSecond(tallygate))}, ${decimal(share, 2)} of it`,
            ...(bytes === null
              ? []
              : [`memory of each of ${whole(sessions)} open sessions: ${decimal(bytes / 1000, 1)} kB`]),
          ],
          differences: [],
        };
      } finally {
        await Promise.all([provider, proxy, talker, keeper].map((peer) => peer.stop()));
      }
    });
  },
});
