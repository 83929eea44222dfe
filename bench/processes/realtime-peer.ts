import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { WebSocket, WebSocketServer } from 'ws';
import { answerParent } from './child.js';

/*
 * The ends of realtime sessions: a provider that answers each piece of sound with another, a bare proxy between two
 * WebSockets, and clients. One process is one of them.
 */

export type RealtimeQuestion =
  | { readonly ask: 'provide' }
  | { readonly ask: 'pass'; readonly upstream: string }
  /** Sends sound for so long, so many pieces under way at once in each session. */
  | { readonly ask: 'talk'; readonly target: Target; readonly sessions: number; readonly ms: number }
  /** Opens sessions and leaves them open. */
  | { readonly ask: 'open'; readonly target: Target; readonly sessions: number };

interface Target {
  readonly url: string;
  readonly apiKey: string;
}

/** `count`: pieces that came back, or sessions that are open. */
export type RealtimeAnswer = { readonly url: string } | { readonly count: number };

/** A tenth of a second, 24,000 samples a second. */
const sound = Buffer.alloc(4_800, 7).toString('base64');
const heard = JSON.stringify({ type: 'input_audio_buffer.append', audio: sound });
const spoken = Buffer.from(
  JSON.stringify({
    type: 'response.output_audio.delta',
    event_id: 'event_1',
    response_id: 'resp_1',
    ...{ item_id: 'item_1', output_index: 0, content_index: 0, delta: sound },
  }),
);
const underWay = 16;
const asText = { binary: false } as const;
const plain = { perMessageDeflate: false } as const;

async function listening(server: Server): Promise<string> {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

function serve(opened: (socket: WebSocket) => void): Promise<string> {
  const server = createServer();
  const choose = (offered: Set<string>) => (offered.has('realtime') ? 'realtime' : false);
  new WebSocketServer({ server, ...plain, handleProtocols: choose }).on('connection', opened);
  return listening(server);
}

const provide = (): Promise<string> => serve((socket) => socket.on('message', () => socket.send(spoken, asText)));

const pass = (upstream: string): Promise<string> =>
  serve((socket) => {
    const other = new WebSocket(upstream.replace(/^http/, 'ws'), plain);
    const waiting: Buffer[] = [];
    other.on('open', () => {
      for (const data of waiting.splice(0)) other.send(data, asText);
    });
    socket.on('message', (data: Buffer) => {
      if (other.readyState === other.OPEN) other.send(data, asText);
      else waiting.push(data);
    });
    other.on('message', (data: Buffer) => socket.send(data, asText));
    socket.on('close', () => other.terminate());
    other.on('close', () => socket.terminate());
  });

async function open({ url, apiKey }: Target): Promise<WebSocket> {
  const headers = { authorization: `Bearer ${apiKey}` };
  const socket = new WebSocket(`${url.replace(/^http/, 'ws')}/v1/realtime?model=gpt-4o-mini`, { headers, ...plain });
  await once(socket, 'open');
  return socket;
}

const kept: WebSocket[] = [];

async function openMany(target: Target, sessions: number): Promise<WebSocket[]> {
  const opened: WebSocket[] = [];
  for (let number = 0; number < sessions; number++) opened.push(await open(target));
  return opened;
}

async function talk(target: Target, sessions: number, ms: number): Promise<number> {
  const sockets = await openMany(target, sessions);
  let count = 0;
  for (const socket of sockets) {
    socket.on('message', () => {
      count++;
      socket.send(heard);
    });
    for (let piece = 0; piece < underWay; piece++) socket.send(heard);
  }
  await new Promise((resolve) => setTimeout(resolve, ms));
  const counted = count;
  for (const socket of sockets) socket.terminate();
  return counted;
}

answerParent<RealtimeQuestion, RealtimeAnswer>(async (question) => {
  switch (question.ask) {
    case 'provide':
      return { url: await provide() };
    case 'pass':
      return { url: await pass(question.upstream) };
    case 'talk':
      return { count: await talk(question.target, question.sessions, question.ms) };
    case 'open':
      kept.push(...(await openMany(question.target, question.sessions)));
      return { count: kept.length };
  }
});
