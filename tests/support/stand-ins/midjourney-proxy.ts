import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { isObject, type JsonObject } from '../../../src/relay/json/json.js';

/*
 * A Midjourney proxy on loopback: it takes submissions, and reports on tasks as a test has scripted. By itself it takes
 * whatever is asked for, and no task moves.
 */

interface ProxyRequest {
  readonly method: string;
  /** Path and query. */
  readonly url: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: JsonObject;
}

type Answer = (response: ServerResponse, request: ProxyRequest) => void;

export interface MidjourneyProxy {
  readonly url: string;
  readonly received: ProxyRequest[];
  /** As it reports them; tests may change them. */
  readonly tasks: Map<string, JsonObject>;
  /** The last submission that it took. */
  readonly last: { readonly id: string; readonly request: ProxyRequest };
  /** What the task has come to, as its next report says. */
  become(id: string, members: JsonObject): void;
  /** Answers the next request to a path of that beginning in place of the proxy. */
  next(start: string, answer: Answer): void;
  /** Answers all such requests so, till it is undone. */
  always(start: string, answer: Answer): () => void;
  /** Posts a report to where the submission of the task asked for it. The status it was answered with. */
  report(id: string, members?: JsonObject): Promise<number>;
  stop(): Promise<void>;
}

export const json =
  (status: number, body: unknown): Answer =>
  (response) =>
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));

/** As a proxy in front of it answers. */
export const html: Answer = (response) =>
  response.writeHead(200, { 'content-type': 'text/html' }).end('<html><body>Bad gateway</body></html>');

const actionOf = (url: string): string => url.split('/').at(-1)?.split('?', 1)[0] ?? '';

export async function startMidjourneyProxy(): Promise<MidjourneyProxy> {
  const received: ProxyRequest[] = [];
  const tasks = new Map<string, JsonObject>();
  const submissions = new Map<string, ProxyRequest>();
  const scripted: { readonly start: string; readonly answer: Answer; readonly stays: boolean }[] = [];
  let count = 0;

  const submitted = (request: ProxyRequest): Answer => {
    if (actionOf(request.url) === 'upload-discord-images')
      return json(200, { code: 1, description: 'success', result: ['https://cdn.example/up.png'] });
    const given = request.body.taskId;
    const id = actionOf(request.url) === 'modal' ? String(given) : `17121580114${String(++count).padStart(5, '0')}`;
    submissions.set(id, request);
    tasks.set(id, {
      ...{ id, action: 'IMAGINE', prompt: request.body.prompt ?? '', promptEn: '', description: 'Submit success' },
      ...{ state: request.body.state ?? '', submitTime: 1, startTime: 0, finishTime: 0, imageUrl: '' },
      ...{ status: 'SUBMITTED', progress: '0%', failReason: '', buttons: [], properties: {} },
    });
    return json(200, { code: 1, description: 'Submit success', properties: {}, result: id });
  };

  const answerTo = (request: ProxyRequest): Answer => {
    const at = scripted.findIndex(({ start }) => request.url.startsWith(start));
    const found = scripted[at];
    if (found !== undefined) {
      if (!found.stays) scripted.splice(at, 1);
      return found.answer;
    }
    const { url, body } = request;
    if (url.includes('/mj/submit/') || url.endsWith('/insight-face/swap')) return submitted(request);
    if (url.endsWith('/image-seed')) return json(200, { code: 1, description: 'success', result: '3407834961' });
    const ids = Array.isArray(body.ids) ? body.ids.map(String) : [];
    if (url.endsWith('/list-by-condition'))
      return json(
        200,
        ids.flatMap((id) => tasks.get(id) ?? []),
      );
    return json(404, { code: 404, description: 'no such path' });
  };

  const server = createServer((incoming, response) => {
    let text = '';
    incoming.setEncoding('utf8').on('data', (part: string) => {
      text += part;
    });
    incoming.once('end', () => {
      const parsed: unknown = text === '' ? {} : JSON.parse(text);
      const body = isObject(parsed) ? parsed : {};
      const { method = '', url = '', headers } = incoming;
      const request = { method, url, headers, body };
      received.push(request);
      answerTo(request)(response, request);
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const script = (start: string, answer: Answer, stays: boolean) => {
    const entry = { start, answer, stays };
    scripted.push(entry);
    return () => void scripted.splice(scripted.indexOf(entry), 1);
  };
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    ...{ received, tasks },
    get last() {
      const [id, request] = [...submissions].at(-1) ?? [];
      if (id === undefined || request === undefined) throw new Error('nothing was submitted');
      return { id, request };
    },
    become(id, members) {
      tasks.set(id, { ...tasks.get(id), ...members });
    },
    next: (start, answer) => void script(start, answer, false),
    always: (start, answer) => script(start, answer, true),
    async report(id, members = {}) {
      const hook = submissions.get(id)?.body.notifyHook;
      if (typeof hook !== 'string') throw new Error('no report was asked for');
      const body = JSON.stringify({ ...tasks.get(id), ...members });
      const { status } = await fetch(hook, { method: 'POST', headers: { 'content-type': 'application/json' }, body });
      return status;
    },
    async stop() {
      const closed = once(server, 'close');
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
}
