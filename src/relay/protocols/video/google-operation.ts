import type { TaskObservation } from '../../../application/ports/task-ports.js';
import { urlIn } from '../../../domain/kernel/address.js';
import {
  type Answer,
  type AnswerInput,
  NotConvertible,
  type RequestInput,
  type RequestOptions,
} from '../../contracts/protocol.js';
import type { VideoRequest } from '../../contracts/video-request.js';
import { isList, isObject, type JsonObject, type JsonValue, objectsIn, textIn } from '../../json/json.js';
import { upstreamJson } from '../../json/upstream-json.js';
import { confidentialOf } from '../confidential-of.js';
import { geminiRefusal } from '../gemini/failure.js';
import { unclear } from '../task-answer.js';
import { takenVideo, videoRequestIn } from './taken-video.js';

/*
 * Google's long-running operations that make videos (`predictLongRunning`), in its public interface and in its cloud: one
 * is asked for by its name until it is done, and its videos are in it.
 */

const shapes: ReadonlyMap<string, { readonly aspectRatio: string; readonly resolution: string }> = new Map([
  ['1280x720', { aspectRatio: '16:9', resolution: '720p' }],
  ['720x1280', { aspectRatio: '9:16', resolution: '720p' }],
  ['1920x1080', { aspectRatio: '16:9', resolution: '1080p' }],
  ['1080x1920', { aspectRatio: '9:16', resolution: '1080p' }],
  ['3840x2160', { aspectRatio: '16:9', resolution: '4k' }],
  ['2160x3840', { aspectRatio: '9:16', resolution: '4k' }],
]);

/** It has one resolution, and refuses to be told which. */
const hasOneResolution = (model: string): boolean => /^veo-2\./.test(model);

const dataUrl = /^data:([^;,]+);base64,(.+)$/s;

/** Throws NotConvertible. */
function pictureIn(
  { image }: VideoRequest,
  {
    caller,
    options: { pictures },
  }: Pick<RequestInput, 'caller'> & { readonly options: Pick<RequestOptions, 'pictures'> },
): JsonObject | null {
  const [file] = caller.files ?? [];
  if (file !== undefined) return { bytesBase64Encoded: file.bytes.toString('base64'), mimeType: file.type };
  if (image === undefined) return null;
  const [, mimeType, data] = dataUrl.exec(image) ?? [];
  if (mimeType !== undefined && data !== undefined) return { bytesBase64Encoded: data, mimeType };
  const fetched = pictures.get(image);
  if (fetched === undefined) throw new NotConvertible('caller', 'the picture cannot be fetched from its address');
  return { bytesBase64Encoded: fetched.data, mimeType: fetched.type };
}

/** Pictures that must be fetched first. */
export const operationPictures = ({ caller }: Pick<RequestInput, 'caller'>): readonly string[] => {
  const { image } = videoRequestIn(caller);
  return image === undefined || image.startsWith('data:') ? [] : [image];
};

/** What an operator may set beside what decides the cost. */
const settable: ReadonlySet<string> = new Set([
  'personGeneration',
  'enhancePrompt',
  'compressionQuality',
  'resizeMode',
]);

/** `takesSeed`: the place does. Throws NotConvertible. */
export function operationBody(asked: RequestInput, takesSeed: boolean): JsonObject {
  const { caller, channel, model } = asked;
  if (caller.task?.parent) throw new NotConvertible('caller', 'this upstream cannot remix videos');
  const order = videoRequestIn(caller);
  // A refund takes back a whole call: of several, those that are withheld would be charged.
  if (order.n !== 1) throw new NotConvertible('caller', 'n: this upstream makes one video at a time');
  const shape = shapes.get(order.size);
  if (shape === undefined)
    throw new NotConvertible('caller', `size: this upstream makes ${[...shapes.keys()].join(', ')}`);
  if (hasOneResolution(model) && shape.resolution !== '720p')
    throw new NotConvertible('caller', 'size: this model makes 1280x720, 720x1280');
  if (order.seed !== undefined && !takesSeed)
    throw new NotConvertible('caller', 'seed: this upstream does not take it');
  const picture = pictureIn(order, asked);
  const set = Object.entries(channel.paramOverride ?? {}).filter(([name]) => settable.has(name));
  return {
    instances: [{ prompt: order.prompt, ...(picture !== null && { image: picture }) }],
    parameters: {
      ...Object.fromEntries(set),
      sampleCount: order.n,
      durationSeconds: order.seconds,
      aspectRatio: shape.aspectRatio,
      ...(!hasOneResolution(model) && { resolution: shape.resolution }),
      ...(order.negative_prompt !== undefined && { negativePrompt: order.negative_prompt }),
      ...(order.seed !== undefined && { seed: order.seed }),
    },
  };
}

