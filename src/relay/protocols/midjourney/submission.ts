import { isKeptId } from '../../../domain/call/kept-object.js';
import type { JsonObject } from '../../json/json.js';
import { isList, isObject, textIn } from '../../json/json.js';
import type { MidjourneyAction } from './actions.js';
import { actionOfButton } from './custom-id.js';
import { severalJobs } from './several-jobs.js';
import { readSimpleChange } from './simple-change.js';

/* What a submission asks for, by the place it is sent to, and what may be wrong with it. */

/** By the last part of its path. */
export const submitKinds = [
  'imagine',
  'change',
  'simple-change',
  'action',
  'modal',
  'blend',
  'describe',
  'shorten',
  'upload-discord-images',
  'swap',
  'video',
  'edits',
] as const;

export type SubmitKind = (typeof submitKinds)[number];

export interface Submission {
  readonly action: MidjourneyAction;
  /** The task that it follows up; null: none. */
  readonly parentId: string | null;
}

/** A member that cannot be taken. `word`: by which clients know what is wrong; `message`: '' where the word says it all. */
export interface WrongMember {
  readonly word: string;
  readonly param: string;
  readonly message: string;
}

type Read = Submission | WrongMember;

export const isWrong = (read: Read): read is WrongMember => 'word' in read;

const maxPrompt = 16_384;
const maxText = 2_048;
const maxPictures = 10;
/** In base64: of about 24 MB. */
const maxPicture = 32 * 1024 * 1024;

const wrong = (word: string, param: string, message = ''): WrongMember => ({ word, param, message });
const missing = (word: string, param: string): WrongMember => wrong(`${word}_is_required`, param);

/** A text that may be left out. */
function wrongText(body: JsonObject, param: string, word: string, max: number): WrongMember | null {
  const value = body[param] ?? null;
  if (value === null || (typeof value === 'string' && value.length <= max)) return null;
  return wrong(`${word}_is_invalid`, param, `${param} must be a text of at most ${max} characters`);
}

function wrongList(body: JsonObject, param: string, from = 0, to = maxPictures): WrongMember | null {
  const value = body[param] ?? null;
  if (value === null || (isList(value) && value.length === 0)) return from > 0 ? missing('base64_array', param) : null;
  const fits =
    isList(value) &&
    value.length >= from &&
    value.length <= to &&
    value.every((one) => typeof one === 'string' && one !== '' && one.length <= maxPicture);
  if (fits) return null;
  const range = from > 0 ? `${from} to ${to}` : `at most ${to}`;
  return wrong('base64_array_is_invalid', param, `${param} must be a list of ${range} pictures in base64`);
}

/** Of members that any submission may have. */
function wrongShared(body: JsonObject): WrongMember | null {
  const filter = body.accountFilter ?? null;
  if (filter !== null && !(isObject(filter) && JSON.stringify(filter).length <= maxText))
    return wrong(
      'account_filter_is_invalid',
      'accountFilter',
      `accountFilter must be an object of at most ${maxText} characters`,
    );
  return (
    wrongText(body, 'prompt', 'prompt', maxPrompt) ??
    wrongText(body, 'state', 'state', maxText) ??
    wrongText(body, 'notifyHook', 'notify_hook', maxText) ??
    wrongText(body, 'botType', 'bot_type', 64) ??
    wrongText(body, 'base64', 'base64', maxPicture) ??
    wrongText(body, 'maskBase64', 'mask_base64', maxPicture) ??
    wrongText(body, 'image', 'image', maxPicture) ??
    wrongText(body, 'link', 'link', maxText)
  );
}

/** The task that a body follows up. */
function parentIn({ taskId }: JsonObject): string | WrongMember {
  if ((taskId ?? null) === null || taskId === '') return missing('task_id', 'taskId');
  // What is no id belongs to nobody.
  return typeof taskId === 'string' && isKeptId(taskId) ? taskId : wrong('task_not_found', 'taskId');
}

const firstOf = (action: MidjourneyAction): Submission => ({ action, parentId: null });

const needsPrompt = (action: MidjourneyAction, body: JsonObject): Read =>
  textIn(body.prompt) === null ? missing('prompt', 'prompt') : firstOf(action);

const changes = new Set<MidjourneyAction>(['UPSCALE', 'VARIATION', 'REROLL']);

