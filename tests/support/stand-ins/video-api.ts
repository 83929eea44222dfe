import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/*
 * A video API on loopback, in OpenAI's form and as Google's long-running operations. What it answers is scripted: how far
 * each video is, poll by poll, and what stands in place of an answer.
 */

type Json = Readonly<Record<string, unknown>>;

export interface ReceivedRequest {
  readonly method: string;
  /** Path and query. */
  readonly url: string;
  readonly headers: IncomingMessage['headers'];
  readonly body: Buffer;
}

type Answer = (response: ServerResponse, request: ReceivedRequest) => unknown;

export interface VideoApi {
  readonly url: string;
  readonly received: ReceivedRequest[];
  /** Ids or names of what was begun, in order. */
  readonly begun: string[];
  /** What the next polls of this one answer, one after the other; the last one stays. */
  script(id: string, ...states: readonly Json[]): void;
  /** Answers requests whose path begins so, in place of the API, until it is taken back. */
  instead(start: string, answer: Answer): () => void;
  /** The file of every video. */
  file: { type: string; bytes: Buffer };
  stop(): Promise<void>;
}

export const json = (response: ServerResponse, status: number, body: Json) =>
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));

export const html =
  (status = 200): Answer =>
  (response) =>
    response.writeHead(status, { 'content-type': 'text/html' }).end('<html><body>Bad gateway</body></html>');

/** Nothing, until whoever asked leaves. */
export const silence: Answer = () => {};

/** The parameters that an order in OpenAI's form was sent with, whether as JSON or as a form. */
export function orderIn({ headers, body }: ReceivedRequest): Json {
  const text = body.toString('latin1');
  if (/json/.test(headers['content-type'] ?? '')) return JSON.parse(body.toString('utf8')) as Json;
  const fields = [...text.matchAll(/name="(\w+)"\r\n\r\n([^\r]*)\r\n/g)].map(([, name, value]) => [name, value]);
  const files = [...text.matchAll(/name="(\w+)"; filename="([^"]*)"/g)].map(([, name, file]) => [name, { file }]);
  return Object.fromEntries([...fields, ...files]);
}

export async function startVideoApi(): Promise<VideoApi> {
  const received: ReceivedRequest[] = [];
  const begun: string[] = [];
  const states = new Map<string, Json[]>();
  const standIns: { readonly start: string; readonly answer: Answer }[] = [];
  const orders = new Map<string, Json>();
  let count = 0;

  const nextState = (id: string): Json => {
    const left = states.get(id) ?? [];
    return (left.length > 1 ? left.shift() : left[0]) ?? {};
  };

  const begin = (id: string, order: Json): void => {
    begun.push(id);
    orders.set(id, order);
  };

  const video = (id: string): Json => ({
    ...{ id, object: 'video', created_at: 1_790_000_000, status: 'queued', progress: 0, error: null },
    ...orders.get(id),
    ...nextState(id),
  });

  const sendFile = (response: ServerResponse, request: ReceivedRequest) => {
    const { type, bytes } = api.file;
    const [, from, to] = /^bytes=(\d+)-(\d*)$/.exec(request.headers.range ?? '') ?? [];
    const head = { 'content-type': type, 'accept-ranges': 'bytes' };
    if (from === undefined) {
      return response.writeHead(200, { ...head, 'content-length': bytes.length }).end(bytes);
    }
    const end = to === undefined || to === '' ? bytes.length - 1 : Number(to);
    const range = `bytes ${from}-${end}/${bytes.length}`;
    return response.writeHead(206, { ...head, 'content-range': range }).end(bytes.subarray(Number(from), end + 1));
  };

  const openAi = (response: ServerResponse, request: ReceivedRequest, path: string) => {
    const [id, below] = path.split('/').slice(3);
    if (request.method === 'POST') {
      const made = `up_${++count}`;
      const source = id === undefined ? {} : { ...orders.get(id), remixed_from_video_id: id };
      begin(made, { ...source, ...orderIn(request) });
      return json(response, 200, video(made));
    }
    if (id === undefined || !orders.has(id))
      return json(response, 404, { error: { message: `Video ${id} not found.`, type: 'invalid_request_error' } });
    if (request.method === 'DELETE') {
      orders.delete(id);
      return json(response, 200, { id, deleted: true, object: 'video.deleted' });
    }
    if (below === 'content') return sendFile(response, request);
    return json(response, 200, video(id));
  };

  const operation = (name: string): Json => ({ name, ...nextState(name) });

  const google = (response: ServerResponse, request: ReceivedRequest, path: string) => {
    if (path.endsWith(':fetchPredictOperation')) {
      const { operationName } = JSON.parse(request.body.toString('utf8')) as { operationName: string };
      return json(response, 200, operation(operationName));
    }
    if (path.endsWith(':predictLongRunning')) {
      const model = path.replace(/^\/v1(beta)?\//, '').replace(/:predictLongRunning$/, '');
      const name = `${model}/operations/op${++count}`;
      begin(name, JSON.parse(request.body.toString('utf8')) as Json);
      return json(response, 200, { name });
    }
    if (path.includes('/operations/')) return json(response, 200, operation(path.replace(/^\/v1beta\//, '')));
    if (path.startsWith('/v1beta/files/')) return sendFile(response, request);
    return json(response, 404, { error: { code: 404, message: 'not found', status: 'NOT_FOUND' } });
  };

  const server = createServer(async (incoming, response) => {
    const pieces: Buffer[] = [];
    for await (const piece of incoming) pieces.push(piece as Buffer);
    const { method = '', url = '', headers } = incoming;
    const request: ReceivedRequest = { method, url, headers, body: Buffer.concat(pieces) };
    received.push(request);
    const [path = ''] = url.split('?');
    const scripted = standIns.findLast(({ start }) => `${method} ${path}`.startsWith(start));
    if (scripted !== undefined) scripted.answer(response, request);
    else if (path.startsWith('/v1/videos')) openAi(response, request, path);
    else google(response, request, path);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');

  const api: VideoApi = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    ...{ received, begun },
    script: (id, ...scripted) => void states.set(id, [...scripted]),
    instead(start, answer) {
      const standIn = { start, answer };
      standIns.push(standIn);
      return () => void standIns.splice(standIns.indexOf(standIn), 1);
    },
    file: { type: 'video/mp4', bytes: Buffer.from('a film of a cat, from its beginning to its end') },
    async stop() {
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
    },
  };
  return api;
}