const isOperationName = (name: string): boolean =>
  /^[A-Za-z0-9][\w.:/-]{0,255}$/.test(name) && !name.includes('..') && /(^|\/)operations\/[\w.:-]+$/.test(name);

/** What an operation begins with: its name. */
export function operationAnswer(answered: AnswerInput): Answer {
  const { provider, channel, status, body } = answered;
  const operation = upstreamJson(body);
  const said = isObject(operation) ? operation : null;
  if (status >= 400 && (status < 500 || said?.error !== undefined))
    return { ok: false, error: geminiRefusal(status, body, confidentialOf(provider, channel)) };
  const name = textIn(said?.name);
  if (status >= 400 || name === null || !isOperationName(name)) return unclear(status);
  return takenVideo(answered, { upstreamId: name, status: 'in-progress', progress: 0 });
}

/** Of a video of an operation: whether its place can give it out. */
export type GivesOut = (video: JsonObject) => boolean;

interface OperationResult {
  /** Videos it holds that can be given out. */
  readonly videos: readonly JsonObject[];
  /** Why some, or all, are withheld. */
  readonly reasons: readonly string[];
}

/** Either place's. */
function resultIn(response: JsonValue | undefined, givesOut: GivesOut): OperationResult {
  const answer = isObject(response) ? response : {};
  const inner = isObject(answer.generateVideoResponse) ? answer.generateVideoResponse : answer;
  const samples = objectsIn(inner.generatedSamples).flatMap(({ video }) => (isObject(video) ? [video] : []));
  const { raiMediaFilteredReasons: reasons } = inner;
  return {
    videos: [...samples, ...objectsIn(inner.videos)].filter(givesOut),
    reasons: isList(reasons) ? reasons.flatMap((reason) => textIn(reason) ?? []) : [],
  };
}

export const videosIn = (operation: JsonObject, givesOut: GivesOut): readonly JsonObject[] =>
  resultIn(operation.response, givesOut).videos;

const maxVideos = 8;
const maxAddress = 2_048;

/** Where the file of a video is; null: it is at no address that can be followed. */
export function addressOfVideo({ uri }: JsonObject): string | null {
  const address = textIn(uri);
  if (address === null || address.length > maxAddress) return null;
  return /^https?:$/.test(urlIn(address)?.protocol ?? '') ? address : null;
}

/** Throws nothing, whatever it is. */
function operationObserved(operation: JsonObject, upstreamId: string, givesOut: GivesOut): TaskObservation {
  const none = { upstreamId, startedAt: null, finishedAt: null } as const;
  if (operation.done !== true) return { ...none, status: 'in-progress', progress: null, content: { urls: [] } };
  const { error } = operation;
  if (isObject(error))
    return {
      ...{ ...none, status: 'failed', reason: 'upstream', progress: null },
      content: { failReason: textIn(error.message) ?? '', urls: [] },
    };
  const { videos, reasons } = resultIn(operation.response, givesOut);
  // What nobody can download has not been made for its caller.
  if (videos.length === 0)
    return {
      ...{ ...none, status: 'failed', reason: reasons.length > 0 ? 'rejected' : 'upstream', progress: null },
      content: { failReason: reasons.join(' '), urls: [] },
    };
  const urls = videos.slice(0, maxVideos).flatMap((video) => addressOfVideo(video) ?? []);
  return { ...none, status: 'succeeded', progress: 100, content: { urls } };
}

/** What an answer to a poll says of the one that was asked about. */
export function operationRead(
  status: number,
  body: Buffer,
  upstreamId: string,
  givesOut: GivesOut,
): readonly TaskObservation[] | { readonly unreached: string } {
  const operation = upstreamJson(body);
  // One that is missing says nothing of the channel, and its time is limited.
  if (status === 404 && isObject(operation))
    return [
      {
        ...{ upstreamId, status: 'unknown', progress: null, startedAt: null, finishedAt: null },
        content: { urls: [] },
      },
    ];
  if (status < 200 || status > 299 || !isObject(operation)) return { unreached: `an answer with status ${status}` };
  if (textIn(operation.name) !== null && operation.name !== upstreamId)
    return { unreached: 'an answer of another operation' };
  return [operationObserved(operation, upstreamId, givesOut)];
}
