import { setTimeout as pause } from 'node:timers/promises';
import { Agent } from 'undici';
import type { Payer, PlannedCall } from './plan.js';
import { isWholeAnswer, requestOf } from './requests.js';

/* Many clients, each with one call after the other, who note what they were told and nothing else. */

/**
 * `ok`: the caller has a whole answer. `fail`: it was told that the call has failed. `unknown`: anything else, such as a
 * connection that broke, a time-out, or a stream without its end.
 */
type Outcome = 'ok' | 'fail' | 'unknown';

export interface MadeCall {
  readonly call: PlannedCall;
  readonly outcome: Outcome;
  readonly status: number | null;
  /** null: no head of an answer has come. */
  readonly requestId: string | null;
  /** The end of what came, for whoever looks into a finding. */
  readonly text: string;
}

interface LoadOptions {
  readonly url: string;
  readonly calls: readonly PlannedCall[];
  readonly apiKeys: Readonly<Record<Payer, string>>;
  /** Called with each call that has ended. */
  readonly ended: (made: MadeCall) => void;
}

const clients = 12;
/** Whoever waits longer gives up, and does not know. */
const patienceMs = 20_000;
const shownText = 300;

async function makeCall(agent: Agent, url: string, call: PlannedCall, apiKey: string): Promise<MadeCall> {
  const { path, headers, body } = requestOf(call, apiKey);
  let status: number | null = null;
  let requestId: string | null = null;
  let text = '';
  const made = (outcome: Outcome): MadeCall => ({ call, outcome, status, requestId, text: text.slice(-shownText) });
  try {
    const signal = AbortSignal.timeout(call.leavesAfterMs ?? patienceMs);
    const answer = await agent.request({ origin: url, path, method: 'POST', headers, body, signal });
    status = answer.statusCode;
    const id = answer.headers['x-request-id'];
    requestId = typeof id === 'string' ? id : null;
    answer.body.setEncoding('utf8');
    for await (const part of answer.body) text += part;
    if (status >= 400) return made('fail');
    return made(isWholeAnswer(call, text) ? 'ok' : 'unknown');
  } catch {
    return made('unknown');
  }
}

/** Resolves once all have ended; calls that a gateway which is gone cannot take end as unknown. */
export async function runLoad({ url, calls, apiKeys, ended }: LoadOptions): Promise<void> {
  const agent = new Agent({ connections: clients * 2, bodyTimeout: 0, headersTimeout: 0 });
  let next = 0;
  const client = async (): Promise<void> => {
    for (let call = calls[next++]; call !== undefined; call = calls[next++]) {
      const made = await makeCall(agent, url, call, apiKeys[call.payer]);
      ended(made);
      // Nobody is there: the others need not find out one by one within the same millisecond.
      if (made.outcome === 'unknown' && made.status === null) await pause(5);
    }
  };
  try {
    await Promise.all(Array.from({ length: clients }, client));
  } finally {
    await agent.destroy();
  }
}
