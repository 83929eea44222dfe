import type { ApiKeyTerms } from '../../../domain/api-key/api-key-terms.js';
import { channelFieldChanges, type EditedParts } from '../../../domain/channel/channel-edits.js';
import { type DomainEvent, type Recorded, streamKey } from '../../../domain/events/events.js';
import { assertNever } from '../../../domain/kernel/failure.js';
import type { UserId } from '../../../domain/kernel/ids.js';
import { isSecretOption } from '../../../domain/options/option-table.js';
import type { RepairOrdered, RightPriceOrigin } from '../../../domain/repair/repair.js';
import type { FactorEvent } from '../../../domain/user/second-factor.js';
import type { UserEvent } from '../../../domain/user/user.js';
import {
  changesBetween,
  type FieldChange,
  type Fields,
  hiddenChange,
  shownChange,
  textChange,
} from './changed-fields.js';

/* What administrators did, as events say it: to which thing, and what it was before. */

export const administeredTypes = [
  'UserRegistered',
  'UserProfileChanged',
  'UserGroupChanged',
  'UserRoleChanged',
  'UserDisabled',
  'UserEnabled',
  'UserDeleted',
  'UserErased',
  'SignInsEnded',
  'PasswordChanged',
  'AccessTokenIssued',
  'UserSettingsChanged',
  'QuotaAdjusted',
  'TotpEnrolled',
  'TotpTurnedOff',
  'RecoveryCodesRenewed',
  'PasskeyAdded',
  'PasskeyRemoved',
  'FactorsReset',
  'ApiKeyIssued',
  'ApiKeyEdited',
  'ApiKeyEnabled',
  'ApiKeyDisabled',
  'ApiKeyRevoked',
  'ApiKeyDeleted',
  'ChannelAdded',
  'ChannelEdited',
  'ChannelEnabled',
  'ChannelDisabled',
  'ChannelRemoved',
  'RedemptionCodeIssued',
  'RedemptionCodeEdited',
  'RedemptionCodeEnabled',
  'RedemptionCodeDisabled',
  'RedemptionCodeDeleted',
  'OptionChanged',
  'ModelPricesChanged',
  'TopUpCompleted',
  'LogsCleared',
  'EventQuarantined',
  'RepairOrdered',
  'RepairUndoOrdered',
] as const satisfies readonly DomainEvent['type'][];

export type AdministeredEvent = Extract<DomainEvent, { type: (typeof administeredTypes)[number] }>;

export const actKinds = [
  'added',
  'edited',
  'enabled',
  'disabled',
  'removed',
  'erased',
  'role-changed',
  'group-changed',
  'password-changed',
  'access-token-issued',
  'second-factor-changed',
  'sign-ins-ended',
  'balance-adjusted',
  'completed-by-hand',
  'cleared',
  'left-out',
  'repair-posted',
  'repair-undone',
] as const;
export type ActKind = (typeof actKinds)[number];

export const actSubjects = [
  'user',
  'api-key',
  'channel',
  'code',
  'option',
  'prices',
  'payment',
  'usage-log',
  'read-model',
  'repair',
] as const;
export type ActSubject = (typeof actSubjects)[number];

/** What the next change of a thing is compared with. */
export interface AsItWas {
  readonly fields?: Fields;
  /** Of a channel. */
  readonly parts?: EditedParts;
  /** Of an option, and of the prices of a model. */
  readonly text?: string;
}

export interface Act {
  readonly kind: ActKind;
  readonly subject: ActSubject;
  /** '' : there is one alone. */
  readonly id: string;
  /** How it is called by those who administer it; null: by its id. Names of users stand nowhere here. */
  readonly name: string | null;
  readonly changes: readonly FieldChange[];
}

/** An event, and what the things it changes were. */
interface Folding {
  readonly act: Act;
  readonly after: ReadonlyMap<string, AsItWas | null>;
}

const keyOf = (subject: ActSubject, id: string): string => `${subject} ${id}`;

/** The things of which an event has to know what they were. */
export function thingsOf({ event, stream }: Recorded<AdministeredEvent>): string[] {
  if (event.type === 'OptionChanged') return [keyOf('option', event.key)];
  if (event.type === 'ModelPricesChanged') return event.changes.map(({ model }) => keyOf('prices', model));
  const subject = subjectIn(event);
  return [keyOf(subject, streamKey(stream))];
}

