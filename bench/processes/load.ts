import { Agent, type IncomingMessage, request } from 'node:http';
import { type Percentiles, percentilesOf } from '../figures.js';
import { type AgentTurn, turnMark } from './agent-turn.js';
import { chatRequest, pathOf, type Spoken } from './chat-request.js';
import { answerParent } from './child.js';
import { FrameCounter } from './frame-counter.js';

/*
 * The caller. Closed: so many connections, each asking again as soon as it is answered, which finds the saturation.
 * Paced: calls begin at fixed times however slow the answers are, which finds what a call costs below saturation. A
 * wave: so many, and no more.
 */

type Pace =
  | { readonly connections: number }
  | { readonly perSecond: number }
  /** So many callers, each of whom asks once, evenly spread over this time. */
  | { readonly wave: number; readonly withinMs: number };

export interface Load {
  /** `/v1/…` comes after it. */
  readonly url: string;
  readonly apiKey: string;
  readonly model: string;
  readonly stream: boolean;
  /** Left out: chat. */
  readonly dialect?: Spoken;
  /** Each call is a turn of an agent, and differs from the others. Left out: all are one chat. */
  readonly turn?: AgentTurn;
  readonly pace: Pace;
  /** The window: what ends after it is waited for and not counted. */
  readonly seconds: number;
}

export interface Measured {
  /** All that was sent, what came to its end after the window included. */
  readonly sent: number;
  readonly failed: number;
  /** Why, each reason once. */
  readonly failures: readonly string[];
  /** Within the window, as are all figures below. */
  readonly callsPerSecond: number;
  /** SSE frames per second within the window; 0 for JSON. */
  readonly chunksPerSecond: number;
  readonly latencyMs: Percentiles;
  /** From sending the request to the first byte of the answer's body. */
  readonly firstByteMs: Percentiles;
  /** The longest silence within each streamed answer, from its first byte to its end. */
  readonly maxGapMs: Percentiles;
  /** Streamed answers in which it was longer than `noticedGapMs`. */
  readonly gapped: number;
}

/** Two frames of a stream that has one every 20 ms. */
export const noticedGapMs = 40;

const endMarks: Readonly<Record<Spoken, string>> = {
  chat: 'data: [DONE]\n\n',
  messages: 'data: {"type":"message_stop"}\n\n',
  // The last event holds the whole response.
  responses: '"store":false,"user":null}}\n\n',
};

interface Tally {
  sent: number;
  completed: number;
  chunks: number;
  readonly latencies: number[];
  readonly firstBytes: number[];
  readonly maxGaps: number[];
  failed: number;
  readonly failures: Set<string>;
}

/** The body of each call: the same, but for the mark of its turn. */
function bodies(body: string): (number: number) => string {
  const at = body.lastIndexOf(turnMark);
  if (at === -1) return () => body;
  const [before, behind] = [body.slice(0, at), body.slice(at + turnMark.length)];
  return (number) => `${before}${turnMark.slice(0, -8)}${String(number % 1e8).padStart(8, '0')}${behind}`;
}

async function measure(load: Load): Promise<Measured> {
  const { url, stream, dialect = 'chat', pace, seconds } = load;
  const { hostname, port, pathname } = new URL(url);
  const agent = new Agent({ keepAlive: true, scheduling: 'fifo' });
  const { body, headers } = chatRequest({ ...load, dialect });
  const bodyOf = bodies(body);
  const path = pathname.replace(/\/$/, '') + pathOf[dialect];
  const endMark = endMarks[dialect];
  const options = { agent, hostname, port, path, method: 'POST', headers };
  const tally: Tally = {
    sent: 0,
    completed: 0,
    chunks: 0,
    latencies: [],
    firstBytes: [],
    maxGaps: [],
    failed: 0,
    failures: new Set(),
  };
  const start = performance.now();
  const deadline = start + seconds * 1000;

  const fail = (reason: string): void => {
    tally.failed++;
    tally.failures.add(reason);
  };

  const receive = (response: IncomingMessage, began: number, done: () => void): void => {
    const frames = new FrameCounter();
    let first = 0;
    let last = 0;
    let maxGap = 0;
    let tail = '';
    response.on('data', (chunk: Buffer) => {
      const now = performance.now();
      first ||= now;
      if (last > 0 && now - last > maxGap) maxGap = now - last;
      last = now;
      if (response.statusCode !== 200) tail += chunk.toString();
      else if (stream) {
        if (now <= deadline) tally.chunks += frames.in(chunk);
        tail = (tail + chunk.toString('latin1', Math.max(0, chunk.length - endMark.length))).slice(-endMark.length);
      }
    });
    response.once('close', () => {
      const now = performance.now();
      if (response.statusCode !== 200) fail(`status ${response.statusCode}: ${tail.slice(0, 300)}`);
      else if (!response.complete || (stream && tail !== endMark)) fail('the answer was cut off');
      else if (now <= deadline) {
        tally.completed++;
        tally.latencies.push(now - began);
        tally.firstBytes.push(first - began);
        if (stream) tally.maxGaps.push(maxGap);
      }
      done();
    });
  };

  const call = (): Promise<void> =>
    new Promise((resolve) => {
      tally.sent++;
      const began = performance.now();
      const outgoing = request(options, (response) => receive(response, began, resolve));
      outgoing.once('error', (error) => {
        fail(error.message);
        resolve();
      });
      outgoing.end(bodyOf(tally.sent));
    });

  const askAgain = async (): Promise<void> => {
    // A target that refuses everything is not worth hammering.
    while (performance.now() < deadline && tally.failed < 100) await call();
  };

  const atPace = async (perSecond: number, total: number): Promise<void> => {
    const calls: Promise<void>[] = [];
    while (calls.length < total) {
      const due = start + (calls.length / perSecond) * 1000;
      const wait = due - performance.now();
      if (wait > 0) await new Promise((resolve) => setTimeout(resolve, wait));
      calls.push(call());
    }
    await Promise.all(calls);
  };

  if ('connections' in pace) await Promise.all(Array.from({ length: pace.connections }, askAgain));
  else if ('wave' in pace) await atPace((pace.wave / pace.withinMs) * 1000, pace.wave);
  else await atPace(pace.perSecond, Math.floor(seconds * pace.perSecond));
  agent.destroy();

  return {
    sent: tally.sent,
    failed: tally.failed,
    failures: [...tally.failures].slice(0, 5),
    callsPerSecond: tally.completed / seconds,
    chunksPerSecond: tally.chunks / seconds,
    latencyMs: percentilesOf(tally.latencies),
    firstByteMs: percentilesOf(tally.firstBytes),
    maxGapMs: percentilesOf(tally.maxGaps),
    gapped: tally.maxGaps.filter((gap) => gap > noticedGapMs).length,
  };
}

answerParent(measure);
