import { boundedJson, bytesIn } from '../kernel/bounds.js';
import { Failure, invalidField } from '../kernel/failure.js';
import { blankChannel, type ChannelSettings, checkedChannelSettings } from './channel-settings.js';
import type { ProviderTable } from './provider.js';

/* Channels as a file that one gateway writes and another reads: what was said about them, without keys and proxies. */

const format = 'tallygate-channels';
const version = 1;

/** Of a file, so that it fits into a request whatever must be escaped in it. */
export const maxFileBytes = 512 * 1024;
export const maxFileChannels = 1000;
/** Faults that are reported of one file. */
const maxFaults = 100;

/** What is wrong with a channel of a file. */
export interface FileFault {
  /** Which of the channels, from 1. */
  readonly row: number;
  readonly field: string;
  /** In words. */
  readonly allowed: string;
}

type Kind = 'text' | 'text or null' | 'a whole number' | 'true or false' | 'a list of texts';

const isText = (value: unknown): boolean => typeof value === 'string';

const fits: Readonly<Record<Kind, (value: unknown) => boolean>> = {
  text: isText,
  'text or null': (value) => value === null || isText(value),
  'a whole number': Number.isSafeInteger,
  'true or false': (value) => typeof value === 'boolean',
  'a list of texts': (value) => Array.isArray(value) && value.every(isText),
};

const kinds: Readonly<Record<keyof ChannelSettings, Kind>> = {
  name: 'text',
  type: 'a whole number',
  baseUrl: 'text',
  models: 'a list of texts',
  groups: 'a list of texts',
  priority: 'a whole number',
  weight: 'a whole number',
  tag: 'text or null',
  modelMapping: 'text or null',
  statusCodeMapping: 'text',
  paramOverride: 'text or null',
  setting: 'text or null',
  other: 'text',
  organization: 'text or null',
  testModel: 'text or null',
  autoBan: 'true or false',
  maxInputTokens: 'a whole number',
};

const members = Object.keys(kinds) as readonly (keyof ChannelSettings)[];

const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Throws `invalid-field` for more channels than one file holds. */
export function channelFileOf(channels: readonly ChannelSettings[]): string {
  if (channels.length > maxFileChannels) throw invalidField('ids', `at most ${maxFileChannels} channels`);
  const written = channels.map((settings) => Object.fromEntries(members.map((name) => [name, settings[name]])));
  const text = JSON.stringify({ format, version, channels: written }, null, 2);
  if (bytesIn(text) > maxFileBytes) throw invalidField('ids', `channels that fit into ${maxFileBytes} bytes`);
  return text;
}

/** Kinds first: what is of another kind cannot be judged further. */
function faultsOfKind(row: number, channel: Readonly<Record<string, unknown>>): FileFault[] {
  const unknown = Object.keys(channel).filter((name) => !Object.hasOwn(kinds, name));
  const wrong = members.filter((name) => channel[name] !== undefined && !fits[kinds[name]](channel[name]));
  return [
    ...unknown.map((name) => ({ row, field: name.slice(0, 64), allowed: `one of ${members.join(', ')}` })),
    ...wrong.map((name) => ({ row, field: name, allowed: kinds[name] })),
  ];
}

function readChannel(row: number, channel: unknown, providers: ProviderTable): ChannelSettings | FileFault[] {
  if (!isRecord(channel)) return [{ row, field: 'channels', allowed: 'a channel as an object' }];
  const faults = faultsOfKind(row, channel);
  if (faults.length > 0) return faults;
  const settings = { ...blankChannel, ...channel } as ChannelSettings;
  if (settings.name.trim() === '') return [{ row, field: 'name', allowed: 'a name' }];
  try {
    return checkedChannelSettings(settings, null, providers);
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    const { field, allowed } = error.details;
    return [{ row, field: String(field ?? ''), allowed: String(allowed ?? error.code) }];
  }
}

/**
 * The channels of a file, or all that is wrong with them: where there is one fault, there are no channels. Throws
 * `invalid-field` for what is no such file.
 */
export function channelsInFile(
  text: string,
  providers: ProviderTable,
): { readonly channels: readonly ChannelSettings[]; readonly faults: readonly FileFault[] } {
  if (bytesIn(text) > maxFileBytes) throw invalidField('file', `at most ${maxFileBytes} bytes`);
  const file = boundedJson(text);
  if (!isRecord(file)) throw invalidField('file', 'a JSON object, as channels are exported');
  if (file.format !== format) throw invalidField('file.format', format);
  if (file.version !== version) throw invalidField('file.version', String(version));
  const { channels } = file;
  if (!Array.isArray(channels) || channels.length === 0 || channels.length > maxFileChannels)
    throw invalidField('file.channels', `a list of 1 to ${maxFileChannels} channels`);
  const read = channels.map((channel, index) => readChannel(index + 1, channel, providers));
  const faults = read.flatMap((one) => (Array.isArray(one) ? one : []));
  if (faults.length > 0) return { channels: [], faults: faults.slice(0, maxFaults) };
  return { channels: read as ChannelSettings[], faults: [] };
}
