import { setTimeout as pause } from 'node:timers/promises';
import { request } from 'undici';

/* Callers of a demo: a few calls a second, of every kind, until told to stop. */

export interface TrafficOptions {
  readonly url: string;
  readonly apiKeys: readonly string[];
  readonly log: { warn(facts: Record<string, unknown>, message: string): void };
}

const meanPauseMs = 300;

const pick = <Item>(items: readonly Item[]): Item | undefined => items[Math.floor(Math.random() * items.length)];

const questions = [
  'What is a ledger?',
  'Count to ten.',
  'Name three rivers.',
  'Why is the sky blue?',
  'Write a haiku.',
];

const chat = (model: string, stream: boolean) => ({
  path: '/v1/chat/completions',
  body: {
    model,
    stream,
    max_tokens: 256,
    messages: [{ role: 'user', content: pick(questions) ?? '' }],
    ...(stream ? { stream_options: { include_usage: true } } : {}),
  },
});

const kinds = [
  () => chat('gpt-4o-mini', true),
  () => chat('gpt-4o-mini', false),
  () => chat('gpt-4o', true),
  () => chat('deepseek-chat', false),
  () => chat('deepseek-reasoner', true),
  () => ({ path: '/v1/embeddings', body: { model: 'text-embedding-3-small', input: pick(questions) ?? '' } }),
];

export function startTraffic({ url, apiKeys, log }: TrafficOptions): { stop(): Promise<void> } {
  const abort = new AbortController();

  const call = async (): Promise<void> => {
    const { path, body } = (pick(kinds) ?? kinds[0])?.() ?? chat('gpt-4o-mini', false);
    const answer = await request(`${url}${path}`, {
      method: 'POST',
      headers: { authorization: `Bearer sk-${pick(apiKeys)}`, 'content-type': 'application/json' },
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
