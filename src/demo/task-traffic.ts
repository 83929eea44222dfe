import { request } from 'undici';
import { atIntervals } from '../concurrency/at-intervals.js';
import { drawn } from './random.js';
import type { SeededPerson } from './seed.js';

/* Drawings, songs and videos that the people of a demo order: some of each at once, then one now and then. */

interface TaskTrafficOptions {
  readonly url: string;
  readonly people: readonly SeededPerson[];
  readonly log: { warn(facts: Record<string, unknown>, message: string): void };
}

interface Order {
  readonly path: string;
  readonly body: Readonly<Record<string, unknown>>;
}

const orders: readonly (Order & { readonly share: number })[] = [
  { share: 3, path: '/mj/submit/imagine', body: { prompt: 'a lighthouse in the rain, watercolour --ar 3:2' } },
  { share: 2, path: '/mj-fast/mj/submit/imagine', body: { prompt: 'a fox that reads a ledger by candlelight' } },
  {
    share: 3,
    path: '/suno/submit/music',
    body: { gpt_description_prompt: 'a slow waltz about the sea', tags: 'folk' },
  },
  { share: 2, path: '/suno/submit/lyrics', body: { prompt: 'four lines about a late train' } },
  { share: 1, path: '/v1/videos', body: { model: 'sora-2', prompt: 'a ball rolls along a beach', seconds: '4' } },
];

/** Of each kind, when the demo begins. */
const atFirst = 2;
const everyMs = 60_000;

/** The result ends it. */
export function startTaskTraffic({ url, people, log }: TaskTrafficOptions): () => Promise<void> {
  const abort = new AbortController();
  const buyers = people.filter(({ cast }) => cast.topUp > 0).flatMap(({ keys }) => keys.slice(0, 1));

  let count = 0;

  const submit = async ({ path, body }: Order): Promise<void> => {
    const buyer = buyers[count++ % buyers.length];
    if (buyer === undefined) return;
    const answer = await request(`${url}${path}`, {
      method: 'POST',
      headers: { authorization: `Bearer sk-${buyer.key}`, 'content-type': 'application/json' },
      body: JSON.stringify(body),
      signal: abort.signal,
    });
    await answer.body.dump();
  };
  const submitAll = async (chosen: readonly Order[]): Promise<void> => {
    const failed = (error: unknown): void => {
      if (!abort.signal.aborted) log.warn({ error: String(error) }, 'a demo task could not be submitted');
    };
    await Promise.all(chosen.map((order) => submit(order).catch(failed)));
  };

  const first = submitAll(orders.flatMap((order) => Array<Order>(atFirst).fill(order)));
  const end = atIntervals(everyMs, () => submitAll([drawn(orders, Math.random)]));
  return async () => {
    abort.abort();
    await end();
    await first;
  };
}
