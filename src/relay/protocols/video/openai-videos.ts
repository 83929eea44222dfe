import type { TaskObservation } from '../../../application/ports/task-ports.js';
import { isKeptId } from '../../../domain/call/kept-object.js';
import { Instant } from '../../../domain/kernel/instant.js';
import type { TaskStatus } from '../../../domain/task/task.js';
import {
  type AnswerInput,
  NotConvertible,
  type RequestInput,
  type UpstreamChannel,
  type UpstreamRequest,
} from '../../contracts/protocol.js';
import type { SubmitWire, TaskWire } from '../../contracts/task-wire.js';
import type { VideoFiles } from '../../contracts/video-files.js';
import { countIn, isObject, type JsonObject, type JsonValue, textIn } from '../../json/json.js';
import { upstreamJson } from '../../json/upstream-json.js';
import { contentTypeOf, formContent, noContent, type RequestContent } from '../../upstream/request-content.js';
import { confidentialOf } from '../confidential-of.js';
import { formParts } from '../form-parts.js';
import { undoubled } from '../model-address.js';
import { cloudflareGateway } from '../openai/request.js';
import { noThinking, written } from '../request-builder.js';
import { notTaken, unclear } from '../task-answer.js';
import { takenVideo, videoRequestIn } from './taken-video.js';

/* Videos as OpenAI's interface has them: a collection to create in, and each of them below it. */

interface OpenAiVideoPlace {
  /** Address of the collection, with its query. Throws NotConvertible. */
  readonly collection: (channel: UpstreamChannel) => string;
  readonly headers: (channel: UpstreamChannel) => Record<string, string>;
}

function addressOf({ collection }: OpenAiVideoPlace, channel: UpstreamChannel, ...below: readonly string[]): URL {
  const url = new URL(undoubled(channel.baseUrl.replace(/\/+$/, ''), collection(channel)));
  url.pathname = [url.pathname.replace(/\/+$/, ''), ...below.map(encodeURIComponent)].join('/');
  return url;
}

/** What decides the cost stands as it is charged, whatever an operator sets. */
const priced: readonly string[] = ['model', 'prompt', 'seconds', 'size', 'n', 'duration', 'width', 'height'];

function overridden(body: JsonObject, { paramOverride }: UpstreamChannel): JsonObject {
  if (paramOverride === null) return body;
  const own = Object.entries(paramOverride).filter(([name]) => !priced.includes(name));
  return { ...body, ...Object.fromEntries(own) };
}

/** Throws NotConvertible. */
function contentOf({ caller, channel, model }: RequestInput): RequestContent {
  const { prompt, seconds, size, n, image, negative_prompt, seed } = videoRequestIn(caller);
  if (caller.task?.parent) return { kind: 'json', text: written(overridden({ prompt }, channel)) };
  if (n !== 1) throw new NotConvertible('caller', 'n: this upstream makes one video at a time');
  const extra = negative_prompt !== undefined ? 'negative_prompt' : seed !== undefined ? 'seed' : null;
  if (extra !== null) throw new NotConvertible('caller', `${extra}: this upstream does not take it`);
  const body = overridden({ model, prompt, seconds: String(seconds), size }, channel);
  if (caller.files !== null && caller.files.length > 0) return formContent(formParts(body, caller.files));
  return {
    kind: 'json',
    text: written(image === undefined ? body : { ...body, input_reference: { image_url: image } }),
  };
}

const statuses: ReadonlyMap<JsonValue | undefined, TaskStatus> = new Map([
  ['queued', 'queued'],
  ['in_progress', 'in-progress'],
  ['completed', 'succeeded'],
  ['failed', 'failed'],
  ['cancelled', 'failed'],
]);

const percentIn = (value: JsonValue | undefined): number | null => {
  const percent = countIn(value);
  return percent === null || percent > 100 ? null : percent;
};

/** Seconds since 1970. Later than the year 5138 they are of another unit. */
function instantIn(value: JsonValue | undefined): Instant | null {
  const seconds = countIn(value) ?? 0;
  return seconds === 0 || seconds > 1e11 ? null : Instant(seconds * 1000);
}

