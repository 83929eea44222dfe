import type { Settlement } from '../../domain/call/call-conclusion.js';
import { isKeptId } from '../../domain/call/kept-object.js';
import { usageBound } from '../../domain/call/usage-bound.js';
import { CallId, type ChannelId } from '../../domain/kernel/ids.js';
import { Quota, zero } from '../../domain/kernel/quota.js';
import { authenticate, type KeyCaller } from '../admission/authenticate.js';
import type { Endpoint } from '../contracts/endpoint.js';
import { fromUpstream, RelayError, storeUnavailable, withdrawal } from '../contracts/errors.js';
import type { HeldBody } from '../contracts/ports.js';
import { type JsonObject, textIn } from '../json/json.js';
import type { ReservationEstimate } from '../metering/reservation-estimate.js';
import { unreadableAnswer } from '../upstream/upstream-error.js';
import { usedGroup } from './call-group.js';
import { checkItems } from './kept-items.js';
import { askAt, type KeptRequest } from './kept-resource.js';
import { paymentRefusal } from './payment-refusal.js';
import { servedAsAsked } from './served-mode.js';
import type { StagePorts } from './stage-ports.js';

/*
 * A conversation is made beside calls, for nothing. Whose it is stands in the log as what a call leaves: a settlement of
 * nothing, with the id.
 */

/** No model is named: all of a group are made at one channel, that of the highest priority. */
function channelFor(ports: StagePorts, group: string, endpoint: Endpoint): ChannelId {
  const [first] = ports.directory
    .serving()
    .filter((channel) => channel.settings.groups.includes(group) && servedAsAsked([channel], ports, endpoint))
    .sort((a, b) => b.settings.priority - a.settings.priority || a.id - b.id);
  if (first !== undefined) return first.id;
  throw new RelayError(501, 'api_not_implemented', 'no channel of this group has conversations');
}

const none = usageBound({ input: 0, output: 0 }, {});
const free: Omit<ReservationEstimate, 'price'> = {
  ...{ promptTokens: 0, bound: none, conservative: none, answers: 0, asked: null },
  ...{ limits: { output: 0, context: null, guessed: false }, overhead: 0, conservativeOverhead: 0, mayLower: false },
  ...{ max: zero, min: zero, minOfKey: zero },
};

/** Makes it, and answers once it has an owner. Throws RelayError. */
export async function makeConversation(ports: StagePorts, asked: KeptRequest): Promise<void> {
  const { directory, limits, answers, bodies, gate } = ports;
  const { endpoint, ip, bodySource } = asked;
  const caller = await authenticate(ports, asked);
  const { user, apiKey } = caller;
  const settings = directory.settings();
  if (!settings.keepsUpstream) throw new RelayError(501, 'api_not_implemented', 'nothing is kept at providers here');
  const leave = await limits.admit(user.id, apiKey.id, settings);
  const slot = answers.newSlot(user.id);
  let body: HeldBody | null = null;
  let succeeded = false;
  try {
    if (await gate.isUserSpent(user.id))
      throw paymentRefusal({ short: 'user', available: zero }, { min: Quota(1), minOfKey: Quota(1) }, settings);
    body = bodySource === null ? null : await bodies.json(bodySource, ip, user.id);
    const group = usedGroup(caller, settings);
    const needed = body === null ? null : await checkItems(ports, user.id, endpoint, body);
    const channelId = needed ?? channelFor(ports, group, endpoint);
    const made = (answer: JsonObject | null) => own(ports, asked, caller, { channelId, group, answer });
    await askAt(ports, asked, { channelId, slot, userId: user.id, content: body?.text ?? '{}', made });
    succeeded = true;
  } finally {
    body?.leave();
    slot.leave();
    leave(succeeded);
  }
}

interface Made {
  readonly channelId: ChannelId;
  readonly group: string;
  readonly answer: JsonObject | null;
}

/** Resolves once its owner is durable. Throws RelayError. */
async function own(
  { directory, meter }: StagePorts,
  { requestId }: Pick<KeptRequest, 'requestId'>,
  { user, apiKey }: KeyCaller,
  { channelId, group, answer }: Made,
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
