import { type ApiKey, type ApiKeyEvent, apiKeyDecider } from '../../domain/api-key/api-key.js';
import type { ApiKeyTerms } from '../../domain/api-key/api-key-terms.js';
import { type ChannelStatus, channelDecider, isLiveChannel } from '../../domain/channel/channel.js';
import { type ShownField, shownSettings } from '../../domain/channel/channel-edits.js';
import { streams } from '../../domain/events/events.js';
import type { Moment } from '../../domain/events/moment.js';
import type { IdentityProvider } from '../../domain/kernel/claim.js';
import type { ApiKeyId, ChannelId, UserId } from '../../domain/kernel/ids.js';
import type { Role } from '../../domain/user/role.js';
import { type User, userDecider } from '../../domain/user/user.js';
import type { ReadModels } from '../../projections/database.js';
import { type Holding, holdingAt } from '../../projections/models/quota-history/quota-history-queries.js';
import type { EventStore } from '../ports/storage-ports.js';
import { type ChangePlace, stateAsOf } from './as-of.js';

/* Channels, API keys and users as they were, without what is secret of them. null: there was none by then. */

export interface AuditedStore {
  readonly db: ReadModels;
  readonly store: Pick<EventStore, 'streamPages'>;
}

export interface ChannelAt {
  readonly id: ChannelId;
  readonly status: ChannelStatus | 'removed';
  /** In the order of the settings; of one that is removed, none. */
  readonly fields: readonly ShownField[];
  readonly hasKey: boolean;
  readonly hasProxy: boolean;
  /** Of its account, as its provider had reported it last; null: it never had. */
  readonly balance: string | null;
  /** What it had earned. */
  readonly earned: bigint;
  readonly since: ChangePlace | null;
}

export interface ApiKeyAt {
  readonly id: ApiKeyId;
  readonly ownerId: UserId;
  readonly status: Exclude<ApiKey['status'], 'absent'>;
  /** null: it was deleted. */
  readonly terms: ApiKeyTerms | null;
  /** What it might still spend, reservations not deducted. */
  readonly remaining: bigint;
  readonly since: ChangePlace | null;
}

export interface UserAt {
  readonly id: UserId;
  readonly status: Exclude<User['status'], 'absent'>;
  /** null: the user has been erased since. */
  readonly username: string | null;
  readonly role: Role;
  readonly group: string;
  readonly hasPassword: boolean;
  readonly hasEmail: boolean;
  readonly identities: readonly IdentityProvider[];
  readonly holding: Holding;
  readonly since: ChangePlace | null;
}

export async function channelAt({ db, store }: AuditedStore, id: ChannelId, moment: Moment): Promise<ChannelAt | null> {
  const { state, since } = await stateAsOf(store, channelDecider, streams.channel(id), moment);
  if (state.status === 'absent') return null;
  const { available: earned } = await holdingAt(db, { owner: 'channel', id }, moment);
  const common = { id, earned, since };
  if (!isLiveChannel(state))
    return { ...common, status: 'removed', fields: [], hasKey: false, hasProxy: false, balance: null };
  const { status, settings, secrets, balance = null } = state;
  const known = { status, fields: shownSettings(settings), balance };
  return { ...common, ...known, hasKey: secrets.keyHash !== '', hasProxy: secrets.proxy !== null };
}

/** A deleted key does not tell whose it was; every event of it does. */
const ownedApiKey = {
  initial: { key: apiKeyDecider.initial, owner: null as UserId | null },
  evolve: (before: { readonly key: ApiKey; readonly owner: UserId | null }, event: ApiKeyEvent) => {
    const key = apiKeyDecider.evolve(before.key, event);
    return key === before.key ? before : { key, owner: event.owner };
  },
};

export async function apiKeyAt({ db, store }: AuditedStore, id: ApiKeyId, moment: Moment): Promise<ApiKeyAt | null> {
  const { state, since } = await stateAsOf(store, ownedApiKey, streams.apiKey(id), moment);
  const { key, owner } = state;
  if (key.status === 'absent' || owner === null) return null;
  const { available: remaining } = await holdingAt(db, { owner: 'api-key', id }, moment);
  return { id, ownerId: owner, status: key.status, terms: 'terms' in key ? key.terms : null, remaining, since };
}

export async function userAt({ db, store }: AuditedStore, id: UserId, moment: Moment): Promise<UserAt | null> {
  const { state, since, present } = await stateAsOf(store, userDecider, streams.user(id), moment);
  if (state.status === 'absent') return null;
  // Nothing of who has been erased is shown, as of any time.
  const isErased = present.status !== 'absent' && present.erased;
  const { status, username, role, group, hasPassword, email, identities } = state;
  return {
    ...{ id, status, username: isErased ? null : username, role, group, hasPassword, hasEmail: email !== null },
    identities: Object.keys(identities).sort() as IdentityProvider[],
    holding: await holdingAt(db, { owner: 'user', id }, moment),
    since,
  };
}
