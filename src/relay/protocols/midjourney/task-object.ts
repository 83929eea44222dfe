import { Instant } from '../../../domain/kernel/instant.js';
import {
  isList,
  isObject,
  type JsonObject,
  type JsonValue,
  numberIn,
  objectsIn,
  parseJson,
  textIn,
} from '../../json/json.js';

/* A task as a proxy reports it. Nothing of it is trusted: every member is bounded, and may be missing. */

const maxText = 16_384;
const maxUrl = 4_096;
const maxUrls = 16;
const maxButtons = 64;
const maxMembers = 32;

const statuses = {
  NOT_START: 'not-started',
  SUBMITTED: 'submitted',
  MODAL: 'modal',
  IN_PROGRESS: 'in-progress',
  SUCCESS: 'succeeded',
  FAILURE: 'failed',
  CANCEL: 'failed',
} as const;

type ReportedStatus = (typeof statuses)[keyof typeof statuses] | 'unknown';

/** "45%", or a number; null: it says none. */
function progressIn(value: JsonValue | undefined): number | null {
  const number = typeof value === 'string' ? /^\s*(\d{1,3})(?:\.\d*)?\s*%?\s*$/.exec(value)?.[1] : numberIn(value);
  const percent = Number(number ?? Number.NaN);
  return percent >= 0 && percent <= 100 ? Math.trunc(percent) : null;
}

/** A failure is one by its status, or by its reason as long as it is not at its end. */
export function statusIn({ status, failReason, progress }: JsonObject): ReportedStatus {
  const said = textIn(status)?.toUpperCase() ?? '';
  const known = Object.hasOwn(statuses, said) ? statuses[said as keyof typeof statuses] : 'unknown';
  if (known === 'succeeded' || known === 'failed') return known;
  return textIn(failReason) !== null && progressIn(progress) !== 100 ? 'failed' : known;
}

const cut = (value: JsonValue | undefined, max = maxText): string => (textIn(value) ?? '').slice(0, max);

const urlIn = (value: JsonValue | undefined): string | null => {
  const url = textIn(value);
  return url !== null && url.length <= maxUrl && /^https?:\/\//i.test(url) ? url : null;
};

/** A list of addresses, or of objects with one as `url`; some write it as text in JSON or with commas between. */
function urlsIn(value: JsonValue | undefined): string[] {
  const list = isList(value) ? value : [];
  return list
    .map((one) => (isObject(one) ? urlIn(one.url) : urlIn(one)))
    .filter((url) => url !== null)
    .slice(0, maxUrls);
}

/** Milliseconds since 1970; null: it is none, or lies beyond what a clock can say. */
function timeIn(value: JsonValue | undefined): Instant | null {
  const time = typeof value === 'string' && /^\d{1,15}$/.test(value) ? Number(value) : numberIn(value);
  return time !== null && time > 0 && time <= 8.64e15 ? Instant(Math.trunc(time)) : null;
}

const plain = (value: JsonValue | undefined): JsonValue | undefined =>
  typeof value === 'string' ? value.slice(0, maxText) : typeof value === 'object' ? undefined : value;

function plainMembers(value: JsonValue | undefined): JsonObject {
  const members: JsonObject = {};
  if (isObject(value))
    for (const [name, member] of Object.entries(value).slice(0, maxMembers)) {
      const kept = plain(member);
      if (kept !== undefined && name.length <= 64) members[name] = kept;
    }
  return members;
}

/** What is kept of a report for its owner, beside what every task has. */
interface MidjourneyResult {
  readonly imageUrl: string;
  readonly videoUrls: readonly string[];
  readonly customId: string;
  readonly botType: string;
  readonly buttons: readonly JsonObject[];
  readonly properties: JsonObject;
}

/** Characters of it that are kept. */
const maxResult = 40_000;

export function resultIn(task: JsonObject): MidjourneyResult {
  const video = urlIn(task.videoUrl);
  const result = {
    imageUrl: urlIn(task.imageUrl) ?? '',
    videoUrls: [...new Set([...(video === null ? [] : [video]), ...urlsIn(task.videoUrls)])],
    customId: cut(task.customId, 512),
    botType: cut(task.botType, 64),
    buttons: objectsIn(task.buttons).slice(0, maxButtons).map(plainMembers),
    properties: plainMembers(task.properties),
  };
  // The addresses are worth more than what is said about them.
  if (JSON.stringify(result).length <= maxResult) return result;
  const shorter = { ...result, properties: {} };
  return JSON.stringify(shorter).length <= maxResult ? shorter : { ...shorter, buttons: [], videoUrls: [] };
}

interface ReportedTask {
  readonly upstreamId: string;
  readonly status: ReportedStatus;
  readonly progress: number | null;
  readonly startedAt: Instant | null;
  readonly finishedAt: Instant | null;
  readonly prompt: string;
  readonly promptEn: string;
  readonly description: string;
  readonly state: string;
  readonly failReason: string;
  readonly result: MidjourneyResult;
}

/** null: it does not say which task it is. */
export function reportedTask(task: JsonObject): ReportedTask | null {
  const id = typeof task.id === 'number' ? String(task.id) : textIn(task.id);
  if (id === null) return null;
  const status = statusIn(task);
  return {
    upstreamId: id,
    status,
    progress: status === 'succeeded' || status === 'failed' ? 100 : progressIn(task.progress),
    startedAt: timeIn(task.startTime),
    finishedAt: timeIn(task.finishTime),
    prompt: cut(task.prompt),
    promptEn: cut(task.promptEn),
    description: cut(task.description),
    state: cut(task.state, 2_048),
    failReason: cut(task.failReason, 2_048),
    result: resultIn(task),
  };
}

/** As it was kept; of another form: an empty one. */
export function storedResult(text: string | null): MidjourneyResult {
  const kept = text === null ? null : parseJson(text);
  const { imageUrl, videoUrls, customId, botType, buttons, properties } = isObject(kept) ? kept : {};
  return {
    imageUrl: urlIn(imageUrl) ?? '',
    videoUrls: urlsIn(videoUrls),
    customId: cut(customId, 512),
    botType: cut(botType, 64),
    buttons: objectsIn(buttons),
    properties: isObject(properties) ? properties : {},
  };
}
