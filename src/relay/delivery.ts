import type { ServerResponse } from 'node:http';
import type { CallOutcome, UsageSource } from '../domain/call.js';
import type { Usage } from '../domain/pricing.js';
import type { StreamReading } from './attempt.js';
import type { CallerPresence } from './caller-presence.js';
import { errorBody, fromUpstream, RelayError } from './errors.js';
import type { Growth } from './growth.js';
import type { Generated } from './protocols/protocol.js';
import { countTokens } from './tokens.js';
import { isSilence } from './upstream.js';

/* Getting an answer to the caller, frame by frame, and knowing how it ended. */

/** What one returned tool call costs besides its text, when upstream tells no usage. */
const tokensPerToolCall = 7;

/** Upstream's figures, or ours where it gave none, or gave zero for an answer that has something in it. */
export function usageOf(
  told: Usage | null,
  generated: Generated,
  promptEstimate: number,
  model: string,
): { usage: Usage; usageSource: UsageSource } {
  const silent = told === null || (told.prompt + told.completion === 0 && generated.text !== '');
  if (!silent) return { usage: told, usageSource: 'upstream' };
  const completion = countTokens(model, generated.text) + generated.toolCalls * tokensPerToolCall;
  return {
    usage: { prompt: promptEstimate, cached: 0, cacheWrite: 0, image: 0, completion, reasoning: 0 },
    usageSource: 'estimated',
  };
}

const streamHeaders = {
  'content-type': 'text/event-stream; charset=utf-8',
  'cache-control': 'no-cache',
  connection: 'keep-alive',
  'x-accel-buffering': 'no',
} as const;

export const beginStream = (response: ServerResponse): void => {
  response.writeHead(200, streamHeaders);
};

export const errorFrame = (error: RelayError, requestId: string): string =>
  `data: ${JSON.stringify(errorBody(error, requestId))}\n\n`;

export const endFrame = 'data: [DONE]\n\n';

/** Waits while the caller reads slower than upstream writes; returns at once when it has gone. */
async function write(response: ServerResponse, bytes: Buffer, presence: CallerPresence): Promise<void> {
  if (presence.gone || response.write(bytes)) return;
  await new Promise<void>((resolve) => {
    const done = () => {
      response.off('drain', done);
      forget();
      resolve();
    };
    const forget = presence.whenGone(done);
    response.once('drain', done);
  });
}

export interface Pumped {
  readonly outcome: CallOutcome;
  /** What the caller is told in the stream; null: nothing went wrong. */
  readonly error: RelayError | null;
}

export interface PumpOptions {
  readonly presence: CallerPresence;
  readonly growth: Growth;
  /** Comment frames into a silent stream; null: none. */
  readonly pingIntervalMs: number | null;
}

const ping = Buffer.from(': PING\n\n');

const broken = (): RelayError => new RelayError(500, 'stream_response_error', 'the upstream broke off its answer');
const unaffordable = (): RelayError =>
  new RelayError(403, 'insufficient_user_quota', 'the quota is used up: the answer ends here');

/** Forwards a begun stream to its end. Everything is sent but the end mark: that waits for the settlement. */
export async function pump(response: ServerResponse, reading: StreamReading, options: PumpOptions): Promise<Pumped> {
  const { decoder, chunks, first, cancel } = reading;
  const { presence, growth, pingIntervalMs } = options;
  const forget = presence.whenGone(cancel);
  const pinging =
    pingIntervalMs === null ? null : setInterval(() => presence.gone || response.write(ping), pingIntervalMs).unref();

  const stop = (outcome: CallOutcome, error: RelayError | null): Pumped => {
    cancel();
    return { outcome, error };
  };

  try {
    if (first.bytes !== null) await write(response, first.bytes, presence);
    let finished = first.finished;
    while (!finished) {
      if (presence.gone) return stop('caller-left', null);
      const next = await chunks.next();
      const step = next.done ? decoder.end() : decoder.push(next.value);
      if (step.bytes !== null) {
        await write(response, step.bytes, presence);
        pinging?.refresh();
      }
      if (step.error !== null) return stop('upstream-broke', fromUpstream(step.error, step.error.status));
      if (!growth.covers(decoder.generated.text)) return stop('quota-ran-out', unaffordable());
      finished = step.finished;
      if (next.done && !finished) {
        if (decoder.generated.finishReason === null) return stop('upstream-broke', broken());
        break;
      }
    }
    return presence.gone ? stop('caller-left', null) : { outcome: 'completed', error: null };
  } catch (error) {
    if (presence.gone) return stop('caller-left', null);
    // Upstream fell silent: what has come is the answer.
    return isSilence(error) ? stop('completed', null) : stop('upstream-broke', broken());
  } finally {
    if (pinging !== null) clearInterval(pinging);
    forget();
  }
}
