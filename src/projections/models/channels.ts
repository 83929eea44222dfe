import type { Selectable } from 'kysely';
import type { CallRefunded, CallSettled } from '../../domain/call/call.js';
import type { CallCorrected } from '../../domain/call/call-correction.js';
import type { ChannelEvent, ChannelSecrets, ChannelStatus } from '../../domain/channel/channel.js';
import type { ChannelSettings } from '../../domain/channel/channel-settings.js';
import { type Position, type Recorded, streamKey } from '../../domain/events/events.js';
import { assertNever } from '../../domain/kernel/failure.js';
import { ChannelId, type SecretId } from '../../domain/kernel/ids.js';
import { unixSeconds } from '../../domain/kernel/instant.js';
import type { Quota } from '../../domain/kernel/quota.js';
import type { ReadModels } from '../database.js';
import { addById, putRows } from '../engine/multi-row.js';
import { projection } from '../engine/projection.js';
import { type Sum, tallyOf } from '../engine/tallies.js';

/* Channels, for administration, and for a node to begin with. Times are unix seconds. */

export interface ChannelTables {
  channels: {
    id: ChannelId;
    name: string;
    /** Provider number. */
    type: number;
    status: ChannelStatus;
    /** Why and when the channel was last switched automatically; manual changes leave both alone. */
    status_reason: string;
    status_time: number | null;
    base_url: string;
    models: readonly string[];
    groups: readonly string[];
    priority: number;
    weight: number;
    tag: string | null;
    model_mapping: string | null;
    status_code_mapping: string;
    param_override: string | null;
    setting: string | null;
    other: string;
    organization: string | null;
    test_model: string | null;
    auto_ban: boolean;
    max_input_tokens: number;
    key_secret: SecretId;
    key_hash: string;
    proxy_secret: SecretId | null;
    /** Of the last test that passed; 0: none did. */
    response_time_ms: number;
    tested_at: number | null;
    /** Of the account at its provider, decimal text, as last reported; null: it never was. */
    balance: string | null;
    /** By ISO 4217; null: nobody has said which. */
    balance_currency: string | null;
    balance_updated_at: number | null;
    /** Charged for calls this channel answered. */
    used_quota: Sum<Quota>;
    created_at: number;
    /** Of the last event that changed more than `used_quota`. */
    position: Position;
  };
}

export type ChannelRow = Selectable<ChannelTables['channels']>;

interface Spent {
  readonly id: ChannelId;
  used_quota: bigint;
}

type Connection = Omit<ChannelRow, 'used_quota'>;

const tables = `
  create table channels (
    id bigint primary key,
    name text not null,
    type integer not null,
    status text not null,
    status_reason text not null,
    status_time bigint,
    base_url text not null,
    models text[] not null,
    groups text[] not null,
    priority bigint not null,
    weight bigint not null,
    tag text,
    model_mapping text,
    status_code_mapping text not null,
    param_override text,
    setting text,
    other text not null,
    organization text,
    test_model text,
    auto_ban boolean not null,
    max_input_tokens bigint not null,
    key_secret text not null,
    key_hash text not null,
    proxy_secret text,
    response_time_ms bigint not null,
    tested_at bigint,
    balance text,
    balance_currency text,
    balance_updated_at bigint,
    used_quota numeric not null default 0,
    created_at bigint not null,
    position bigint not null
  ) with (fillfactor = 70);
`;

const channelOf = ({ stream }: Recorded): ChannelId => ChannelId(streamKey(stream));

export const channels = projection<ChannelEvent | CallSettled | CallRefunded | CallCorrected>({
  name: 'channels',
  version: 5,
  purpose: 'deciding',
  tables,
  interestedIn: {
    ChannelAdded: true,
    ChannelEdited: true,
    ChannelEnabled: true,
    ChannelDisabled: true,
    ChannelTested: true,
    ChannelBalanceObserved: true,
    ChannelRemoved: true,
    CallSettled: true,
    CallRefunded: true,
    CallCorrected: true,
  },
  async project(tx, batch) {
    const spent = new Map<ChannelId, Spent>();
    const changes: Recorded<ChannelEvent>[] = [];
    for (const recorded of batch) {
      const { event } = recorded;
      if (event.type === 'CallSettled') spend(spent, event.channelId, BigInt(event.charged));
      else if (event.type === 'CallRefunded')
        spend(spent, event.settlement.channelId, -BigInt(event.settlement.charged));
      else if (event.type === 'CallCorrected')
        spend(spent, event.settlement.channelId, BigInt(event.to.charged) - BigInt(event.from.charged));
      else changes.push(recorded as Recorded<ChannelEvent>);
    }
    if (changes.length > 0) await changeChannels(tx, changes);
    await addById(tx, 'channels', [...spent.values()]);
  },
});

