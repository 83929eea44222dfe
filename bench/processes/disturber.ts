import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { answerParent } from './child.js';

/*
 * One caller who asks for as much as a caller may, again and again, until stopped. Its upstream is here as well:
 * it reads nothing of what it is sent, so that nobody but the gateway has work with it.
 */

export type Disturbance =
  | { readonly kind: 'chat'; readonly url: string; readonly apiKey: string; readonly bodies: readonly BodyAsked[] }
  | { readonly kind: 'download'; readonly url: string; readonly cookie: string };

/** A chat request: so many messages of a text, repeated until the whole has so many bytes. */
interface BodyAsked {
  readonly model: string;
  readonly text: string;
  readonly messages: number;
  readonly bytes: number;
}

export type DisturberQuestion =
  | { readonly ask: 'upstream' }
  | { readonly ask: 'begin'; readonly disturbance: Disturbance; readonly connections: number }
  | { readonly ask: 'end' };

export interface DisturberAnswer {
  /** Of the upstream; '' to other questions. */
  readonly url: string;
  /** Requests answered with 200 since `begin`, and others. */
  readonly done: number;
  readonly refused: number;
  /** What the last of these was answered. */
  readonly refusal: string;
}

const answer = JSON.stringify({
  id: 'chatcmpl-disturber',
  object: 'chat.completion',
  created: 0,
  model: 'disturber',
  choices: [{ index: 0, message: { role: 'assistant', content: 'Read.' }, finish_reason: 'stop' }],
  usage: { prompt_tokens: 100, completion_tokens: 2, total_tokens: 102 },
});
const refusedPauseMs = 200;
const maxRefusalLength = 200;

async function startUpstream(): Promise<string> {
  const server = createServer((request, response) => {
    request.resume();
    request.once('end', () => response.setHeader('content-type', 'application/json').end(answer));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

function bodyOf({ model, text, messages, bytes }: BodyAsked): Buffer {
  const content = text.repeat(Math.ceil(bytes / messages / Buffer.byteLength(text)));
  const list = Array.from({ length: messages }, () => ({ role: 'user', content }));
  return Buffer.from(JSON.stringify({ model, messages: list, max_tokens: 10 }));
}

function requesting(disturbance: Disturbance): () => Promise<Response> {
  if (disturbance.kind === 'download') {
    const { url, cookie } = disturbance;
    return () => fetch(url, { headers: { cookie } });
  }
  const bodies = disturbance.bodies.map(bodyOf);
  const { url, apiKey } = disturbance;
  const headers = { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' };
  let next = 0;
  return () => fetch(`${url}/v1/chat/completions`, { method: 'POST', headers, body: bodies[next++ % bodies.length] });
}

let running: { stopped: boolean; done: number; refused: number; refusal: string; over: Promise<unknown> } | null = null;

function begin(disturbance: Disturbance, connections: number): void {
  const request = requesting(disturbance);
  const run = { stopped: false, done: 0, refused: 0, refusal: '', over: Promise.resolve() as Promise<unknown> };
  const again = async (): Promise<void> => {
    while (!run.stopped) {
      const response = await request();
      if (response.ok) {
        // A long file is read as it comes, and not kept.
        if (response.body !== null) for await (const _ of response.body);
        run.done++;
        continue;
      }
      run.refused++;
      run.refusal = `${response.status} ${(await response.text()).slice(0, maxRefusalLength)}`;
      await new Promise((resolve) => setTimeout(resolve, refusedPauseMs));
    }
  };
  run.over = Promise.all(Array.from({ length: connections }, again));
  // Set by `end`.
  run.over.catch(() => {});
  running = run;
}

const nothing: DisturberAnswer = { url: '', done: 0, refused: 0, refusal: '' };

answerParent<DisturberQuestion, DisturberAnswer>(async (question) => {
  switch (question.ask) {
    case 'upstream':
      return { ...nothing, url: await startUpstream() };
    case 'begin':
      begin(question.disturbance, question.connections);
      return nothing;
    case 'end': {
      if (running === null) return nothing;
      running.stopped = true;
      await running.over;
      const { done, refused, refusal } = running;
      running = null;
      return { url: '', done, refused, refusal };
    }
  }
});
