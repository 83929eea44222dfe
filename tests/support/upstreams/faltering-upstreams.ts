import type { ServerResponse } from 'node:http';
import type { WebSocket } from 'ws';
import type { JsonObject } from '../../../src/relay/json/json.js';
import { eventFrame } from './event-stream.js';
import { startUpstream } from './upstream.js';
import { startWebSocketUpstream } from './websocket-upstream.js';

/* Upstreams of every wire whose streams falter: each sends what a test says, frame by frame, and can stay open for ever. */

export type Step =
  /** A role, or the head of a message, and nothing else. */
  | 'begin'
  | 'words'
  /** Waits until all callers have something. */
  | 'wait'
  /** Why it ended, without the end mark and without usage. */
  | 'finish'
  /** Why it ended: a failure. */
  | 'fail'
  /** The end mark, where the wire has one. */
  | 'mark'
  | 'close'
  /** The connection breaks, with nothing said of an end. */
  | 'break'
  /** Comments, pings and empty deltas from now on, and no end. */
  | 'pulse';

export interface FalteringUpstream {
  readonly wire: string;
  readonly url: string;
  readonly type: number;
  readonly key: string;
  readonly model: string;
  plays(...steps: Step[]): void;
  /** Ends a wait. */
  goOn(): void;
  stop(): Promise<void>;
}

/** Frames of a wire by step; `pulse`: one round of what means nothing. */
interface Frames {
  readonly begin: readonly string[];
  readonly words: readonly string[];
  readonly finish: readonly string[];
  readonly fail: readonly string[];
  readonly mark: readonly string[];
  readonly pulse: readonly string[];
}

const json = (value: JsonObject): string => JSON.stringify(value);
const sse = (value: JsonObject): string => `data: ${json(value)}\n\n`;

const chunk = (delta: JsonObject, finish: string | null = null): string =>
  sse({ id: 'c1', object: 'chat.completion.chunk', choices: [{ index: 0, delta, finish_reason: finish }] });

const openAi: Frames = {
  begin: [chunk({ role: 'assistant', content: '' })],
  words: [chunk({ content: 'Half of ' }), chunk({ content: 'an answer' })],
  finish: [chunk({}, 'stop')],
  fail: [chunk({}, 'network_error')],
  mark: ['data: [DONE]\n\n'],
  pulse: [': keep-alive\n\n', chunk({ content: '' })],
};

