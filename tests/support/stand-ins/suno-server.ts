import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { isObject, type JsonObject, parseJson } from '../../../src/relay/json/json.js';

/* A Suno server whose songs come as far as a test says, and which can be made to fall silent or talk nonsense. */

interface ReceivedRequest {
  readonly method: string;
  readonly path: string;
  readonly body: JsonObject;
  readonly authorization: string | undefined;
}

type Answering = (response: ServerResponse, request: ReceivedRequest) => void;

export interface SunoServer {
  readonly url: string;
  readonly received: ReceivedRequest[];
  /** By id, as they stand. */
  readonly tasks: Map<string, JsonObject>;
  /** Says how far a task is from now on. */
  change(id: string, to: JsonObject): void;
  /** Answers the next requests of that beginning, one each, in place of the server. */
  next(start: string, ...answers: Answering[]): void;
  /** Answers all requests of that beginning from now on; null: the server does again, and what has not ended is cut off. */
  always(start: string, answer: Answering | null): void;
  /** Requests of that beginning. */
  count(start: string): number;
  stop(): Promise<void>;
}

const json = (response: ServerResponse, status: number, body: JsonObject): void => {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
};
export const answers = {
  json:
    (status: number, body: JsonObject): Answering =>
    (response) =>
      json(response, status, body),
  html:
    (status: number): Answering =>
    (response) =>
      void response.writeHead(status, { 'content-type': 'text/html' }).end('<html>busy</html>'),
  /** Nothing comes, and the connection stays open. */
  silence: (): void => {},
  /** The connection ends after the request has come. */
  hangUp: (response: ServerResponse): void => void response.socket?.destroy(),
  /** Bytes without an end, as fast as they are taken. */
  endless: (response: ServerResponse): void => {
    response.writeHead(200, { 'content-type': 'application/json' });
    response.write('{"code":"success","data":[');
    const filler = Buffer.alloc(256 * 1024, ' ');
    const more = (): void => {
      while (!response.destroyed && response.write(filler));
      if (!response.destroyed) response.once('drain', more);
    };
    more();
  },
};

export async function startSunoServer(): Promise<SunoServer> {
  const received: ReceivedRequest[] = [];
  const tasks = new Map<string, JsonObject>();
  const scripted: { start: string; answer: Answering }[] = [];
  const constant = new Map<string, Answering>();
  const open = new Set<ServerResponse>();
  let submitted = 0;

  const serve: Answering = (response, { path, body }) => {
    const action = /^\/suno\/submit\/(MUSIC|LYRICS)$/.exec(path)?.[1];
    if (action !== undefined) {
      const id = `song-${++submitted}`;
      tasks.set(id, { task_id: id, action, status: 'NOT_START', submit_time: 0, start_time: 0, finish_time: 0 });
      return json(response, 200, { code: 'success', message: '', data: id });
    }
    if (path === '/suno/fetch') {
      const ids = Array.isArray(body.ids) ? body.ids.map(String) : [];
      return json(response, 200, {
        code: 'success',
        message: '',
        data: ids.flatMap((id) => tasks.get(id) ?? []) as JsonObject[],
      });
    }
    if (path === '/suno/account')
      return json(response, 200, { code: 'success', data: { certificate: { jwt: 'secret', credits_left: 420 } } });
    return json(response, 404, { detail: 'Not Found' });
  };

  const server = createServer((request, response) => {
    let text = '';
    request.setEncoding('utf8').on('data', (part: string) => {
      text += part;
    });
    request.once('end', () => {
      const { method = '', url: path = '', headers } = request;
      const body = parseJson(text);
      const came = { method, path, body: isObject(body) ? body : {}, authorization: headers.authorization };
      received.push(came);
      open.add(response);
      response.once('close', () => open.delete(response));
      const at = scripted.findIndex(({ start }) => path.startsWith(start));
      const answer = at < 0 ? [...constant].find(([start]) => path.startsWith(start))?.[1] : scripted[at]?.answer;
      if (at >= 0) scripted.splice(at, 1);
      (answer ?? serve)(response, came);
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    received,
    tasks,
    change: (id, to) => void tasks.set(id, { ...tasks.get(id), ...to }),
    next: (start, ...all) => void scripted.push(...all.map((answer) => ({ start, answer }))),
    always(start, answer) {
      if (answer !== null) return void constant.set(start, answer);
      constant.delete(start);
      for (const response of open) response.destroy();
    },
    count: (start) => received.filter(({ path }) => path.startsWith(start)).length,
    async stop() {
      const closed = once(server, 'close');
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
}