function subjectIn({ type }: AdministeredEvent): ActSubject {
  if (type.startsWith('ApiKey')) return 'api-key';
  if (type.startsWith('Channel')) return 'channel';
  if (type.startsWith('RedemptionCode')) return 'code';
  if (type === 'TopUpCompleted') return 'payment';
  if (type === 'LogsCleared') return 'usage-log';
  if (type === 'EventQuarantined') return 'read-model';
  if (type === 'OptionChanged') return 'option';
  if (type.startsWith('Repair')) return 'repair';
  return type === 'ModelPricesChanged' ? 'prices' : 'user';
}

/** Of any number that an event may hold. */
const shownInstant = (at: number): string => (Math.abs(at) <= 8.64e15 ? new Date(at).toISOString() : String(at));

const termFields = ({ name, unlimited, expiresAt, modelLimitsEnabled, ...terms }: ApiKeyTerms): Fields => ({
  name,
  unlimited: String(unlimited),
  expiresAt: expiresAt === null ? '' : shownInstant(expiresAt),
  modelLimits: modelLimitsEnabled ? terms.modelLimits.join('\n') : '',
  allowIps: terms.allowIps.join('\n'),
  group: terms.group,
  budget: terms.budget === null ? '' : JSON.stringify(terms.budget),
  modelAliases: (terms.modelAliases ?? []).map(({ name: alias, model }) => `${alias} = ${model}`).join('\n'),
});

/** What a new channel has, as if each of its settings had been empty. */
function addedFields(now: EditedParts): readonly FieldChange[] {
  const isEmpty = (value: unknown): boolean =>
    value === null || value === undefined || value === '' || (Array.isArray(value) && value.length === 0);
  const settings = Object.fromEntries(
    Object.entries(now.settings).map(([name, value]) => [
      name,
      isEmpty(value) ? value : Array.isArray(value) ? [] : null,
    ]),
  ) as unknown as EditedParts['settings'];
  return channelFieldChanges({ settings, secrets: { ...now.secrets, keyHash: '', proxy: null } }, now);
}

const delta = (field: string, amount: number): readonly FieldChange[] =>
  amount === 0 ? [] : [shownChange(field, '', `${amount > 0 ? '+' : ''}${amount}`)];

interface Told {
  readonly kind: ActKind;
  readonly changes?: readonly FieldChange[];
  /** What differs from this is among the changes as well; left out: it stays as it was; null: it is gone. */
  readonly now?: AsItWas | null;
}

const withField = (before: AsItWas, name: string, value: string): Pick<Told, 'now' | 'changes'> => ({
  changes: [shownChange(name, before.fields?.[name] ?? '', value)],
  now: { ...before, fields: { ...before.fields, [name]: value } },
});

const withStatus = (before: AsItWas, status: string): Pick<Told, 'now' | 'changes'> =>
  withField(before, 'status', status);

const withFields = (before: AsItWas, given: Fields): Pick<Told, 'now' | 'changes'> => {
  const fields = { ...before.fields, ...given };
  return { changes: changesBetween(before.fields ?? {}, fields), now: { ...before, fields } };
};

const originText = (origin: RightPriceOrigin): string =>
  origin.kind === 'file' ? origin.name : shownInstant(origin.at);

const orderedRepair = ({ scope, planned, right, digest }: RepairOrdered): readonly FieldChange[] => [
  shownChange('from', '', shownInstant(scope.from)),
  shownChange('to', '', shownInstant(scope.to)),
  shownChange('calls', '', String(planned.calls)),
  shownChange('given', '', planned.given),
  shownChange('taken', '', planned.taken),
  shownChange('prices', '', originText(right.origin)),
  shownChange('digest', '', digest),
];

type OfMany = 'OptionChanged' | 'ModelPricesChanged';

type OfUser = Extract<UserEvent | FactorEvent, { type: (typeof administeredTypes)[number] }>;

