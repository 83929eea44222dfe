import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Duplex } from 'node:stream';
import { type WebSocket, WebSocketServer } from 'ws';
import type { JsonObject } from '../../../src/relay/json/json.js';

/* A provider of realtime sessions: answers each `response.create` with some sound and its usage, or as one test needs. */

export interface RealtimeUpstream {
  readonly url: string;
  /** Handshakes, as they came. */
  readonly opened: { readonly url: string; readonly headers: IncomingHttpHeaders }[];
  /** Events, as they came. */
  readonly events: JsonObject[];
  readonly sockets: Set<WebSocket>;
  /** What is done with an event; null: as usual. */
  behave: ((event: JsonObject, send: (event: JsonObject) => void, socket: WebSocket) => void) | null;
  /** Answers the handshake otherwise; null: it does not. */
  refuse: ((request: IncomingMessage, socket: Duplex) => void) | null;
  /** What the next responses say they used. */
  usage: JsonObject | null;
  stop(): Promise<void>;
}

/** 20 tokens of text and 100 of sound in, 30 of which came from the cache; 10 of text and 40 of sound out. */
export const usualUsage: JsonObject = {
  total_tokens: 170,
  input_tokens: 120,
  output_tokens: 50,
  input_token_details: {
    ...{ text_tokens: 20, audio_tokens: 100, image_tokens: 0, cached_tokens: 30 },
    cached_tokens_details: { text_tokens: 10, audio_tokens: 20, image_tokens: 0 },
  },
  output_token_details: { text_tokens: 10, audio_tokens: 40 },
};

let responses = 0;

export const soundOf = (bytes: number): string => Buffer.alloc(bytes, 7).toString('base64');

export const begunResponse = (id: string): JsonObject => ({
  type: 'response.created',
  response: { id, object: 'realtime.response', status: 'in_progress', conversation_id: 'conv_1', output: [] },
});

export const endedResponse = (id: string, usage: JsonObject | null, more: JsonObject = {}): JsonObject => ({
  type: 'response.done',
  response: { id, object: 'realtime.response', status: 'completed', conversation_id: 'conv_1', usage, ...more },
});

export const spokenPiece = (id: string, bytes = 4_800): JsonObject => ({
  type: 'response.output_audio.delta',
  event_id: 'event_1',
  response_id: id,
  ...{ item_id: 'item_1', output_index: 0, content_index: 0, delta: soundOf(bytes) },
});

export const newResponse = (): string => `resp_${++responses}`;

function answer(event: JsonObject, send: (event: JsonObject) => void, usage: JsonObject | null): void {
  if (event.type === 'session.update') send({ type: 'session.updated', session: event.session ?? {} });
  if (event.type !== 'response.create') return;
  const id = newResponse();
  send(begunResponse(id));
  send(spokenPiece(id));
  send({ type: 'response.output_audio_transcript.delta', response_id: id, delta: 'Every charge can be proved.' });
  send(endedResponse(id, usage));
}

export async function startRealtimeUpstream(): Promise<RealtimeUpstream> {
  const server = createServer((_, response) => void response.writeHead(404).end('{}'));
  const webSockets = new WebSocketServer({
    noServer: true,
    handleProtocols: (offered) => (offered.has('realtime') ? 'realtime' : false),
  });
  const upstream: RealtimeUpstream = {
    url: '',
    ...{ opened: [], events: [], sockets: webSockets.clients, behave: null, refuse: null, usage: usualUsage },
    async stop() {
      const closed = once(server, 'close');
      for (const client of webSockets.clients) client.terminate();
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
  server.on('upgrade', (request, stream, head) => {
    stream.on('error', () => {});
    upstream.opened.push({ url: request.url ?? '', headers: request.headers });
    if (upstream.refuse !== null) {
      upstream.refuse(request, stream);
      return;
    }
    webSockets.handleUpgrade(request, stream, head, (socket) => {
      socket.on('error', () => {});
      const send = (event: JsonObject): void => socket.send(JSON.stringify(event));
      send({ type: 'session.created', event_id: 'event_0', session: { type: 'realtime', model: 'upstream' } });
      socket.on('message', (data) => {
        const event = JSON.parse(String(data)) as JsonObject;
        upstream.events.push(event);
        if (upstream.behave === null) answer(event, send, upstream.usage);
        else upstream.behave(event, send, socket);
      });
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return Object.assign(upstream, { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` });
}
