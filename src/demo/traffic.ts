import { setTimeout as pause } from 'node:timers/promises';
import { request } from 'undici';
import { embeddingModel, type Habit } from './cast.js';
import { drawn } from './random.js';
import type { SeededPerson } from './seed.js';
import { maxOutput } from './tokens.js';

/* Callers of a demo: about a call a second, of every kind, until stopped. */

interface TrafficOptions {
  readonly url: string;
  readonly people: readonly SeededPerson[];
  readonly log: { warn(facts: Record<string, unknown>, message: string): void };
}

const meanPauseMs = 1_000;
/** How many callers come with a key that nobody has; 0 to 1. */
const unknownCallers = 0.01;
const wrongKey = 'a-key-that-nobody-has';

const questions = [
  'What is a ledger?',
  'Count to ten.',
  'Name three rivers.',
  'Why is the sky blue?',
  'Write a haiku.',
] as const;

const question = (): string => questions[Math.floor(Math.random() * questions.length)] ?? questions[0];

interface Asked {
  readonly path: string;
  readonly body: Readonly<Record<string, unknown>>;
}

/** What a call of this kind sends. */
function askedBy({ model, streamed }: Habit): Asked {
  if (model === embeddingModel) return { path: '/v1/embeddings', body: { model, input: question() } };
  const stream = Math.random() < streamed;
  const messages = [{ role: 'user', content: question() }];
  const body = { model, stream, max_tokens: maxOutput, messages };
  if (model.startsWith('claude')) return { path: '/v1/messages', body };
  return { path: '/v1/chat/completions', body: stream ? { ...body, stream_options: { include_usage: true } } : body };
}

/** Who calls how often, as in the past. */
const callersOf = (people: readonly SeededPerson[]) =>
  people.flatMap(({ keys }) => keys.map(({ key, cast }) => ({ key, habits: cast.habits, share: cast.daily })));

export function startTraffic({ url, people, log }: TrafficOptions): { stop(): Promise<void> } {
  const abort = new AbortController();
  const callers = callersOf(people);

  const call = async (): Promise<void> => {
    const { key, habits } = drawn(callers, Math.random);
    const { path, body } = askedBy(drawn(habits, Math.random));
    const answer = await request(`${url}${path}`, {
      method: 'POST',
      headers: {
        authorization: `Bearer sk-${Math.random() < unknownCallers ? wrongKey : key}`,
        'content-type': 'application/json',
      },
      body: JSON.stringify(body),
      signal: abort.signal,
    });
    await answer.body.dump();
  };

  const running = (async () => {
    while (!abort.signal.aborted) {
      call().catch((error: unknown) => {
        if (!abort.signal.aborted) log.warn({ error: String(error) }, 'a demo call failed');
      });
      await pause(Math.random() * 2 * meanPauseMs, undefined, { signal: abort.signal }).catch(() => {});
    }
  })();

  return {
    async stop() {
      abort.abort();
      await running;
    },
  };
}
