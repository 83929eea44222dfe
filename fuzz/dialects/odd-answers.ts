import type { IncomingMessage, ServerResponse } from 'node:http';
import { framesAsMeant, wholeAsMeant } from './answers-as-meant.js';
import { jsonOf, pick, type Random, randomOf, spoilt } from './odd-json.js';
import type { Wire } from './requests-as-meant.js';

/* What a hostile upstream answers: a right answer, spoilt as the number in the request says. */

/** How a request asks its upstream for an answer. */
export const markOf = (seed: number): string => `Hello. #seed${seed}#`;
export const seedIn = (body: string): number => Number(/#seed(\d+)#/.exec(body)?.[1] ?? 1);

/**
 * An upstream that says nothing more ends after this long at the latest, should nobody hang up: well beyond the fuzz's
 * STREAMING_TIMEOUT and RELAY_TIMEOUT, and beyond what a call may take.
 */
const maxSilentMs = 20_000;
const commentEveryMs = 200;

const framed = (wire: Wire, frame: Readonly<Record<string, unknown>>): string =>
  `${wire === 'anthropic' ? `event: ${String(frame.type)}\n` : ''}data: ${jsonOf(frame)}\n\n`;

const endOf: Readonly<Record<Wire, string>> = { openai: 'data: [DONE]\n\n', anthropic: '', gemini: '' };

/** Frames lost, sent twice or changed about. */
function shuffled(frames: readonly string[], random: Random): readonly string[] {
  const at = Math.floor(random() * frames.length);
  const [one = '', next = ''] = frames.slice(at, at + 2);
  const around = (...between: string[]): readonly string[] => [
    ...frames.slice(0, at),
    ...between,
    ...frames.slice(at + 2),
  ];
  return pick(random, [around(one), around(next), around(next, one), around(one, one, next), frames.slice(at)]);
}

/** A stream with nothing in it, of some kind. */
const empty = (wire: Wire): readonly (readonly string[])[] => [
  [],
  [': nothing\n\n'],
  framesAsMeant[wire].slice(0, 1).map((frame) => framed(wire, frame)),
  framesAsMeant[wire].slice(-1).map((frame) => framed(wire, frame)),
  ['data: {}\n\n'],
  ['data: null\n\n'],
  ['data: [null]\n\n'],
];

function answerStream(wire: Wire, response: ServerResponse, random: Random): void {
  const type = pick(random, [...eventTypes, 'text/event-stream']);
  response.writeHead(200, { 'content-type': type });
  const odd = spoilt(framesAsMeant[wire], random, Math.floor(random() * 4));
  const right = (Array.isArray(odd) ? odd : []).map((frame) =>
    frame === null || typeof frame !== 'object' ? `data: ${jsonOf(frame)}\n\n` : framed(wire, frame),
  );
  const chance = random();
  const frames = chance < 0.15 ? pick(random, empty(wire)) : chance < 0.35 ? shuffled(right, random) : right;
  for (const frame of frames) response.write(random() < 0.1 ? `: comment\n\n${frame}` : frame);
  const ending = random();
  if (ending < 0.75) response.end(endOf[wire]);
  else if (ending < 0.85) response.end();
  else if (ending < 0.9) response.write(' ', () => response.destroy());
  else linger(response, ending < 0.95);
}

/** The connection stays, with comments or without. */
function linger(response: ServerResponse, comments: boolean, comment = ': keep-alive\n\n'): void {
  const end = setTimeout(() => response.end(), maxSilentMs);
  const pulse = setInterval(() => comments && response.write(comment), commentEveryMs);
  response.on('close', () => {
    clearTimeout(end);
    clearInterval(pulse);
  });
}

const eventTypes = [
  ...['text/event-stream; charset=utf-8', 'Text/Event-Stream', 'text/plain', 'application/json'],
  ...['application/x-ndjson', 'application/octet-stream'],
] as const;
const jsonTypes = ['application/json', 'application/json; charset=utf-8', 'text/plain', 'application/problem+json'];
const nothings = ['', 'null', '[]', '{}', '{"choices":[]}', '{"choices":null}', '{"content":[]}', '{"candidates":[]}'];
const statuses = [200, 200, 200, 200, 200, 200, 200, 201, 400, 401, 402, 403, 404, 429, 500, 503, 529] as const;

export function answerWhole(response: ServerResponse, random: Random, right: unknown): void {
  const status = pick(random, statuses);
  response.writeHead(status, { 'content-type': pick(random, jsonTypes) });
  const failure = { type: 'error', error: { type: 'odd', message: 'no', code: 'odd', status: 'ODD', param: null } };
  const odd = spoilt(status < 400 ? right : failure, random, Math.floor(random() * 4));
  const body = random() < 0.1 ? pick(random, nothings) : jsonOf(odd);
  const ending = random();
  if (ending < 0.95) response.end(body);
  else {
    response.write(body);
    linger(response, ending < 0.98, '\n');
  }
}

/** Answers in the wire of the address that was asked. */
export function answerOddly(request: IncomingMessage, body: string, response: ServerResponse): void {
  const random = randomOf(seedIn(body));
  const path = request.url ?? '';
  if (path.includes('count')) answerWhole(response, random, { input_tokens: 5, totalTokens: 5 });
  else if (path.includes('mbedContent'))
    answerWhole(response, random, { embedding: { values: [1, 2] }, embeddings: [{ values: [1, 2] }] });
  else {
    const wire = path.includes('/messages') ? 'anthropic' : path.includes(':') ? 'gemini' : 'openai';
    const streamed = path.includes(':stream') || /"stream":\s*true/.test(body);
    if (streamed) answerStream(wire, response, random);
    else answerWhole(response, random, wholeAsMeant[wire]);
  }
}