const message = { id: 'm1', type: 'message', role: 'assistant', model: 'm', content: [], stop_reason: null };
const delta = (text: string): JsonObject => ({
  type: 'content_block_delta',
  index: 0,
  delta: { type: 'text_delta', text },
});
const ending = (stop_reason: string): JsonObject => ({
  type: 'message_delta',
  delta: { stop_reason, stop_sequence: null },
});
const events: Readonly<Record<keyof Frames, readonly JsonObject[]>> = {
  begin: [{ type: 'message_start', message: { ...message, usage: { input_tokens: 9, output_tokens: 1 } } }],
  words: [
    { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
    delta('Half of '),
    delta('an answer'),
  ],
  finish: [{ type: 'content_block_stop', index: 0 }, ending('end_turn')],
  fail: [{ type: 'content_block_stop', index: 0 }, ending('model_error')],
  mark: [{ type: 'message_stop' }],
  pulse: [{ type: 'ping' }, delta('')],
};

const mapped = (write: (event: JsonObject) => string): Frames =>
  Object.fromEntries(Object.entries(events).map(([step, list]) => [step, list.map(write)])) as unknown as Frames;

const response = (text: string, rest: JsonObject = {}): string =>
  sse({ candidates: [{ content: { role: 'model', parts: [{ text }] }, index: 0, ...rest }], responseId: 'r1' });

const gemini: Frames = {
  begin: [response('')],
  words: [response('Half of '), response('an answer')],
  finish: [response('', { finishReason: 'STOP' })],
  fail: [response('', { finishReason: 'MALFORMED_FUNCTION_CALL' })],
  mark: [],
  pulse: [': keep-alive\n\n', response('')],
};

/** Frames of Amazon's are no text: they are made when they are sent. */
const bedrock = mapped((event) => json(event));

const pulseMs = 50;

class Script {
  steps: readonly Step[] = [];
  goOn: () => void = () => {};
  waited: Promise<void> = Promise.resolve();

  readonly plays = (...steps: Step[]): void => {
    this.steps = steps;
    this.waited = new Promise((resolve) => {
      this.goOn = resolve;
    });
  };
}

async function playTo(response: ServerResponse, frames: Frames, script: Script, binary: boolean): Promise<void> {
  const bytesOf = (frame: string): string | Buffer => (binary ? eventFrame(frame) : frame);
  response.writeHead(200, { 'content-type': binary ? 'application/vnd.amazon.eventstream' : 'text/event-stream' });
  response.flushHeaders();
  const { steps, waited } = script;
  for (const step of steps)
    if (step === 'wait') await waited;
    else if (step === 'close') response.end();
    else if (step === 'break') response.destroy();
    else if (step === 'pulse') {
      const pulsing = setInterval(() => frames.pulse.map((frame) => response.write(bytesOf(frame))), pulseMs);
      response.once('close', () => clearInterval(pulsing));
    } else for (const frame of frames[step]) response.write(bytesOf(frame));
}

const spark = (status: number, content: string): string =>
  json({
    header: { code: 0, message: 'Success', sid: 's1', status },
    payload: { choices: { status, seq: status, text: [{ role: 'assistant', index: 0, content }] } },
  });
const sparkFailure = json({ header: { code: 10012, message: 'engine error', sid: 's1', status: 2 } });
const sparkFrames: Frames = {
  begin: [spark(0, '')],
  words: [spark(1, 'Half of '), spark(1, 'an answer')],
  finish: [spark(2, '')],
  fail: [sparkFailure],
  mark: [],
  pulse: [spark(1, '')],
};

async function playOn(socket: WebSocket, { steps, waited }: Script): Promise<void> {
  for (const step of steps)
    if (step === 'wait') await waited;
    else if (step === 'close') socket.close();
    else if (step === 'break') socket.terminate();
    else if (step === 'pulse') {
      const pulsing = setInterval(() => {
        socket.ping();
        for (const frame of sparkFrames.pulse) socket.send(frame);
      }, pulseMs);
      socket.once('close', () => clearInterval(pulsing));
    } else for (const frame of sparkFrames[step]) socket.send(frame);
}

const overHttp = async (
  wire: string,
  target: Pick<FalteringUpstream, 'type' | 'key' | 'model'>,
  frames: Frames,
  binary = false,
): Promise<FalteringUpstream> => {
  const script = new Script();
  const upstream = await startUpstream((_, response) => void playTo(response, frames, script, binary));
  const { url } = upstream;
  return { wire, ...target, url, plays: script.plays, goOn: () => script.goOn(), stop: () => upstream.stop() };
};

async function startSpark(): Promise<FalteringUpstream> {
  const script = new Script();
  const upstream = await startWebSocketUpstream({ serve: (_, socket) => void playOn(socket, script) });
  return {
    ...{ wire: 'spark', type: 18, key: 'a1b2c3d4|secretOfTheApp|keyOfTheApp', model: 'SparkDesk-v3.5' },
    url: upstream.url,
    plays: script.plays,
    goOn: () => script.goOn(),
    stop: () => upstream.stop(),
  };
}

const key = 'sk-upstream-0123456789';

/** One for each wire. */
export const startFalteringUpstreams = (): Promise<FalteringUpstream[]> =>
  Promise.all([
    overHttp('openai', { type: 1, key, model: 'gpt-4o-mini' }, openAi),
    overHttp(
      'anthropic',
      { type: 14, key, model: 'claude-3-haiku-20240307' },
      mapped((event) => `event: ${event.type}\n${sse(event)}`),
    ),
    overHttp('gemini', { type: 24, key, model: 'gemini-1.5-flash' }, gemini),
    overHttp(
      'bedrock',
      { type: 33, key: `${key}|eu-north-1`, model: 'anthropic.claude-3-haiku-20240307-v1:0' },
      bedrock,
      true,
    ),
    startSpark(),
  ]);