function readChange(body: JsonObject): Read {
  const parentId = parentIn(body);
  if (typeof parentId !== 'string') return parentId;
  const action = textIn(body.action)?.toUpperCase() as MidjourneyAction | undefined;
  if (action === undefined) return missing('action', 'action');
  if (!changes.has(action))
    return wrong('unknown_action', 'action', 'action must be one of UPSCALE, VARIATION, REROLL');
  const { index } = body;
  if ((index ?? null) === null || index === 0)
    return action === 'REROLL' ? { action, parentId } : missing('index', 'index');
  return Number.isInteger(index) && Number(index) >= 1 && Number(index) <= 4
    ? { action, parentId }
    : wrong('index_parse_failed', 'index', 'index must be an integer from 1 to 4');
}

function readSimple({ content }: JsonObject): Read {
  if ((content ?? null) === null || content === '') return missing('content', 'content');
  const change = typeof content === 'string' ? readSimpleChange(content) : null;
  if (change === null)
    return wrong('content_parse_failed', 'content', 'content must be the id of a task and U1 to U4, V1 to V4 or R');
  return isKeptId(change.taskId)
    ? { action: change.action, parentId: change.taskId }
    : wrong('task_not_found', 'content');
}

const maxCustomId = 512;

function readButton(body: JsonObject): Read {
  const parentId = parentIn(body);
  if (typeof parentId !== 'string') return parentId;
  const { customId } = body;
  if ((customId ?? null) === null || customId === '') return missing('custom_id', 'customId');
  if (typeof customId !== 'string' || customId.length > maxCustomId)
    return wrong('unknown_action', 'customId', `customId must be a text of at most ${maxCustomId} characters`);
  const button = actionOfButton(customId);
  if (button === null) return wrong('unknown_action', 'customId');
  return button.index === null ? wrong('index_parse_failed', 'customId') : { action: button.action, parentId };
}

function readModal(body: JsonObject): Read {
  const parentId = parentIn(body);
  return typeof parentId === 'string' ? { action: 'MODAL', parentId } : parentId;
}

const dimensions = new Set(['PORTRAIT', 'SQUARE', 'LANDSCAPE']);

function readBlend(body: JsonObject): Read {
  const list = wrongList(body, 'base64Array', 2, 5);
  if (list !== null) return list;
  const shape = body.dimensions ?? null;
  return shape === null || shape === '' || (typeof shape === 'string' && dimensions.has(shape))
    ? firstOf('BLEND')
    : wrong('dimensions_is_invalid', 'dimensions', 'dimensions must be one of PORTRAIT, SQUARE, LANDSCAPE');
}

const readDescribe = ({ base64, link }: JsonObject): Read =>
  textIn(base64) === null && textIn(link) === null ? missing('base64', 'base64') : firstOf('DESCRIBE');

function readSwap({ sourceBase64, targetBase64 }: JsonObject): Read {
  for (const [name, value] of Object.entries({ sourceBase64, targetBase64 }))
    if (textIn(value) === null || String(value).length > maxPicture)
      return wrong('sour_base64_and_target_base64_is_required', name);
  return firstOf('SWAP_FACE');
}

/** From a picture, a prompt, or a task: its own, or the one that a longer film begins with. */
function readVideo(body: JsonObject): Read {
  if ((body.taskId ?? null) === null || body.taskId === '')
    return textIn(body.image) === null ? needsPrompt('VIDEO', body) : firstOf('VIDEO');
  const parentId = parentIn(body);
  return typeof parentId === 'string' ? { action: 'VIDEO', parentId } : parentId;
}

const readers: Readonly<Record<SubmitKind, (body: JsonObject) => Read>> = {
  imagine: (body) => wrongList(body, 'base64Array') ?? needsPrompt('IMAGINE', body),
  change: readChange,
  'simple-change': readSimple,
  action: readButton,
  modal: readModal,
  blend: readBlend,
  describe: readDescribe,
  shorten: (body) => needsPrompt('SHORTEN', body),
  'upload-discord-images': (body) => wrongList(body, 'base64Array', 1) ?? firstOf('UPLOAD'),
  swap: readSwap,
  video: readVideo,
  edits: (body) => wrongList(body, 'base64Array') ?? needsPrompt('EDITS', body),
};

/** What draws nothing makes no several jobs either. */
const wrongCount = (kind: SubmitKind, body: JsonObject): WrongMember | null => {
  const several = kind === 'shorten' || kind === 'describe' ? null : severalJobs(body);
  if (several === null) return null;
  const { param, message } = several;
  return wrong(param === 'prompt' ? 'prompt_is_invalid' : 'batch_size_is_invalid', param, message);
};

export function readSubmission(kind: SubmitKind, body: JsonObject): Read {
  return wrongShared(body) ?? wrongCount(kind, body) ?? readers[kind](body);
}
