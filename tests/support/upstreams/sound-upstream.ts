import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/* An upstream that hears and speaks. What it is sent is read by the platform's own parser of forms. */

export interface SoundCall {
  /** Path and query. */
  readonly url: string;
  readonly headers: IncomingHttpHeaders;
  /** The fields of a form in their order, or the members of an object. */
  readonly fields: readonly (readonly [string, unknown])[];
  readonly files: readonly {
    readonly name: string;
    readonly fileName: string;
    readonly type: string;
    readonly bytes: Buffer;
  }[];
}

export interface SoundUpstream {
  readonly url: string;
  readonly calls: SoundCall[];
  /** What it does with the next calls. */
  serve: (call: SoundCall, response: ServerResponse) => void;
  stop(): Promise<void>;
}

async function callFrom(url: string, headers: IncomingHttpHeaders, body: Buffer): Promise<SoundCall> {
  const type = headers['content-type'] ?? '';
  if (!type.startsWith('multipart/'))
    return { url, headers, fields: Object.entries(JSON.parse(body.toString('utf8')) as object), files: [] };
  const fields: [string, unknown][] = [];
  const files: SoundCall['files'][number][] = [];
  for (const [name, value] of await new Response(new Uint8Array(body), {
    headers: { 'content-type': type },
  }).formData())
    if (typeof value === 'string') fields.push([name, value]);
    else files.push({ name, fileName: value.name, type: value.type, bytes: Buffer.from(await value.arrayBuffer()) });
  return { url, headers, fields, files };
}

export const transcript = (body: object) => (_call: SoundCall, response: ServerResponse) =>
  void response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(body));

export async function startSoundUpstream(): Promise<SoundUpstream> {
  const calls: SoundCall[] = [];
  const server = createServer(async (request, response) => {
    const pieces: Buffer[] = [];
    for await (const piece of request) pieces.push(piece as Buffer);
    const call = await callFrom(request.url ?? '', request.headers, Buffer.concat(pieces));
    calls.push(call);
    upstream.serve(call, response);
  });
  const listening = once(server.listen(0, '127.0.0.1'), 'listening');
  await listening;
  const { port } = server.address() as AddressInfo;
  const upstream: SoundUpstream = {
    url: `http://127.0.0.1:${port}`,
    calls,
    serve: transcript({ text: 'Hello.' }),
    async stop() {
      const closed = once(server, 'close');
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
  return upstream;
}
