import { type ChannelSecrets, type ChannelSettings, channelDecider } from '../domain/channel.js';
import { beginning, type Position, streams } from '../domain/events.js';
import { Failure, invalidField } from '../domain/failure.js';
import { ChannelId } from '../domain/ids.js';
import type { Actor } from '../domain/user.js';
import { authorise } from './authorise.js';
import type { Handle } from './handle.js';
import type { ChannelProbe, Directory, Ids, Vault } from './ports.js';

export interface ChannelCommandPorts {
  readonly handle: Handle;
  readonly ids: Ids;
  readonly vault: Vault;
  readonly directory: Directory;
  readonly probe: ChannelProbe;
}

/** What an edit may change; a missing or undefined member stays as it is. */
export interface ChannelPatch {
  readonly settings: Partial<ChannelSettings>;
  readonly key?: string;
  /** Proxy address; '' removes it. */
  readonly proxy?: string;
  readonly enabled?: boolean;
}

export interface ChannelTestResult {
  readonly ok: boolean;
  readonly message: string;
  readonly seconds: number;
  readonly position: Position;
}

/** Vertex service accounts are JSON documents: one key, however many lines. */
const wholeDocumentKeyType = 41;

const keysIn = (type: number, key: string): string[] =>
  type === wholeDocumentKeyType
    ? [key.trim()].filter((line) => line !== '')
    : key
        .split('\n')
        .map((line) => line.trim())
        .filter((line) => line !== '');

function checkRegion({ type, other }: Pick<ChannelSettings, 'type' | 'other'>): void {
  if (type !== wholeDocumentKeyType) return;
  if (other.trim() === '') throw new Failure('region-missing');
  if (!other.trim().startsWith('{')) return;
  if (jsonObject('other', other).default === undefined) throw new Failure('region-default-missing');
}

function jsonObject(field: string, text: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Record<string, unknown>;
  } catch {
    // Falls through to the one answer for anything that is not an object.
  }
  throw invalidField(field, 'a JSON object');
}

function checkSettings(settings: ChannelSettings): ChannelSettings {
  checkRegion(settings);
  const { baseUrl, weight, priority, modelMapping, statusCodeMapping, paramOverride, setting } = settings;
  if (baseUrl !== '') {
    if (!URL.canParse(baseUrl) || !/^https?:$/.test(new URL(baseUrl).protocol))
      throw invalidField('base_url', 'an http:// or https:// address');
    if (new URL(baseUrl).username !== '' || new URL(baseUrl).password !== '')
      throw invalidField('base_url', 'an address without user name and password; put the credential into the key');
  }
  if (!Number.isSafeInteger(weight) || weight < 0) throw invalidField('weight', 'an integer from 0');
  if (!Number.isSafeInteger(priority)) throw invalidField('priority', 'an integer');
  if (modelMapping) jsonObject('model_mapping', modelMapping);
  if (statusCodeMapping) jsonObject('status_code_mapping', statusCodeMapping);
  if (paramOverride) jsonObject('param_override', paramOverride);
  // A proxy's address may carry a password: it goes into the vault, and settings go into events.
  if (setting && Object.hasOwn(jsonObject('setting', setting), 'proxy'))
    throw invalidField('setting', 'a JSON object without proxy, which is given on its own');
  return settings;
}

function checkedKey(key: string): string {
  const trimmed = key.trim();
  if (trimmed === '') throw new Failure('channel-key-missing');
  return trimmed;
}

const defined = (settings: Partial<ChannelSettings>): Partial<ChannelSettings> =>
  Object.fromEntries(Object.entries(settings).filter(([, value]) => value !== undefined));

function checkProxy(proxy: string): void {
  if (proxy === '') return;
  if (!URL.canParse(proxy) || !/^(https?|socks5h?):$/.test(new URL(proxy).protocol))
    throw invalidField('setting.proxy', 'an http://, https:// or socks5:// address');
}

