import { isKeptId } from '../../../domain/call/kept-object.js';
import { isList, isObject, type JsonObject, numberIn, textIn } from '../../json/json.js';
import { type Confidential, withoutSecrets } from '../../upstream/confidential.js';
import { opensDialog } from './actions.js';

/* How a proxy answers a submission: `{code, description, result, properties}`. */

/** Result codes. Others are failures, and nothing is charged. */
export const submitCodes = {
  submitted: 1,
  noAccount: 3,
  requestError: 4,
  unknownError: 5,
  exists: 21,
  queued: 22,
  queueFull: 23,
  bannedWord: 24,
  saturated: 30,
} as const;

export interface SubmitAnswer {
  readonly code: number;
  readonly description: string;
  readonly body: JsonObject;
}

/** null: it is no such answer. */
export function submitAnswerIn(body: unknown): SubmitAnswer | null {
  if (!isObject(body)) return null;
  const code = numberIn(body.code);
  if (code === null || !Number.isInteger(code)) return null;
  return { code, description: textIn(body.description) ?? '', body };
}

const taken = new Set<number>([submitCodes.submitted, submitCodes.exists, submitCodes.queued]);

/** Whether the proxy works on it, which is what is paid for. Of a swapped face only the plain success is. */
export const isTaken = ({ code }: SubmitAnswer, action: string): boolean =>
  action === 'SWAP_FACE' ? code === submitCodes.submitted : taken.has(code);

/** The id by which the proxy knows the task; null: it names none that can be kept. */
export function taskIdIn({ body: { result } }: SubmitAnswer): string | null {
  const id = typeof result === 'number' ? String(result) : textIn(result);
  return id !== null && isKeptId(id) ? id : null;
}

const maxUrls = 32;
const maxUrl = 2_048;

/** Of uploaded pictures. */
export const uploadedIn = ({ body: { result } }: SubmitAnswer): string[] =>
  (isList(result) ? result : [result])
    .filter((url): url is string => typeof url === 'string' && url !== '' && url.length <= maxUrl)
    .slice(0, maxUrls);

/** What the caller is shown as the code: one that is queued or known is as good as submitted, but for opened dialogs. */
export const shownCode = ({ code }: SubmitAnswer, action: string): number =>
  code === submitCodes.queued || (code === submitCodes.exists && !opensDialog(action)) ? submitCodes.submitted : code;

const maxWords = 1_000;
const maxProperties = 32;

/** A refusal as its caller is answered it: the proxy's own code and words, without what is confidential. */
export function refusedBody({ code, description, body }: SubmitAnswer, confidential: Confidential): JsonObject {
  const safe = (text: string): string => withoutSecrets(text, confidential, maxWords);
  const properties: JsonObject = {};
  for (const [name, value] of Object.entries(isObject(body.properties) ? body.properties : {}).slice(0, maxProperties))
    if (typeof value === 'string') properties[safe(name)] = safe(value);
    else if (typeof value === 'number' || typeof value === 'boolean') properties[safe(name)] = value;
  const result = typeof body.result === 'string' ? safe(body.result) : '';
  return { code, description: safe(description), properties, result };
}
