import type { ServerResponse } from 'node:http';
import type { Tokens } from '../../../src/demo/simulated-answers.js';
import { startUpstream, type Upstream } from './upstream.js';

/** Keeps everybody waiting until it is released: calls stay under way as long as a test needs. */
export interface PausedUpstream extends Upstream {
  /** Requests that wait for their answer. */
  waiting(): number;
  /** Answers all who wait, with this usage. */
  answer(tokens: Pick<Tokens, 'prompt' | 'completion'> & Partial<Pick<Tokens, 'cached'>>): void;
}

export async function startPausedUpstream(): Promise<PausedUpstream> {
  const held: ServerResponse[] = [];
  const upstream = await startUpstream((_, response) => held.push(response));
  return {
    ...upstream,
    waiting: () => held.length,
    answer({ prompt, completion, cached = 0 }) {
      const body = JSON.stringify({
        id: 'chatcmpl-held',
        object: 'chat.completion',
        created: 1_750_000_000,
        model: 'held',
        choices: [{ index: 0, message: { role: 'assistant', content: 'At last.' }, finish_reason: 'stop' }],
        usage: {
          prompt_tokens: prompt,
          completion_tokens: completion,
          total_tokens: prompt + completion,
          prompt_tokens_details: { cached_tokens: cached },
        },
      });
      for (const response of held.splice(0)) response.writeHead(200, { 'content-type': 'application/json' }).end(body);
    },
  };
}
