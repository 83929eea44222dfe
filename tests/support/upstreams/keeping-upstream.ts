import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { isObject, type JsonObject } from '../../../src/relay/json/json.js';
import { codeItem, messageItem, reportedUsage, responseOf, streamOf } from './responses-answers.js';

/* An upstream of the Responses interface that keeps what it is asked to keep, as OpenAI does: one account for all. */

interface ReceivedRequest {
  readonly method: string;
  /** Path and query. */
  readonly url: string;
  readonly body: JsonObject;
  readonly text: string;
  readonly headers: IncomingHttpHeaders;
}

export interface KeepingUpstream {
  readonly url: string;
  readonly received: ReceivedRequest[];
  /** As they stand; tests may change them. */
  readonly responses: Map<string, JsonObject>;
  /** What a response in the background becomes at its end. Left out of a test: completed. */
  finish(id: string, rest?: JsonObject): void;
  /** Answers the next request of that beginning in place of the upstream. */
  next(start: string, answer: (response: ServerResponse, request: ReceivedRequest) => void): void;
  stop(): Promise<void>;
}

const words = 'Every charge can be proved.';

/** Its helper throws at types of events that it does not know. */
const known = (events: string): string => events.replace(/event: response\.someday\n.*\n\n/, '');

/** As its metadata say. */
const wordsFor = ({ metadata }: JsonObject): string =>
  isObject(metadata) && typeof metadata.answer === 'string' ? metadata.answer : words;

/** As its metadata say, or 20. */
const inputOf = ({ metadata }: JsonObject): number =>
  isObject(metadata) && typeof metadata.input_tokens === 'string' ? Number(metadata.input_tokens) : 20;

