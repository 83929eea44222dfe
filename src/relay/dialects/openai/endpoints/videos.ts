import type { TaskView } from '../../../../application/ports/task-ports.js';
import { videoSecondsAt } from '../../../../domain/pricing/video-resolution.js';
import type { CallerDialect } from '../../../contracts/caller-dialect.js';
import type { Demand, Endpoint, InvalidRequest } from '../../../contracts/endpoint.js';
import { NotConvertible } from '../../../contracts/protocol.js';
import type { VideoOrder } from '../../../contracts/video-object.js';
import { type VideoRequest, videoSize } from '../../../contracts/video-request.js';
import type { JsonObject } from '../../../json/json.js';
import { countedPrompt } from '../../../metering/prompt-tally.js';
import { taskEndpoint } from '../../task-dialect.js';
import { openAiCaller } from '../dialect.js';
import { isVideoRequest, readRemix, readVideoRequest } from '../video-order.js';

/* A video is ordered: it costs by its seconds and its size, which stand in the request or are stated for it. */

/** Whole and short, and written from what is known here. */
const videosDialect: CallerDialect = {
  ...openAiCaller,
  whole: ({ body }) => Buffer.from(JSON.stringify(body)),
  withUsage: (bytes) => bytes,
  upstreamHeaders: openAiCaller.upstreamHeaders,
};

/** Of the one-api family: an id to ask by. */
const generationsDialect: CallerDialect = {
  ...videosDialect,
  whole: ({ body: { id, status } }) => Buffer.from(JSON.stringify({ task_id: id, status })),
};

type Reader = (body: JsonObject, upload?: Parameters<Endpoint['invalid']>[1]) => ReturnType<typeof readVideoRequest>;

/** Of a body that has been looked at. Throws NotConvertible. */
function requestIn(read: Reader, body: JsonObject): VideoRequest {
  const found = read(body);
  if (isVideoRequest(found)) return found;
  throw new NotConvertible('caller', found.message);
}

function demandOf({ seconds, size, n }: VideoRequest): Demand {
  const sides = videoSize(size);
  const quantity = sides === null ? null : videoSecondsAt(sides.width, sides.height);
  if (quantity === null) throw new Error('a video of no size');
  const plain = countedPrompt(0);
  const prompt = { ...plain, max: { ...plain.max, [quantity]: seconds * n } };
  return { prompt, answers: 0, asked: null, counted: true };
}

type Own = Pick<Endpoint, 'path' | 'dialect' | 'body' | 'usualModel' | 'task'>;

const ordering = (read: Reader, own: Own): Endpoint => ({
  ...taskEndpoint,
  ...own,
  toNeutral: (body) => ({ mode: 'task', body: requestIn(read, body) }),
  invalid(body, upload): InvalidRequest | null {
    const found = read(body, upload);
    return isVideoRequest(found) ? null : { code: 'invalid_video_request', ...found };
  },
  promptTexts: ({ prompt, negative_prompt, metadata }) => textsIn([prompt, negative_prompt, metadata]),
  demand: ({ body }) => demandOf(requestIn(read, body)),
});

const textsIn = (value: unknown): string[] => {
  if (typeof value === 'string') return [value];
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(textsIn) : [];
};

/** What OpenAI makes of a body that names none. */
const usualModel = 'sora-2';

const generate = { platform: 'video', action: () => 'GENERATE' } as const;

export const videos: Endpoint = ordering((body, upload = null) => readVideoRequest(body, upload, usualModel), {
  path: '/v1/videos',
  dialect: videosDialect,
  body: 'jsonOrForm',
  usualModel,
  task: generate,
});

export const videoGenerations: Endpoint = ordering((body, upload = null) => readVideoRequest(body, upload, ''), {
  path: '/v1/video/generations',
  dialect: generationsDialect,
  body: 'json',
  usualModel: null,
  task: generate,
});

/** Another video made of this one, as long and as large: it goes where that was made. */
export const remixOf = (source: TaskView, order: VideoOrder): Endpoint =>
  ordering((body) => readRemix(body, order), {
    path: '/v1/videos/{id}/remix',
    dialect: videosDialect,
    body: 'jsonOrForm',
    usualModel: null,
    task: {
      platform: 'video',
      action: () => 'REMIX',
      parent: () => ({ id: source.facts.publicId, param: null }),
    },
  });
