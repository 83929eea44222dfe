import type { ProviderFacts } from '../../../domain/channel/provider.js';
import { accountFaultIn } from '../../contracts/account-fault.js';
import type { UpstreamError } from '../../upstream/upstream-error.js';

/* Does a failure say that the channel itself is out of order? */

/** What the words of a failure are held against. */
interface ComparedWith {
  /** In lower case. */
  readonly keywords: readonly string[];
  /** As it was sent. */
  readonly request: string;
}

/**
 * `status` after the channel's mapping. Words that stand in the request prove nothing: an upstream that repeats a prompt
 * must not let its author switch channels off.
 */
export function saysChannelIsDead(
  { forbiddenMeansDead }: Pick<ProviderFacts, 'forbiddenMeansDead'>,
  status: number,
  error: UpstreamError,
  { keywords, request }: ComparedWith,
): boolean {
  if (status === 403 && forbiddenMeansDead) return true;
  const found = accountFaultIn(error, status);
  if (found !== null && found.words === null) return true;
  const message = error.message.toLowerCase();
  const said = keywords.filter((keyword) => message.includes(keyword));
  if (found?.words) said.push(found.words);
  if (said.length === 0) return false;
  const asked = request.toLowerCase();
  return said.some((keyword) => !asked.includes(keyword));
}

/** Characters. Anything shorter is ordinary language, which messages and prompts share by chance. */
const minQuoteLength = 16;
const lookEvery = 4;
/** Beyond it comparing would hold up other calls. */
const maxCompared = 256 * 1024;

function repeats(message: string, request: string): boolean {
  if (request.length > maxCompared) return true;
  for (let at = 0; at + minQuoteLength <= message.length; at += lookEvery)
    if (request.includes(message.slice(at, at + minQuoteLength))) return true;
  return false;
}

/** What the log keeps of such a failure. No event holds a prompt, so a message that repeats the request is left out. */
export function reasonOf(status: number, error: UpstreamError, request: string): string {
  const message = repeats(error.message, request) ? '(left out: it repeats the request)' : error.message;
  return `type ${error.type}, httpCode ${status}, code ${error.code ?? ''}, message ${message}`;
}

/** As `saysChannelIsDead`, of a failure amid a stream: the request is there no more, so its words prove nothing. */
export const errorSaysChannelIsDead = (
  { forbiddenMeansDead }: Pick<ProviderFacts, 'forbiddenMeansDead'>,
  status: number,
  error: UpstreamError,
): boolean => (status === 403 && forbiddenMeansDead) || accountFaultIn({ ...error, message: '' }, status) !== null;

/** What the log keeps of it. */
export const reasonAmidStream = (status: number, { type, code }: UpstreamError): string =>
  `type ${type}, httpCode ${status}, code ${code ?? ''}, message (left out: it came amid a stream)`;
