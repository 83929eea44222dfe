import type { ChannelId } from '../../../domain/kernel/ids.js';
import { Quota, zero } from '../../../domain/kernel/quota.js';
import { authenticate } from '../../admission/authenticate.js';
import type { Endpoint } from '../../contracts/endpoint.js';
import { RelayError } from '../../contracts/errors.js';
import type { HeldBody } from '../../contracts/ports.js';
import type { JsonObject } from '../../json/json.js';
import { usedGroup } from '../call-group.js';
import { servedAsAsked } from '../channels/served-mode.js';
import { paymentRefusal } from '../payment-refusal.js';
import type { StagePorts } from '../stage-ports.js';
import { bookConversation } from './book-conversation.js';
import { checkItems } from './kept-items.js';
import { askAt, type KeptRequest, ofNone } from './kept-resource.js';

/* A conversation is made beside calls, for nothing. */

/** No model is named: all of a group are made at one channel, that of the highest priority. */
function channelFor(ports: StagePorts, group: string, endpoint: Endpoint): ChannelId {
  const [first] = ports.directory
    .serving()
    .filter((channel) => channel.settings.groups.includes(group) && servedAsAsked([channel], ports, endpoint))
    .sort((a, b) => b.settings.priority - a.settings.priority || a.id - b.id);
  if (first !== undefined) return first.id;
  throw new RelayError(501, 'api_not_implemented', 'no channel of this group has conversations');
}

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
    const made = (answer: JsonObject | null) => bookConversation(ports, asked, caller, { channelId, group, answer });
    await askAt(ports, asked, { channelId, slot, userId: user.id, content: body?.text ?? '{}', of: ofNone, made });
    succeeded = true;
  } finally {
    body?.leave();
    slot.leave();
    leave(succeeded);
  }
}
