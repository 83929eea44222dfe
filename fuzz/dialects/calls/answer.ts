import type { IncomingMessage, ServerResponse } from 'node:http';
import { type Random, randomOf } from '../odd-json.js';
import type { Wire } from '../requests-as-meant.js';
import { anthropicFrames, anthropicWhole } from './anthropic.js';
import { geminiFrames, geminiWhole } from './gemini.js';
import { type Call, callsOf, type Frame } from './meant.js';
import { openAiFrames, openAiWhole } from './openai.js';

/* What an upstream answers that makes calls. */

const frames: Readonly<Record<Wire, (calls: readonly Call[], random: Random) => Frame[]>> = {
  openai: openAiFrames,
  anthropic: anthropicFrames,
  gemini: geminiFrames,
};

const whole: Readonly<Record<Wire, (calls: readonly Call[], random: Random) => Frame>> = {
  openai: openAiWhole,
  anthropic: anthropicWhole,
  gemini: geminiWhole,
};

const wireOf = (path: string): Wire =>
  path.includes('/messages') ? 'anthropic' : path.includes(':') ? 'gemini' : 'openai';

/** Answers with the calls of the mark, in the wire of the address that was asked. */
export function answerCalls({ url }: IncomingMessage, body: string, seed: number, response: ServerResponse): void {
  const random = randomOf(seed);
  const calls = callsOf(random);
  const path = url ?? '';
  const wire = wireOf(path);
  if (!path.includes(':stream') && !/"stream":\s*true/.test(body)) {
    const answer = JSON.stringify(whole[wire](calls, random));
    response.writeHead(200, { 'content-type': 'application/json' }).end(answer);
    return;
  }
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  for (const frame of frames[wire](calls, random))
    response.write(`${wire === 'anthropic' ? `event: ${String(frame.type)}\n` : ''}data: ${JSON.stringify(frame)}\n\n`);
  response.end(wire === 'openai' ? 'data: [DONE]\n\n' : '');
}
