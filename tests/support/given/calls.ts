import type {
  CallFacts,
  CallRefunded,
  CallReleased,
  CallReserved,
  CallSettled,
} from '../../../src/domain/call/call.js';
import { ApiKeyId, ChannelId, UserId } from '../../../src/domain/kernel/ids.js';
import { Instant } from '../../../src/domain/kernel/instant.js';
import { Quota } from '../../../src/domain/kernel/quota.js';
import type { Price } from '../../../src/domain/pricing/pricing.js';

/* Events of a call with everything filled in; a test names what it is about. */

export const plainPrice: Price = {
  per: 'token',
  model: '1',
  ratios: {},
  group: '1',
};

export interface CallParties {
  readonly userId?: number;
  /** null: no API key pays. */
  readonly apiKeyId?: number | null;
  readonly model?: string;
}

export const factsOf = ({ userId = 7, apiKeyId = 12, model = 'gpt-4o' }: CallParties = {}): CallFacts => ({
  userId: UserId(userId),
  apiKeyId: apiKeyId === null ? null : ApiKeyId(apiKeyId),
  apiKeyName: 'ci',
  group: 'default',
  model,
  path: '/v1/chat/completions',
  stream: false,
});

export const reserved = ({ quota, ...parties }: CallParties & { quota: number }): CallReserved => ({
  type: 'CallReserved',
  facts: factsOf(parties),
  reserved: Quota(quota),
  promptTokens: quota,
  maxOutputTokens: null,
  price: plainPrice,
});

export const settled = ({
  quota,
  charged,
  channelId = 3,
  uncovered = 0,
  ...parties
}: CallParties & { quota: number; charged: number; uncovered?: number; channelId?: number }): CallSettled => ({
  type: 'CallSettled',
  facts: factsOf(parties),
  reserved: Quota(quota),
  charged: Quota(charged),
  uncovered: Quota(uncovered),
  usage: { input: charged },
  usageSource: 'upstream',
  price: plainPrice,
  outcome: 'completed',
  channelId: ChannelId(channelId),
  attempts: [ChannelId(channelId)],
  upstreamModel: null,
  useTimeMs: 1_000,
  firstTokenMs: 200,
  reasoningEffort: null,
  suspense: Quota(0),
});

export const released = ({ quota, ...parties }: CallParties & { quota: number }): CallReleased => ({
  type: 'CallReleased',
  facts: factsOf(parties),
  reserved: Quota(quota),
  reason: 'upstream-failed',
  status: 502,
  code: 'upstream_error',
  attempts: [ChannelId(3)],
  useTimeMs: 1_000,
  suspense: Quota(0),
});

/** Takes back `settled` of the same charge. */
export const refunded = ({
  charged,
  channelId = 3,
  settledAt = 1_800_000_000_000,
  ...parties
}: CallParties & { charged: number; channelId?: number; settledAt?: number }): CallRefunded => ({
  type: 'CallRefunded',
  facts: factsOf(parties),
  settlement: {
    eventId: '00000000-0000-7000-8000-000000000001',
    at: Instant(settledAt),
    charged: Quota(charged),
    usage: { input: charged },
    channelId: ChannelId(channelId),
    attempts: [ChannelId(channelId)],
    useTimeMs: 1_000,
  },
  status: 503,
  code: 'store_unavailable',
  useTimeMs: 31_000,
  suspense: Quota(charged),
});
