import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { isList, isObject, type JsonObject, parseJson, textIn } from '../relay/json/json.js';
import { simulatedFilm } from './simulated-film.js';

/*
 * A Midjourney proxy, a Suno server and a video API in one, on loopback. How far a task is follows from its id, so that
 * tasks of an earlier start of the demo come to their end as well. Drawings and songs have no files: pages get files of
 * public addresses alone.
 */

export interface SimulatedTaskServer {
  /** What goes into a channel's base URL. */
  readonly url: string;
  stop(): Promise<void>;
}

interface Course {
  readonly percent: number;
  readonly isFailed: boolean;
  readonly startedAt: number;
  /** null: it is under way. */
  readonly finishedAt: number | null;
}

const failReason = 'The request was stopped by the content filter';

const idOf = (kind: string, now: number, number: number): string => `${kind}-${now}-${number}`;

/** null: no such id is given out. One in seven fails. */
function courseOf(id: string, now: number, lastMs: number): Course | null {
  const [, begun = '', numbered = ''] = /^[a-z]+-(\d{13})-(\d{1,9})$/.exec(id) ?? [];
  if (begun === '') return null;
  const number = Number(numbered);
  const endsAt = Number(begun) + lastMs * (1 + (number % 4) / 4);
  const startedAt = Number(begun) + (endsAt - Number(begun)) / 10;
  const percent = Math.floor((100 * (now - startedAt)) / (endsAt - startedAt));
  return {
    ...{ percent: Math.min(Math.max(percent, 0), 100), isFailed: now >= endsAt && number % 7 === 6 },
    ...{ startedAt: Math.floor(startedAt), finishedAt: now >= endsAt ? Math.floor(endsAt) : null },
  };
}

const statusOf = ({ finishedAt, isFailed, percent }: Course): string =>
  finishedAt === null ? (percent > 0 ? 'IN_PROGRESS' : 'SUBMITTED') : isFailed ? 'FAILURE' : 'SUCCESS';

const progressOf = ({ finishedAt, percent }: Course): string => `${finishedAt === null ? Math.min(percent, 99) : 100}%`;

const buttons = ['U1', 'U2', 'U3', 'U4', 'V1', 'V2', 'V3', 'V4'].map((label) => ({
  customId: `MJ::JOB::${label.startsWith('U') ? 'upsample' : 'variation'}::${label.slice(1)}::simulated`,
  ...{ label, emoji: '', type: 2, style: 2 },
}));

const drawing = (id: string, course: Course): JsonObject => ({
  ...{ id, action: 'IMAGINE', status: statusOf(course), progress: progressOf(course) },
  ...{ startTime: course.startedAt, finishTime: course.finishedAt ?? 0 },
  ...{ failReason: course.isFailed ? failReason : '', imageUrl: '' },
  ...(course.finishedAt !== null && !course.isFailed && { buttons }),
});

const song = (id: string, course: Course): JsonObject => ({
  ...{ task_id: id, action: 'MUSIC', status: statusOf(course), progress: progressOf(course) },
  ...{ start_time: Math.floor(course.startedAt / 1000), finish_time: Math.floor((course.finishedAt ?? 0) / 1000) },
  fail_reason: course.isFailed ? failReason : '',
  data: course.finishedAt === null || course.isFailed ? [] : [{ id: `${id}-clip`, title: 'A simulated song' }],
});

const film = (id: string, course: Course): JsonObject => ({
  ...{ id, object: 'video', progress: course.finishedAt === null ? Math.min(course.percent, 99) : 100 },
  status: course.finishedAt === null ? 'in_progress' : course.isFailed ? 'failed' : 'completed',
  completed_at: course.finishedAt === null ? null : Math.floor(course.finishedAt / 1000),
  error: course.isFailed ? { code: 'moderation_blocked', message: failReason } : null,
});

type Reply = { readonly status: number; readonly body: unknown } | 'film';

const taken = (body: JsonObject): Reply => ({ status: 200, body });

function sendFilm(response: ServerResponse, range: string | undefined): void {
  const [, first = '', last = ''] = /^bytes=(\d{1,9})-(\d{0,9})$/.exec(range ?? '') ?? [];
  const head = { 'content-type': 'video/webm', 'accept-ranges': 'bytes' };
  const length = simulatedFilm.length;
  if (first === '' || Number(first) >= length)
    response.writeHead(200, { ...head, 'content-length': length }).end(simulatedFilm);
  else {
    const to = last === '' ? length - 1 : Math.min(Number(last), length - 1);
    response
      .writeHead(206, { ...head, 'content-range': `bytes ${first}-${to}/${length}` })
      .end(simulatedFilm.subarray(Number(first), to + 1));
  }
}

/** Bytes of a request. */
const maxBody = 1024 * 1024;

async function bodyOf(request: IncomingMessage): Promise<JsonObject> {
  const parts: Buffer[] = [];
  let bytes = 0;
  for await (const part of request as AsyncIterable<Buffer>) {
    bytes += part.length;
    if (bytes > maxBody) return {};
    parts.push(part);
  }
  const body = parseJson(Buffer.concat(parts).toString());
  return isObject(body) ? body : {};
}

const idsIn = ({ ids }: JsonObject): string[] => (isList(ids) ? ids.flatMap((id) => textIn(id) ?? []) : []);

/** `lastMs`: how long tasks take at least; the longest take almost twice as long. */
export async function startSimulatedTasks({ lastMs = 20_000 } = {}): Promise<SimulatedTaskServer> {
  let number = 0;

  const known = (ids: readonly string[], shown: (id: string, course: Course) => JsonObject): JsonObject[] =>
    ids.flatMap((id) => {
      const course = courseOf(id, Date.now(), lastMs);
      return course === null ? [] : [shown(id, course)];
    });

  const answerTo = (method: string, path: string, body: JsonObject): Reply => {
    const submitted = (kind: string): string => idOf(kind, Date.now(), ++number);
    if (path.endsWith('/mj/task/list-by-condition')) return { status: 200, body: known(idsIn(body), drawing) };
    if (path.includes('/mj/submit/'))
      return taken({ code: 1, description: 'Submit success', result: submitted('drawing') });
    if (path === '/suno/fetch') return taken({ code: 'success', message: '', data: known(idsIn(body), song) });
    if (path.startsWith('/suno/submit/')) return taken({ code: 'success', message: '', data: submitted('song') });
    if (path === '/v1/videos' && method === 'POST') {
      const [made] = known([submitted('film')], film);
      return taken({ ...made, ...body });
    }
    const [, id = '', below] = /^\/v1\/videos\/([\w-]+)(\/content)?$/.exec(path) ?? [];
    const [video] = known([id], film);
    if (video === undefined)
      return { status: 404, body: { error: { message: 'not found', type: 'invalid_request_error' } } };
    if (below !== undefined) return 'film';
    return taken(method === 'DELETE' ? { id, deleted: true, object: 'video.deleted' } : video);
  };

  const serve = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const { method = '', url = '', headers } = request;
    const reply = answerTo(method, url.split('?', 1)[0] ?? '', await bodyOf(request));
    if (reply === 'film') sendFilm(response, headers.range);
    else response.writeHead(reply.status, { 'content-type': 'application/json' }).end(JSON.stringify(reply.body));
  };

  const server = createServer((request, response) => {
    serve(request, response).catch(() => response.destroy());
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async stop() {
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
    },
  };
}