/** `takes`: what is refused with 401 otherwise. Left out: everything. */
export async function startKeepingUpstream(
  takes: (request: ReceivedRequest) => boolean = () => true,
): Promise<KeepingUpstream> {
  const received: ReceivedRequest[] = [];
  const responses = new Map<string, JsonObject>();
  const conversations = new Map<string, JsonObject[]>();
  const scripted: { start: string; answer: (response: ServerResponse, request: ReceivedRequest) => void }[] = [];
  const newId = (kind: string): string => `${kind}_${randomBytes(16).toString('hex')}`;

  const json = (response: ServerResponse, status: number, body: JsonObject): void => {
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
  };
  const notFound = (response: ServerResponse, what: string): void =>
    json(response, 404, {
      error: { message: `${what} not found.`, type: 'invalid_request_error', param: null, code: null },
    });

  const create = (body: JsonObject, response: ServerResponse) => {
    const previous = body.previous_response_id;
    if (typeof previous === 'string' && !responses.has(previous)) {
      const message = `Previous response with id '${previous}' not found.`;
      const error = { message, type: 'invalid_request_error', param: 'previous_response_id' };
      return json(response, 400, { error: { ...error, code: 'previous_response_not_found' } });
    }
    const store = body.store !== false;
    const code = { ...codeItem, id: newId('ci'), container_id: newId('cntr') };
    const output = [
      ...(Array.isArray(body.tools) ? [code] : []),
      { ...messageItem(wordsFor(body)), id: newId('msg') } as JsonObject,
    ];
    const made = responseOf(output, {
      id: newId('resp'),
      store,
      background: body.background === true,
      previous_response_id: previous ?? null,
      conversation: body.conversation ?? null,
      usage: reportedUsage(inputOf(body), 10),
    });
    const later = body.background === true;
    const begun: JsonObject = later ? { ...made, status: 'queued', output: [], usage: null } : made;
    if (store) responses.set(String(made.id), begun);
    if (later && body.stream === true) {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      const queued = `event: response.queued\ndata: ${JSON.stringify({ type: 'response.queued', sequence_number: 0, response: begun })}\n\n`;
      response.write(queued);
      return;
    }
    if (body.stream === true)
      response.writeHead(200, { 'content-type': 'text/event-stream' }).end(known(streamOf(made)));
    else json(response, 200, begun);
  };

  const finish = (id: string, rest: JsonObject = {}): void => {
    const known = responses.get(id) ?? {};
    const done = { status: 'completed', output: [messageItem(words)], usage: reportedUsage(20, 10) };
    responses.set(id, { ...known, ...done, ...rest });
  };

  const ofResponse = (request: ReceivedRequest, id: string, rest: string, response: ServerResponse) => {
    const kept = responses.get(id);
    if (kept === undefined) return notFound(response, `Response with id '${id}'`);
    if (request.method === 'DELETE') {
      responses.delete(id);
      return json(response, 200, { id, object: 'response', deleted: true });
    }
    if (rest === 'cancel') {
      if (kept.background !== true)
        return json(response, 400, { error: { message: 'Only background responses can be cancelled.' } });
      finish(id, { status: 'cancelled', output: [] });
      return json(response, 200, responses.get(id) ?? {});
    }
    if (rest === 'input_items')
      return json(response, 200, { object: 'list', data: [], has_more: false, first_id: null, last_id: null });
    if (request.url.includes('stream=true'))
      return void response.writeHead(200, { 'content-type': 'text/event-stream' }).end(known(streamOf(kept)));
    json(response, 200, kept);
  };

  const conversation = (request: ReceivedRequest, id: string, rest: string, response: ServerResponse) => {
    const items = conversations.get(id);
    if (items === undefined) return notFound(response, `Conversation with id '${id}'`);
    if (request.method === 'DELETE' && rest === '') {
      conversations.delete(id);
      return json(response, 200, { id, object: 'conversation.deleted', deleted: true });
    }
    if (rest.startsWith('items')) {
      if (request.method === 'DELETE') {
        const left = items.filter(({ id }) => id !== rest.slice('items/'.length));
        conversations.set(id, left);
        return json(response, 200, { id, object: 'conversation', created_at: 1, metadata: {} });
      }
      if (request.method === 'POST')
        for (const item of request.body.items as JsonObject[])
          items.push({ ...item, type: 'message', id: newId('msg'), status: 'completed' });
      const one = rest.slice('items/'.length);
      const found = items.find((item) => item.id === one);
      if (one !== '') return found === undefined ? notFound(response, 'Item') : json(response, 200, found);
      return json(response, 200, { object: 'list', data: items, has_more: false, first_id: null, last_id: null });
    }
    json(response, 200, { id, object: 'conversation', created_at: 1, metadata: request.body.metadata ?? {} });
  };

  /** Each has one file. */
  const container = (request: ReceivedRequest, id: string, rest: readonly string[], response: ServerResponse) => {
    const file = { id: 'cfile_1', object: 'container.file', container_id: id, path: '/mnt/data/a.csv', bytes: 4 };
    const [, named, content] = rest;
    if (named !== undefined && named !== file.id) return notFound(response, 'File');
    if (request.method === 'DELETE') return json(response, 200, { id: named ?? id, deleted: true });
    if (content === 'content')
      return void response.writeHead(200, { 'content-type': 'text/html' }).end(Buffer.from([0, 1, 0xfe, 0xff]));
    if (rest.length === 0) return json(response, 200, { id, object: 'container', status: 'running' });
    json(response, 200, named === undefined ? { object: 'list', data: [file], has_more: false } : file);
  };

  const serve = (request: ReceivedRequest, response: ServerResponse) => {
    const path = request.url.split('?')[0] ?? '';
    const place = scripted.findIndex(({ start }) => `${request.method} ${path}`.startsWith(start));
    const [taken] = place < 0 ? [] : scripted.splice(place, 1);
    if (taken !== undefined) return taken.answer(response, request);
    const [, , resource, id = '', ...rest] = path.split('/');
    if (resource === 'responses' && id === 'input_tokens')
      return json(response, 200, { object: 'response.input_tokens', input_tokens: 17 });
    if (resource === 'responses' && id === 'compact')
      return json(response, 200, {
        id: newId('resp'),
        object: 'response.compaction',
        created_at: 1,
        output: [{ type: 'compaction', id: newId('cmp'), encrypted_content: 'abc' }],
        usage: reportedUsage(20, 10),
      });
    if (resource === 'responses')
      return id === '' ? create(request.body, response) : ofResponse(request, id, rest.join('/'), response);
    if (resource === 'conversations' && id === '') {
      const conv = newId('conv');
      conversations.set(conv, []);
      return json(response, 200, { id: conv, object: 'conversation', created_at: 1, metadata: {} });
    }
    if (resource === 'containers') return container(request, id, rest, response);
    if (resource === 'conversations') return conversation(request, id, rest.join('/'), response);
    notFound(response, 'This');
  };

  const server = createServer(async (incoming: IncomingMessage, response) => {
    let text = '';
    for await (const part of incoming.setEncoding('utf8')) text += part;
    const body = text === '' ? {} : (JSON.parse(text) as JsonObject);
    const request = { method: incoming.method ?? '', url: incoming.url ?? '', body, text, headers: incoming.headers };
    if (!takes(request)) return json(response, 401, { error: { message: 'Not authorised.' } });
    received.push(request);
    serve(request, response);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    received,
    responses,
    finish,
    next: (start, answer) => void scripted.push({ start, answer }),
    async stop() {
      const closed = once(server, 'close');
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
}
