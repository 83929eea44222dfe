import {
  type CallerRequest,
  NotConvertible,
  type UpstreamChannel,
  type UpstreamRequest,
} from '../../contracts/protocol.js';
import type { TaskWire } from '../../contracts/task-wire.js';
import type { VideoFile, VideoFiles } from '../../contracts/video-files.js';
import { isObject, type JsonObject, textIn } from '../../json/json.js';
import { upstreamJson } from '../../json/upstream-json.js';
import { pathSegment } from '../model-address.js';
import { noThinking, written } from '../request-builder.js';
import { atItsLocation, hostOfLocation } from '../vertex/location.js';
import {
  type GivesOut,
  operationAnswer,
  operationBody,
  operationPictures,
  operationRead,
  videosIn,
} from './google-operation.js';

/* Videos of Google's cloud: operations of a project in a region. Their files stand in the operation itself, in base64. */

const dayMs = 24 * 60 * 60_000;
const headers = { 'content-type': 'application/json', accept: 'application/json' };

const operation =
  /^(projects\/[\w.:-]+\/locations\/([a-z0-9-]+)\/publishers\/google\/models\/[\w.@-]+)\/operations\/[\w.-]+$/;

/** Asked for anew each time. Throws NotConvertible. */
function fetched(channel: UpstreamChannel, name: string): UpstreamRequest {
  const [, resource, region] = operation.exec(name) ?? [];
  if (resource === undefined || region === undefined)
    throw new NotConvertible('channel', 'the upstream has given the operation a name that cannot be asked for');
  const base = channel.baseUrl.trim().replace(/\/+$/, '') || `https://${hostOfLocation(region)}`;
  return {
    ...noThinking,
    model: '',
    method: 'POST',
    url: `${base}/v1/${resource}:fetchPredictOperation`,
    headers,
    content: { kind: 'json', text: JSON.stringify({ operationName: name }) },
  };
}

const videoType = /^video\/[\w.+-]{1,64}$/;

const typeOf = ({ mimeType }: JsonObject): string => textIn(mimeType) ?? 'video/mp4';

/** Its bytes stand in it: a place in the cloud's store is one that nobody here can read. */
const givesOut: GivesOut = (video) => {
  const data = textIn(video.bytesBase64Encoded) ?? '';
  return Buffer.from(data.slice(0, 4), 'base64').length > 0 && videoType.test(typeOf(video));
};

function inside(answer: Buffer, index: number): VideoFile | null {
  const done = upstreamJson(answer);
  const video = isObject(done) ? videosIn(done, givesOut)[index] : undefined;
  const data = textIn(video?.bytesBase64Encoded);
  if (video === undefined || data === null) return null;
  return { type: typeOf(video), bytes: Buffer.from(data, 'base64') };
}

const submitUrl = (channel: UpstreamChannel, caller: CallerRequest, model: string): string =>
  `${atItsLocation(channel, caller).baseUrl}/publishers/google/models/${pathSegment(model)}:predictLongRunning`;

export const vertexVideos: { readonly tasks: TaskWire; readonly videos: VideoFiles } = {
  tasks: {
    platform: 'video',
    submit: {
      pictures: operationPictures,
      request: (asked) => ({
        ...noThinking,
        method: 'POST',
        url: submitUrl(asked.channel, asked.caller, asked.model),
        headers,
        content: { kind: 'json', text: written(operationBody(asked, true)) },
        model: asked.model,
      }),
      answer: operationAnswer,
    },
    limitMs: dayMs,
    batch: 1,
    // The files stand in it.
    maxAnswerBytes: 128 * 1024 * 1024,
    poll: (channel, [task]) => fetched(channel, task?.upstreamId ?? ''),
    read: (status, body, [task]) => operationRead(status, body, task?.upstreamId ?? '', givesOut),
  },
  videos: {
    source: (channel, { upstreamId }, variant) =>
      variant === 'video' ? { request: fetched(channel, upstreamId), inside } : null,
  },
};
