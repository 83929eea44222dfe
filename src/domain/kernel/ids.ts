import type { Brand } from './brand.js';
import { invalidField } from './failure.js';

export type UserId = Brand<number, 'UserId'>;
export type ApiKeyId = Brand<number, 'ApiKeyId'>;
export type ChannelId = Brand<number, 'ChannelId'>;
export type RedemptionId = Brand<number, 'RedemptionId'>;
/** Of work that outlives the call that asked for it; counted up, so that nothing but its owner guards it. */
export type TaskId = Brand<number, 'TaskId'>;
/** A call's request id, e.g. `20261121070000123abcdEFGH`. */
export type CallId = Brand<string, 'CallId'>;
/** Names a secret in the vault; says nothing about it. */
export type SecretId = Brand<string, 'SecretId'>;
/** Text encrypted with the key of one user; unreadable for ever once that key is destroyed. */
export type Sealed = Brand<string, 'Sealed'>;
/** A keyed hash of an e-mail address, or of an id elsewhere: shows whether two are the same, and nothing else. */
export type IdentityClaim = Brand<string, 'IdentityClaim'>;
/** An order of quota by our trade number, e.g. `USR7NOx4Tk9b8305516274`; nobody can guess another one's. */
export type PaymentId = Brand<string, 'PaymentId'>;
/** Of a price repair: the beginning of the digest of what it was to post, so that nobody posts the same twice. */
export type RepairId = Brand<string, 'RepairId'>;

const positive = (name: string, raw: unknown): number => {
  const value = typeof raw === 'string' && /^\d+$/.test(raw) ? Number(raw) : raw;
  if (typeof value !== 'number' || !Number.isSafeInteger(value) || value <= 0)
    throw invalidField(name, 'a positive integer');
  return value;
};

const text = (name: string, raw: unknown): string => {
  if (typeof raw !== 'string' || raw === '') throw invalidField(name, 'a non-empty text');
  return raw;
};

export const UserId = (raw: unknown): UserId => positive('user id', raw) as UserId;
export const ApiKeyId = (raw: unknown): ApiKeyId => positive('api key id', raw) as ApiKeyId;
export const ChannelId = (raw: unknown): ChannelId => positive('channel id', raw) as ChannelId;
export const RedemptionId = (raw: unknown): RedemptionId => positive('redemption id', raw) as RedemptionId;
export const TaskId = (raw: unknown): TaskId => positive('task id', raw) as TaskId;
export const CallId = (raw: unknown): CallId => text('call id', raw) as CallId;
/** Whether a text that somebody looks for a call by could be its id. */
export const isCallId = (id: string): boolean => /^[\w-]{1,64}$/.test(id);
export const SecretId = (raw: unknown): SecretId => text('secret id', raw) as SecretId;
export const Sealed = (raw: unknown): Sealed => text('sealed text', raw) as Sealed;
export const IdentityClaim = (raw: unknown): IdentityClaim => text('identity claim', raw) as IdentityClaim;

export const PaymentId = (raw: unknown): PaymentId => {
  if (typeof raw !== 'string' || !/^USR\d{1,16}NO[0-9A-Za-z]{6}\d{10}$/.test(raw))
    throw invalidField('payment id', 'a trade number that this gateway issued');
  return raw as PaymentId;
};

export const RepairId = (raw: unknown): RepairId => {
  if (typeof raw !== 'string' || !/^[0-9a-f]{24}$/.test(raw))
    throw invalidField('repair id', '24 digits and letters a to f');
  return raw as RepairId;
};
