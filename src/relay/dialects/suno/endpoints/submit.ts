import type { Endpoint, InvalidRequest } from '../../../contracts/endpoint.js';
import type { NamedTask } from '../../../contracts/task-asked.js';
import { type JsonObject, textIn } from '../../../json/json.js';
import { pricedPerTask } from '../../task-dialect.js';
import { sunoCaller } from '../dialect.js';

/* A song or lyrics, asked for: what is answered is the id of a task. */

export const sunoActions = ['music', 'lyrics'] as const;
type SunoAction = (typeof sunoActions)[number];

/** In characters: no server takes longer texts. */
const maxTextLength = 10_000;

const invalid = (param: string, message: string): InvalidRequest => ({ code: 'invalid_request', param, message });

/** Members of a request that are texts, if they are there. */
const texts: Readonly<Record<SunoAction, readonly string[]>> = {
  lyrics: ['prompt'],
  music: [
    'prompt',
    'gpt_description_prompt',
    'mv',
    'title',
    'tags',
    'negative_tags',
    'generation_type',
    'task',
    'task_id',
    'continue_clip_id',
    'continued_aligned_prompt',
  ],
};
const seconds = ['continue_at', 'infill_start_s', 'infill_end_s'] as const;

function invalidText(body: JsonObject, param: string): InvalidRequest | null {
  const value = body[param] ?? null;
  if (value === null) return null;
  if (typeof value !== 'string') return invalid(param, `${param} must be a text`);
  return value.length > maxTextLength ? invalid(param, `${param} must be at most ${maxTextLength} characters`) : null;
}

function invalidMember(action: SunoAction, body: JsonObject): InvalidRequest | null {
  for (const param of texts[action]) {
    const wrong = invalidText(body, param);
    if (wrong !== null) return wrong;
  }
  if (action === 'lyrics') return textIn(body.prompt) === null ? invalid('prompt', 'prompt_empty') : null;
  for (const param of seconds) {
    const value = body[param] ?? null;
    if (value !== null && !(typeof value === 'number' && value >= 0))
      return invalid(param, `${param} must be a number of seconds from 0`);
  }
  const { make_instrumental: instrumental = null, continue_clip_id: clip, task_id: task } = body;
  if (instrumental !== null && typeof instrumental !== 'boolean')
    return invalid('make_instrumental', 'make_instrumental must be true or false');
  // A clip belongs to the account that made it, and its task says whose it is here.
  if (textIn(clip) !== null && textIn(task) === null) return invalid('task_id', 'task id is required');
  return null;
}

/** A clip that is named is one of a task of the caller's. */
function parentIn({ continue_clip_id: clip, task_id: task }: JsonObject): NamedTask | null {
  const id = textIn(clip) === null ? null : textIn(task);
  return id === null ? null : { id, param: 'task_id' };
}

export const sunoEndpoint = (action: SunoAction): Endpoint => ({
  ...pricedPerTask,
  path: `/suno/submit/${action}`,
  dialect: sunoCaller,
  invalid: (body) => invalidMember(action, body),
  promptTexts: (body) => texts[action].flatMap((name) => textIn(body[name]) ?? []),
  modelOf: () => `suno_${action}`,
  task: {
    platform: 'suno',
    action: () => action.toUpperCase(),
    ...(action === 'music' && { parent: parentIn }),
  },
});
