import type { TaskObservation } from '../../../application/ports/task-ports.js';
import { Instant } from '../../../domain/kernel/instant.js';
import type { TaskStatus } from '../../../domain/task/task.js';
import type { TaskWire } from '../../contracts/task-wire.js';
import { jsonText } from '../../json/exact-number.js';
import { countIn, isList, isObject, type JsonObject, type JsonValue, objectsIn, textIn } from '../../json/json.js';
import { upstreamJson } from '../../json/upstream-json.js';
import { noThinking } from '../request-builder.js';
import { bearer, sunoSubmit } from './submit.js';

/* How a Suno server is asked for tasks, and how it says how far they are. */

const statuses: ReadonlyMap<string, TaskStatus> = new Map([
  ['NOT_START', 'not-started'],
  ['SUBMITTED', 'submitted'],
  ['QUEUED', 'queued'],
  ['IN_PROGRESS', 'in-progress'],
  ['SUCCESS', 'succeeded'],
  ['FAILURE', 'failed'],
]);

const urlMembers = ['audio_url', 'video_url', 'image_url', 'image_large_url'] as const;
/** A song comes as two clips. */
const maxClips = 16;

const urlsIn = (data: JsonValue | undefined): string[] =>
  (isList(data) ? objectsIn(data).slice(0, maxClips) : [data]).flatMap((clip) =>
    isObject(clip) ? urlMembers.flatMap((name) => textIn(clip[name]) ?? []) : [],
  );

/** Seconds since 1970; 0 is none. */
function instantIn(value: JsonValue | undefined): Instant | null {
  const seconds = countIn(value) ?? 0;
  return seconds === 0 || seconds > maxSeconds ? null : Instant(seconds * 1000);
}

const maxSeconds = 8.64e12;

const percentIn = (value: JsonValue | undefined): number | null => {
  const percent = typeof value === 'string' && /^\d{1,3}%$/.test(value) ? Number(value.slice(0, -1)) : null;
  return percent === null || percent > 100 ? null : percent;
};

/** What says why it failed; a server may say so beside another status. */
const failReasonIn = ({ fail_reason: reason }: JsonObject): string => textIn(reason) ?? '';

function observed(task: JsonObject): TaskObservation {
  const failReason = failReasonIn(task);
  const status = failReason !== '' ? 'failed' : (statuses.get(textIn(task.status) ?? '') ?? 'unknown');
  const hasData = isList(task.data) || isObject(task.data);
  return {
    upstreamId: textIn(task.task_id) ?? '',
    status,
    progress: status === 'succeeded' ? 100 : percentIn(task.progress),
    startedAt: instantIn(task.start_time),
    finishedAt: instantIn(task.finish_time),
    content: {
      ...(failReason !== '' && { failReason }),
      ...(hasData && { result: jsonText(task.data) }),
      urls: urlsIn(task.data),
    },
  };
}

/** Of one request. */
const maxIds = 50;
const limitMs = 60 * 60_000;

export const sunoTasks: TaskWire = {
  platform: 'suno',
  submit: sunoSubmit,
  limitMs,
  batch: maxIds,
  poll: (channel, tasks) => ({
    method: 'POST',
    url: `${channel.baseUrl}/suno/fetch`,
    headers: { ...bearer(channel), 'content-type': 'application/json' },
    content: { kind: 'json', text: JSON.stringify({ ids: tasks.map(({ upstreamId }) => upstreamId) }) },
    model: '',
    ...noThinking,
  }),
  read(status, body, asked) {
    const answer = status >= 200 && status <= 299 ? upstreamJson(body) : null;
    if (!isObject(answer) || answer.code !== 'success' || !isList(answer.data))
      return { unreached: `an answer with status ${status} that lists no tasks` };
    const wanted = new Set(asked.map(({ upstreamId }) => upstreamId));
    return objectsIn(answer.data)
      .map(observed)
      .filter(({ upstreamId }) => wanted.delete(upstreamId));
  },
};