function toldOfUser(before: AsItWas, event: OfUser): Told {
  switch (event.type) {
    case 'UserRegistered':
      return { kind: 'added', ...withFields({}, { role: event.role, group: event.group, status: 'enabled' }) };
    case 'UserProfileChanged': {
      const named = event.username === null ? [] : [hiddenChange('username')];
      return {
        kind: 'edited',
        changes: [...named, ...(event.displayName === null ? [] : [hiddenChange('displayName')])],
      };
    }
    case 'UserGroupChanged':
      return { kind: 'group-changed', ...withField(before, 'group', event.group) };
    case 'UserRoleChanged':
      return { kind: 'role-changed', ...withField(before, 'role', event.role) };
    case 'UserDisabled':
      return { kind: 'disabled', ...withStatus(before, 'disabled') };
    case 'UserEnabled':
      return { kind: 'enabled', ...withStatus(before, 'enabled') };
    case 'UserDeleted':
      return { kind: 'removed', ...withStatus(before, 'deleted') };
    case 'UserErased':
      return { kind: 'erased', now: null };
    case 'SignInsEnded':
      return { kind: 'sign-ins-ended' };
    case 'PasswordChanged':
      return { kind: 'password-changed', changes: [hiddenChange('password')] };
    case 'AccessTokenIssued':
      return { kind: 'access-token-issued', changes: [hiddenChange('accessToken')] };
    case 'UserSettingsChanged':
      return { kind: 'edited', changes: [hiddenChange('settings')] };
    case 'TotpEnrolled':
    case 'TotpTurnedOff':
    case 'RecoveryCodesRenewed':
    case 'PasskeyAdded':
    case 'PasskeyRemoved':
    case 'FactorsReset':
      return { kind: 'second-factor-changed', changes: [hiddenChange('secondFactor')] };
    case 'QuotaAdjusted': {
      const after = BigInt(event.observed) + BigInt(event.delta);
      const changes = [shownChange('balance', String(event.observed), String(after)), ...delta('gift', event.gift)];
      return { kind: 'balance-adjusted', changes };
    }
    default:
      return assertNever(event);
  }
}

function told(before: AsItWas, event: Exclude<AdministeredEvent, { type: OfMany }>): Told {
  switch (event.type) {
    case 'ApiKeyRevoked':
    case 'RedemptionCodeDisabled':
      return { kind: 'disabled', ...withStatus(before, 'disabled') };
    case 'ApiKeyEnabled':
    case 'ChannelEnabled':
    case 'RedemptionCodeEnabled':
      return { kind: 'enabled', ...withStatus(before, 'enabled') };
    case 'ApiKeyDisabled':
      return { kind: 'disabled', ...withStatus(before, event.cause) };
    case 'ChannelDisabled':
      return { kind: 'disabled', ...withStatus(before, event.automatic ? 'automatically disabled' : 'disabled') };
    case 'ApiKeyIssued': {
      const { changes = [], now = null } = withFields({}, { ...termFields(event.terms), status: 'enabled' });
      return { kind: 'added', changes: [...changes, ...delta('quota', event.quota)], now };
    }
    case 'ApiKeyEdited': {
      const { changes = [], now = null } = withFields(before, termFields(event.terms));
      return { kind: 'edited', changes: [...changes, ...delta('quota', event.quotaDelta)], now };
    }
    case 'ChannelAdded': {
      const { settings, secrets } = event;
      return { kind: 'added', changes: addedFields(event), now: { parts: { settings, secrets }, fields: {} } };
    }
    case 'ChannelEdited': {
      const { settings, secrets } = event;
      const changes = before.parts === undefined ? [] : channelFieldChanges(before.parts, event);
      return { kind: 'edited', changes, now: { ...before, parts: { settings, secrets } } };
    }
    case 'ApiKeyDeleted':
    case 'ChannelRemoved':
    case 'RedemptionCodeDeleted':
      return { kind: 'removed', now: null };
    case 'RedemptionCodeIssued':
      return {
        kind: 'added',
        ...withFields({}, { name: event.name, quota: String(event.quota), status: 'enabled' }),
      };
    case 'RedemptionCodeEdited':
      return { kind: 'edited', ...withFields(before, { name: event.name, quota: String(event.quota) }) };
    case 'TopUpCompleted': {
      const reason = event.learned.by === 'hand' ? event.learned.reason : '';
      return {
        kind: 'completed-by-hand',
        changes: [shownChange('reason', '', reason), ...delta('quota', event.quota)],
      };
    }
    case 'LogsCleared':
      return { kind: 'cleared', changes: [shownChange('before', '', shownInstant(event.before))] };
    case 'EventQuarantined':
      return {
        kind: 'left-out',
        changes: [shownChange('event', '', String(event.position)), shownChange('reason', '', event.reason)],
      };
    case 'RepairOrdered':
      return { kind: 'repair-posted', changes: orderedRepair(event) };
    case 'RepairUndoOrdered':
      return { kind: 'repair-undone' };
    default:
      return toldOfUser(before, event);
  }
}