function spend(spent: Map<ChannelId, Spent>, channel: ChannelId, quota: bigint): void {
  const row = tallyOf(spent, channel, (id) => ({ id, used_quota: 0n }));
  row.used_quota += quota;
}

const connectionColumns = [
  'id',
  'name',
  'type',
  'status',
  'status_reason',
  'status_time',
  'base_url',
  'models',
  'groups',
  'priority',
  'weight',
  'tag',
  'model_mapping',
  'status_code_mapping',
  'param_override',
  'setting',
  'other',
  'organization',
  'test_model',
  'auto_ban',
  'max_input_tokens',
  'key_secret',
  'key_hash',
  'proxy_secret',
  'response_time_ms',
  'tested_at',
  'balance',
  'balance_currency',
  'balance_updated_at',
  'created_at',
  'position',
] as const satisfies readonly (keyof Connection)[];

async function changeChannels(tx: ReadModels, changes: readonly Recorded<ChannelEvent>[]): Promise<void> {
  const ids = [...new Set(changes.map(channelOf))];
  const stored = await tx.selectFrom('channels').select(connectionColumns).where('id', 'in', ids).execute();
  const rows = new Map<ChannelId, Connection>(stored.map((row) => [row.id, row]));
  for (const recorded of changes) {
    const id = channelOf(recorded);
    const row = evolve(rows.get(id), recorded);
    if (row === undefined) rows.delete(id);
    else rows.set(id, { ...row, position: recorded.position });
  }
  const removed = ids.filter((id) => !rows.has(id));
  if (removed.length > 0) await tx.deleteFrom('channels').where('id', 'in', removed).execute();
  await putRows(tx, 'channels', ['id'], [...rows.values()]);
}

const columnsOf = (settings: ChannelSettings, secrets: ChannelSecrets) => ({
  name: settings.name,
  type: settings.type,
  base_url: settings.baseUrl,
  models: settings.models,
  groups: settings.groups,
  priority: settings.priority,
  weight: settings.weight,
  tag: settings.tag,
  model_mapping: settings.modelMapping,
  status_code_mapping: settings.statusCodeMapping,
  param_override: settings.paramOverride,
  setting: settings.setting,
  other: settings.other,
  organization: settings.organization,
  test_model: settings.testModel,
  auto_ban: settings.autoBan,
  max_input_tokens: settings.maxInputTokens,
  key_secret: secrets.key,
  key_hash: secrets.keyHash,
  proxy_secret: secrets.proxy,
});

function evolve(row: Connection | undefined, recorded: Recorded<ChannelEvent>): Connection | undefined {
  const { event, at, position } = recorded;
  if (event.type === 'ChannelAdded')
    return {
      id: channelOf(recorded),
      status: 'enabled',
      status_reason: '',
      status_time: null,
      response_time_ms: 0,
      tested_at: null,
      balance: null,
      balance_currency: null,
      balance_updated_at: null,
      created_at: unixSeconds(at),
      position,
      ...columnsOf(event.settings, event.secrets),
    };
  if (row === undefined) return undefined;
  switch (event.type) {
    case 'ChannelEdited':
      return { ...row, ...columnsOf(event.settings, event.secrets) };
    case 'ChannelEnabled':
      return {
        ...row,
        status: 'enabled',
        ...(event.automatic ? { status_reason: '', status_time: unixSeconds(at) } : {}),
      };
    case 'ChannelDisabled':
      return event.automatic
        ? { ...row, status: 'auto-disabled', status_reason: event.reason, status_time: unixSeconds(at) }
        : { ...row, status: 'disabled' };
    case 'ChannelTested':
      return {
        ...row,
        tested_at: unixSeconds(at),
        response_time_ms: event.ok ? Math.round(event.responseTimeMs) : row.response_time_ms,
      };
    case 'ChannelBalanceObserved':
      return {
        ...row,
        balance: event.balance,
        balance_currency: event.currency ?? null,
        balance_updated_at: unixSeconds(at),
      };
    case 'ChannelRemoved':
      return undefined;
    default:
      return assertNever(event);
  }
}
