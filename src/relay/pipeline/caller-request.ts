import type { IncomingHttpHeaders } from 'node:http';
import type { Mode } from '../../domain/channel/provider.js';
import { isCheaperCached } from '../../domain/pricing/rates.js';
import type { Endpoint } from '../contracts/endpoint.js';
import type { CallerRequest } from '../contracts/protocol.js';
import type { CallerConversation } from '../contracts/stored-conversation.js';
import { believer } from '../metering/believed-usage.js';
import type { Reservation } from '../metering/metered.js';
import { neutralOf } from '../protocols/neutral-of.js';
import type { FormFile } from '../upstream/request-content.js';
import type { Resolution } from './resolution.js';
import type { SentBody } from './sent-text.js';

/* What is put to upstreams, made in one place: of a call that is paid for, and of what nobody pays: a count, a test. */

/** A call that is paid for, and answered in its caller's words. */
interface Paid {
  readonly resolution: Pick<Resolution, 'estimate' | 'stream' | 'wantsUsage' | 'tiers' | 'background' | 'parent'>;
  readonly reservation: Pick<Reservation, 'bound' | 'outputLimit'>;
  /** What came with the fields of a form; null: the body is no form. */
  readonly files: readonly FormFile[] | null;
}

interface RequestParts {
  readonly endpoint: Endpoint;
  /** What is asked of upstream. Left out: as of the endpoint. */
  readonly mode?: Mode;
  readonly query: URLSearchParams;
  readonly headers: IncomingHttpHeaders;
  readonly sent: SentBody;
  /** null: nobody pays, and the answer comes whole and is read here. */
  readonly paid: Paid | null;
  /** As counted here. */
  readonly promptTokens: number;
  /** Left out: responses are not stored here. */
  readonly conversation?: CallerConversation;
}

/** Whatever usage is reported is believed: nobody is charged for it. */
const unpaid = {
  files: null,
  answersAudio: false,
  stream: false,
  wantsUsage: false,
  believed: (reported) => reported,
  outputLimit: null,
  maxOutput: Number.MAX_SAFE_INTEGER,
  holdsToLimit: false,
  tiers: [],
  savesByCache: () => false,
} as const satisfies Partial<CallerRequest>;

const paidFor = (
  { answersAudio }: Endpoint,
  { resolution: { estimate, stream, wantsUsage, tiers }, reservation: { bound, outputLimit }, files }: Paid,
) => ({
  files,
  answersAudio: answersAudio && !stream,
  stream,
  wantsUsage,
  believed: believer(bound, estimate.promptTokens),
  outputLimit,
  maxOutput: outputLimit ?? estimate.asked ?? estimate.limits.output,
  holdsToLimit: outputLimit !== null || (estimate.asked !== null && estimate.asked < estimate.limits.output),
  tiers,
  savesByCache: () => isCheaperCached(estimate.price),
});

/** Upstream has no part in it. */
function storedHere({ conversation: members }: Endpoint, sent: SentBody): SentBody {
  if (members === undefined) return sent;
  return { ...sent, body: members.withoutStore(sent.body), exact: () => members.withoutStore(sent.exact()) };
}

/** The same request, put as one of chat. */
function requestInChat(parts: RequestParts): { readonly inChat?: () => CallerRequest } {
  const { endpoint, mode = endpoint.mode, conversation } = parts;
  const { inChat, ...own } = endpoint;
  if (inChat === undefined || mode !== endpoint.mode) return {};
  let made: CallerRequest | null = null;
  return {
    inChat: () => {
      const sent = conversation === undefined ? parts.sent : storedHere(endpoint, parts.sent);
      made ??= {
        ...callerRequest({ ...parts, sent, endpoint: { ...own, ...inChat }, mode: 'chat' }),
        ...(conversation !== undefined && { conversation }),
      };
      return made;
    },
  };
}

export function callerRequest(parts: RequestParts): CallerRequest {
  const { endpoint, mode = endpoint.mode, query, headers, sent, paid, promptTokens } = parts;
  const { source, body, exact } = sent;
  const renamedTools = new Map<string, string>();
  const neutral = neutralOf(endpoint, body, exact, renamedTools);
  const { dialect } = endpoint;
  const asked = paid === null ? unpaid : paidFor(endpoint, paid);
  return {
    dialect,
    mode,
    ...(endpoint.below !== undefined && { below: endpoint.below }),
    ...(paid?.resolution.background === true && { inBackground: true }),
    ...(endpoint.task !== undefined && {
      task: { action: endpoint.task.action(body), parent: paid?.resolution.parent ?? null },
    }),
    query,
    body,
    ...(source !== null && { source }),
    neutral,
    ...requestInChat(parts),
    renamedTools,
    headers,
    promptTokens,
    ...asked,
  };
}