function nameIn(event: AdministeredEvent, before: AsItWas | undefined, after: AsItWas | null): string | null {
  if (event.type === 'EventQuarantined') return event.model;
  if (event.type.startsWith('Channel')) return (after ?? before)?.parts?.settings.name ?? null;
  return event.type.startsWith('RedemptionCode') ? ((after ?? before)?.fields?.name ?? null) : null;
}

const hiddenOption = (key: string, before: AsItWas | undefined): boolean =>
  isSecretOption(key) || (before !== undefined && before.text === undefined);

/** What the event changed, whoever ordered it. `before`: by thing. */
export function foldAct(before: ReadonlyMap<string, AsItWas>, recorded: Recorded<AdministeredEvent>): Folding {
  const { event, stream } = recorded;
  if (event.type === 'OptionChanged') {
    const thing = keyOf('option', event.key);
    const known = before.get(thing);
    const text = 'text' in event.value && !isSecretOption(event.key) ? event.value.text : undefined;
    const isHidden = text === undefined || hiddenOption(event.key, known);
    const change = isHidden ? hiddenChange(event.key) : textChange(event.key, known?.text ?? '', text);
    return {
      act: { kind: 'edited', subject: 'option', id: event.key, name: null, changes: [change] },
      after: new Map([[thing, text === undefined ? {} : { text }]]),
    };
  }
  if (event.type === 'ModelPricesChanged') {
    const after = new Map<string, AsItWas>();
    const changes = event.changes.map(({ model, periods }) => {
      const thing = keyOf('prices', model);
      const text = periods === null ? '' : JSON.stringify(periods);
      after.set(thing, { text });
      return shownChange(model, before.get(thing)?.text ?? '', text);
    });
    const [only, another] = event.changes;
    const id = another === undefined ? (only?.model ?? '') : '';
    return { act: { kind: 'edited', subject: 'prices', id, name: null, changes }, after };
  }
  const subject = subjectIn(event);
  const id = subject === 'usage-log' || subject === 'read-model' ? '' : streamKey(stream);
  const [thing = ''] = thingsOf(recorded);
  const known = before.get(thing);
  const { kind, changes = [], now } = told(known ?? {}, event);
  const after = now === undefined ? (known ?? null) : now;
  return {
    act: { kind, subject, id, name: nameIn(event, known, after), changes },
    after: now === undefined ? new Map() : new Map([[thing, now]]),
  };
}

/** Whose order an event was; null: no administrator's. `unknown`: an earlier release did not write down whose. */
export function orderedBy({ event, stream, ordered }: Recorded<AdministeredEvent>): UserId | 'unknown' | 'cli' | null {
  if (ordered !== undefined) return ordered.by;
  switch (event.type) {
    case 'OptionChanged':
    case 'ChannelAdded':
    case 'ChannelEdited':
    case 'ChannelRemoved':
      return event.by ?? 'unknown';
    case 'ChannelEnabled':
    case 'ChannelDisabled':
      return event.automatic ? null : (event.by ?? 'unknown');
    case 'LogsCleared':
      return event.by === 'retention' ? null : event.by;
    case 'TopUpCompleted':
      return event.learned.by === 'hand' ? event.learned.user : null;
    default: {
      // What users do to themselves is nobody's business here.
      const by = 'by' in event ? (event.by ?? null) : null;
      return by !== null && subjectIn(event) === 'user' && String(by) === streamKey(stream) ? null : by;
    }
  }
}
