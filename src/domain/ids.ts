import type { Brand } from './brand.js';
import { invalidField } from './failure.js';

export type UserId = Brand<number, 'UserId'>;
export type ApiKeyId = Brand<number, 'ApiKeyId'>;
export type ChannelId = Brand<number, 'ChannelId'>;
/** A call's request id, e.g. `20261121070000123abcdEFGH`. */
export type CallId = Brand<string, 'CallId'>;
/** Names a secret in the vault; says nothing about it. */
export type SecretId = Brand<string, 'SecretId'>;
/** Text encrypted with the key of one user; unreadable for ever once that key is destroyed. */
export type Sealed = Brand<string, 'Sealed'>;

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
export const CallId = (raw: unknown): CallId => text('call id', raw) as CallId;
export const SecretId = (raw: unknown): SecretId => text('secret id', raw) as SecretId;
export const Sealed = (raw: unknown): Sealed => text('sealed text', raw) as Sealed;