export function channelCommands({ handle, ids, vault, directory, probe }: ChannelCommandPorts) {
  const secretsFor = async (key: string, proxy: string): Promise<ChannelSecrets> => ({
    key: await vault.put(key),
    keyHash: vault.hash(key),
    proxy: proxy === '' ? null : await vault.put(proxy),
  });

  const setEnabled = async (id: ChannelId, enabled: boolean): Promise<Position> => {
    const { position } = await handle(
      channelDecider,
      streams.channel(id),
      enabled ? { type: 'EnableChannel', automatic: false } : { type: 'DisableChannel', automatic: false, reason: '' },
    );
    return position;
  };

  /** The same order for many channels; the position after which all of it is visible. */
  const each = async (
    channelIds: readonly ChannelId[],
    order: (id: ChannelId) => Promise<Position>,
  ): Promise<Position> => {
    let newest = beginning;
    for (const id of channelIds) {
      const position = await order(id);
      if (position > newest) newest = position;
    }
    return newest;
  };

  const edit = async (id: ChannelId, patch: ChannelPatch): Promise<Position> => {
    if (patch.proxy !== undefined) checkProxy(patch.proxy);
    const secrets: { -readonly [Member in keyof ChannelSecrets]?: ChannelSecrets[Member] } = {};
    if (patch.key !== undefined) {
      const key = checkedKey(patch.key);
      secrets.key = await vault.put(key);
      secrets.keyHash = vault.hash(key);
    }
    if (patch.proxy !== undefined) secrets.proxy = patch.proxy === '' ? null : await vault.put(patch.proxy);
    const settings = defined(patch.settings);
    const change = (now: ChannelSettings) => checkSettings({ ...now, ...settings });
    const { position } = await handle(channelDecider, streams.channel(id), { type: 'EditChannel', change, secrets });
    if (patch.enabled === undefined) return position;
    const flipped = await setEnabled(id, patch.enabled);
    return flipped > position ? flipped : position;
  };

  const remove = async (id: ChannelId): Promise<Position> => {
    const { position } = await handle(channelDecider, streams.channel(id), { type: 'RemoveChannel' });
    return position;
  };

  const tagged = (tag: string): ChannelId[] =>
    directory
      .channels()
      .filter(({ settings }) => settings.tag === tag)
      .map(({ id }) => id);

  return {
    /** One channel per line of the key, all else equal. */
    async add(
      actor: Actor,
      input: { settings: ChannelSettings; key: string; proxy: string; enabled: boolean },
    ): Promise<{ ids: ChannelId[]; position: Position }> {
      authorise(actor, 'admin');
      const settings = checkSettings(input.settings);
      checkProxy(input.proxy);
      const keys = keysIn(settings.type, input.key);
      if (keys.length === 0) throw new Failure('channel-key-missing');
      const added: ChannelId[] = [];
      let newest = beginning;
      for (const key of keys) {
        const id = ChannelId(await ids.next('channel'));
        const { position } = await handle(channelDecider, streams.channel(id), {
          type: 'AddChannel',
          settings,
          secrets: await secretsFor(key, input.proxy),
          enabled: input.enabled,
        });
        added.push(id);
        newest = position;
      }
      return { ids: added, position: newest };
    },

    async edit(actor: Actor, id: ChannelId, patch: ChannelPatch): Promise<Position> {
      authorise(actor, 'admin');
      return edit(id, patch);
    },

    async editMany(actor: Actor, channelIds: readonly ChannelId[], patch: ChannelPatch): Promise<Position> {
      authorise(actor, 'admin');
      return each(channelIds, (id) => edit(id, patch));
    },

    async editTag(actor: Actor, tag: string, patch: ChannelPatch): Promise<Position> {
      authorise(actor, 'admin');
      return each(tagged(tag), (id) => edit(id, patch));
    },

    async setEnabled(actor: Actor, id: ChannelId, enabled: boolean): Promise<Position> {
      authorise(actor, 'admin');
      return setEnabled(id, enabled);
    },

    async setTagEnabled(actor: Actor, tag: string, enabled: boolean): Promise<Position> {
      authorise(actor, 'admin');
      return each(tagged(tag), (id) => setEnabled(id, enabled));
    },

    /** Removing what is not there is no error. */
    async remove(actor: Actor, channelIds: readonly ChannelId[]): Promise<Position> {
      authorise(actor, 'admin');
      return each(channelIds, remove);
    },

    /** Channels that carry the tag now. */
    tagged,

    /** Removes every channel that is switched off, by hand or automatically. */
    async removeDisabled(actor: Actor): Promise<{ ids: ChannelId[]; removed: number; position: Position }> {
      authorise(actor, 'admin');
      const disabled = directory.channels().filter(({ status }) => status !== 'enabled');
      const channelIds = disabled.map(({ id }) => id);
      const position = await each(channelIds, remove);
      return { ids: channelIds, removed: channelIds.length, position };
    },

    /** Sends one small request; `model` '' lets the channel choose. Never throws for a failing upstream. */
    async test(actor: Actor, id: ChannelId, model: string): Promise<ChannelTestResult> {
      authorise(actor, 'admin');
      const channel = directory.channel(id);
      if (channel === null) throw new Failure('channel-not-found');
      const { ok, message, responseTimeMs, usage } = await probe.test(channel, model);
      const { position } = await handle(channelDecider, streams.channel(id), {
        type: 'RecordChannelTest',
        ok,
        responseTimeMs,
        error: ok ? null : message,
        usage,
      });
      return { ok, message, seconds: responseTimeMs / 1000, position };
    },
  };
}

export type ChannelCommands = ReturnType<typeof channelCommands>;
