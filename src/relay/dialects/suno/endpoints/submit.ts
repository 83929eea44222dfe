import type { TaskView } from '../../../../application/ports/task-ports.js';
import type { Endpoint, InvalidRequest } from '../../../contracts/endpoint.js';
import { RelayError } from '../../../contracts/errors.js';
import { type SunoAction, sunoMembers } from '../../../contracts/suno-request.js';
import type { NamedTask } from '../../../contracts/task-asked.js';
import { isList, isObject, type JsonObject, type JsonValue, objectsIn, parseJson, textIn } from '../../../json/json.js';
import { pricedPerTask } from '../../task-dialect.js';
import { sunoCaller } from '../dialect.js';

/* A song or lyrics, asked for: what is answered is the id of a task. */

/** In characters: no server takes longer texts. */
const maxTextLength = 10_000;

const invalid = (param: string, message: string): InvalidRequest => ({ code: 'invalid_request', param, message });

function invalidText(param: string, value: JsonValue): InvalidRequest | null {
  if (typeof value !== 'string') return invalid(param, `${param} must be a text`);
  return value.length > maxTextLength ? invalid(param, `${param} must be at most ${maxTextLength} characters`) : null;
}

const invalidSeconds = (param: string, value: JsonValue): InvalidRequest | null =>
  typeof value === 'number' && value >= 0 ? null : invalid(param, `${param} must be a number of seconds from 0`);

const invalidFlag = (param: string, value: JsonValue): InvalidRequest | null =>
  typeof value === 'boolean' ? null : invalid(param, `${param} must be true or false`);

const checks = { text: invalidText, seconds: invalidSeconds, flag: invalidFlag };

function invalidMember(action: SunoAction, body: JsonObject): InvalidRequest | null {
  for (const [param, kind] of Object.entries(sunoMembers[action])) {
    const value = body[param] ?? null;
    const wrong = value === null ? null : checks[kind](param, value);
    if (wrong !== null) return wrong;
  }
  if (action === 'lyrics') return textIn(body.prompt) === null ? invalid('prompt', 'prompt_empty') : null;
  // A clip belongs to the account that made it, and its task says whose it is here.
  const { continue_clip_id: clip, task_id: task } = body;
  return textIn(clip) !== null && textIn(task) === null ? invalid('task_id', 'task id is required') : null;
}

const textsOf = (action: SunoAction, body: JsonObject): string[] =>
  Object.entries(sunoMembers[action]).flatMap(([name, kind]) => (kind === 'text' ? (textIn(body[name]) ?? []) : []));

/** A task that is named is one of the caller's, whatever is to be made of it. */
function parentIn({ task_id: task }: JsonObject): NamedTask | null {
  const id = textIn(task);
  return id === null ? null : { id, param: 'task_id' };
}

/** Of a task, as far as its server has said. */
function clipsOf({ content }: Pick<TaskView, 'content'>): readonly string[] {
  const result = content?.result === undefined ? undefined : parseJson(content.result);
  return (isList(result) ? objectsIn(result) : isObject(result) ? [result] : []).flatMap(({ id }) => textIn(id) ?? []);
}

/** Accounts are shared: a clip is its caller's where it is one of the task that is named. */
function foreignClip(parent: TaskView, { continue_clip_id: named }: JsonObject): RelayError | null {
  const clip = textIn(named);
  if (clip === null || clipsOf(parent).includes(clip)) return null;
  return new RelayError(400, 'invalid_request', 'continue_clip_id must be a clip of the task task_id', {
    ...{ type: 'invalid_request_error', param: 'continue_clip_id' },
  });
}

export const sunoEndpoint = (action: SunoAction): Endpoint => ({
  ...pricedPerTask,
  path: `/suno/submit/${action}`,
  dialect: sunoCaller,
  invalid: (body) => invalidMember(action, body),
  promptTexts: (body) => textsOf(action, body),
  modelOf: () => `suno_${action}`,
  task: {
    platform: 'suno',
    action: () => action.toUpperCase(),
    ...(action === 'music' && { parent: parentIn, notFrom: foreignClip }),
  },
});
