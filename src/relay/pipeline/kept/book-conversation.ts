import type { Settlement } from '../../../domain/call/call-conclusion.js';
import { isKeptId } from '../../../domain/call/kept-object.js';
import { usageBound } from '../../../domain/call/usage-bound.js';
import { CallId, type ChannelId } from '../../../domain/kernel/ids.js';
import { zero } from '../../../domain/kernel/quota.js';
import type { KeyCaller } from '../../admission/authenticate.js';
import { fromUpstream, storeUnavailable, withdrawal } from '../../contracts/errors.js';
import { type JsonObject, textIn } from '../../json/json.js';
import type { ReservationEstimate } from '../../metering/reservation-estimate.js';
import { unreadableAnswer } from '../../upstream/upstream-error.js';
import { paymentRefusal } from '../payment-refusal.js';
import type { StagePorts } from '../stage-ports.js';
import type { KeptRequest } from './kept-resource.js';

/* Whose a conversation is stands in the log as what a call leaves: a settlement of nothing, with the id. */

const none = usageBound({ input: 0, output: 0 }, {});
const free: Omit<ReservationEstimate, 'price'> = {
  ...{ promptTokens: 0, bound: none, conservative: none, answers: 0, asked: null },
  ...{ limits: { output: 0, context: null, guessed: false }, overhead: 0, conservativeOverhead: 0, mayLower: false },
  ...{ max: zero, min: zero, minOfKey: zero },
};

interface MadeConversation {
  readonly channelId: ChannelId;
  readonly group: string;
  /** Upstream's. */
  readonly answer: JsonObject | null;
}

/** Resolves once its owner is durable. Throws RelayError. */
export async function bookConversation(
  { directory, meter }: Pick<StagePorts, 'directory' | 'meter'>,
  { requestId }: Pick<KeptRequest, 'requestId'>,
  { user, apiKey }: Pick<KeyCaller, 'user' | 'apiKey'>,
  { channelId, group, answer }: MadeConversation,
): Promise<void> {
  const id = textIn(answer?.id) ?? '';
  if (!isKeptId(id)) throw fromUpstream(unreadableAnswer('the upstream answered without an id'), 502);
  const settings = directory.settings();
  const price = { per: 'call', price: '0', quotaPerUnit: settings.prices.quotaPerUnit, group: '1' } as const;
  const { terms } = apiKey;
  const facts = {
    ...{ userId: user.id, apiKeyId: apiKey.id, apiKeyName: terms.name, group },
    ...{ model: 'conversation', path: '/v1/conversations', stream: false },
  };
  const reserving = await meter.reserve(CallId(requestId), facts, terms, { ...free, price });
  if (!reserving.ok) throw paymentRefusal(reserving.shortage, free, settings);
  const { reservation } = reserving;
  const settlement: Settlement = {
    ...{ usage: {}, usageSource: 'none', outcome: 'completed', channelId, attempts: [channelId] },
    ...{ upstreamModel: null, useTimeMs: 0, firstTokenMs: null, reasoningEffort: null, unknownAttempts: 0 },
    kept: [{ kind: 'conversation', id }],
  };
  const charged = await reservation.settleOrWithdraw(settlement, withdrawal).finally(() => reservation.leave());
  if (charged === null) throw storeUnavailable('the conversation could not be booked; try again later');
}