function submitWire(place: OpenAiVideoPlace): SubmitWire {
  return {
    request(asked) {
      const { caller, channel, model } = asked;
      const content = contentOf(asked);
      const { parent } = caller.task ?? {};
      const below = parent ? [parent.facts.upstreamId, 'remix'] : [];
      return {
        method: 'POST',
        url: addressOf(place, channel, ...below).href,
        headers: {
          ...place.headers(channel),
          accept: 'application/json',
          'content-type': contentTypeOf(content) ?? '',
        },
        content,
        model,
        ...noThinking,
      };
    },
    answer(answered: AnswerInput) {
      const { provider, channel, status, body } = answered;
      const video = upstreamJson(body);
      const said = isObject(video) ? video : null;
      if (status >= 400 && (status < 500 || said?.error !== undefined))
        return notTaken(status, body, confidentialOf(provider, channel));
      const upstreamId = textIn(said?.id);
      if (status >= 400 || said === null || upstreamId === null || !isKeptId(upstreamId)) return unclear(status);
      const begun = statuses.get(said.status) === 'in-progress' ? 'in-progress' : 'queued';
      return takenVideo(answered, { upstreamId, status: begun, progress: Math.min(percentIn(said.progress) ?? 0, 99) });
    },
  };
}

/** A moderation's refusal. */
const isRejected = (code: string): boolean => /moderation|policy|safety|sensitive/i.test(code);

function observed(video: JsonObject, upstreamId: string): TaskObservation {
  const status = statuses.get(video.status) ?? 'unknown';
  const error = isObject(video.error) ? video.error : {};
  const failReason = textIn(error.message) ?? textIn(error.code);
  return {
    ...{ upstreamId, status },
    ...(status === 'failed' && { reason: isRejected(textIn(error.code) ?? '') ? 'rejected' : 'upstream' }),
    progress: status === 'succeeded' ? 100 : percentIn(video.progress),
    startedAt: null,
    finishedAt: instantIn(video.completed_at),
    content: { ...(status === 'failed' && failReason !== null && { failReason }), urls: [] },
  };
}

const dayMs = 24 * 60 * 60_000;

const asks = (
  place: OpenAiVideoPlace,
  channel: UpstreamChannel,
  method: 'GET' | 'DELETE',
  url: URL,
): UpstreamRequest => ({
  method,
  url: url.href,
  headers: { ...place.headers(channel), accept: '*/*' },
  content: noContent,
  model: '',
  ...noThinking,
});

/** How videos are asked for, followed, given out and deleted at this place. */
export function openAiVideos(place: OpenAiVideoPlace): { readonly tasks: TaskWire; readonly videos: VideoFiles } {
  return {
    tasks: {
      platform: 'video',
      submit: submitWire(place),
      limitMs: dayMs,
      batch: 1,
      poll: (channel, [task]) => asks(place, channel, 'GET', addressOf(place, channel, task?.upstreamId ?? '')),
      read(status, body, [task]) {
        const video = upstreamJson(body);
        const upstreamId = task?.upstreamId ?? '';
        // One that is missing says nothing of the channel, and its time is limited.
        if (status === 404 && isObject(video)) return [observed({}, upstreamId)];
        if (status < 200 || status > 299 || !isObject(video)) return { unreached: `an answer with status ${status}` };
        return video.id === upstreamId ? [observed(video, upstreamId)] : { unreached: 'an answer of another video' };
      },
    },
    videos: {
      source(channel, { upstreamId, index }, variant) {
        if (index > 0) return null;
        const url = addressOf(place, channel, upstreamId, 'content');
        if (variant !== 'video') url.searchParams.set('variant', variant);
        return { request: asks(place, channel, 'GET', url) };
      },
      remove: (channel, upstreamId) => asks(place, channel, 'DELETE', addressOf(place, channel, upstreamId)),
    },
  };
}

/** Where OpenAI's own path is, at the root of an interface. */
export const standardCollection = (baseUrl: string): string => {
  const base = baseUrl.trim().replace(/\/+$/, '');
  return base.startsWith(cloudflareGateway) ? `${base}/videos` : `${base}/v1/videos`;
};
