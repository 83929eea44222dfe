import { CombinedGraphQLErrors, ServerError, ServerParseError } from '@apollo/client/errors';
import { errorsEn } from './errors.en.js';
import { errorsZh } from './errors.zh.js';
import type { failuresZh } from './failures.zh.js';
import { type Texts, texts, translator } from './i18n.js';

/* What a failed operation says to the reader, wherever it is shown. */

const errorTexts = texts('errors', errorsZh, errorsEn);
/** null: they are still on their way. */
let failureTexts: Texts<typeof failuresZh> | null = null;

/** What refusals are called in both languages; fetched beside the first page, which would only wait for them. */
export async function loadFailureTexts(): Promise<void> {
  const [{ failuresZh }, { failuresEn }] = await Promise.all([import('./failures.zh.js'), import('./failures.en.js')]);
  failureTexts = texts('failures', failuresZh, failuresEn);
}

interface Refusal {
  readonly message: string;
  readonly code: string;
  readonly kind: string;
  readonly details: Readonly<Record<string, string | number>>;
}

const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null;

function refusalOf(error: unknown): Refusal | null {
  if (!isRecord(error) || typeof error.message !== 'string') return null;
  const extensions = isRecord(error.extensions) ? error.extensions : {};
  const details = isRecord(extensions.details) ? Object.entries(extensions.details) : [];
  return {
    message: error.message,
    code: String(extensions.code ?? ''),
    kind: String(extensions.kind ?? ''),
    details: Object.fromEntries(
      details.filter((detail): detail is [string, string | number] => /string|number/.test(typeof detail[1])),
    ),
  };
}

/** A refusal before execution comes with a status of its own, its reason still in GraphQL's form. */
function firstInBody(body: string): unknown {
  try {
    const answer: unknown = JSON.parse(body);
    return isRecord(answer) && Array.isArray(answer.errors) ? answer.errors[0] : null;
  } catch {
    return null;
  }
}

/** What the server said, if it said anything in GraphQL's form; null: it did not, or was not reached. */
function refusalIn(error: unknown): Refusal | null {
  if (CombinedGraphQLErrors.is(error)) return refusalOf(error.errors[0]);
  if (ServerError.is(error)) return refusalOf(firstInBody(error.bodyText));
  // A WebSocket delivers the errors themselves.
  return refusalOf(Array.isArray(error) ? error[0] : error);
}

/** The `extensions.code` of a refusal; null: the error is none. */
export const failureCode = (error: unknown): string | null => refusalIn(error)?.code || null;

/** What a refusal says of itself, such as the field that is wrong. */
export const failureDetails = (error: unknown): Refusal['details'] => refusalIn(error)?.details ?? {};

const expiredCodes: ReadonlySet<string> = new Set(['not-signed-in', 'access-token-unknown']);

/** The server no longer knows who is asking. */
export const isSessionLost = (error: unknown): boolean =>
  expiredCodes.has(failureCode(error) ?? '') || (ServerError.is(error) && error.statusCode === 401);

/** The sentence for a failure, by the code in an answer. */
export function codeText(code: string, details: Readonly<Record<string, string | number>> = {}): string {
  if (failureTexts === null || !Object.hasOwn(failureTexts.zh, code)) return code;
  // Which details a code comes with is the server's to know; the dictionary has placeholders for them.
  const say = translator(failureTexts) as (code: string, details: Readonly<Record<string, string | number>>) => string;
  return say(code, details);
}

/** One sentence in the reader's language: by code, by status, or what the server said. */
export function errorText(error: unknown): string {
  const t = translator(errorTexts);
  const refusal = refusalIn(error);
  if (refusal !== null && failureTexts !== null && Object.hasOwn(failureTexts.zh, refusal.code))
    return codeText(refusal.code, refusal.details);
  const status = ServerError.is(error) || ServerParseError.is(error) ? error.statusCode : 200;
  if (status === 429) return t('tooMany');
  if (status === 405) return t('demoOnly');
  if (status >= 500) return t('internal');
  if (ServerParseError.is(error)) return t('unreadable');
  if (CombinedGraphQLErrors.is(error) && refusal !== null) return refusal.message;
  // fetch says TypeError when there is nobody to talk to, in words that differ by browser.
  if (error instanceof TypeError || !navigator.onLine) return t('unreachable');
  return t('other', { message: refusal?.message ?? (error instanceof Error ? error.message : String(error)) });
}
