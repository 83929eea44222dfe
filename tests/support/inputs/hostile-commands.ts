import fc from 'fast-check';
import type { ChannelSettings } from '../../../src/domain/channel/channel-settings.js';
import type { Position } from '../../../src/domain/events/events.js';
import type { ChannelId } from '../../../src/domain/kernel/ids.js';
import { optionTable } from '../../../src/domain/options/option-table.js';
import { anyIndex, type CommandKind, type CommandWorld, commandKind, pick, type TestCommand } from '../commands.js';
import { channelSettings } from '../given/channel-settings.js';
import { accountKinds } from '../hostile-account-commands.js';
import { anyText, hostileChannelSettings, hostileNumber, text } from './hostile-inputs.js';

/* Every command, given what somebody hostile might send through any face. */

const members = Object.keys(channelSettings());

function only(all: ChannelSettings, members: readonly string[]): Partial<ChannelSettings> {
  return Object.fromEntries(Object.entries(all).filter(([member]) => members.includes(member)));
}

const channelKinds = ({ application, root, channels }: CommandWorld): readonly CommandKind[] => [
  commandKind(
    'add channel',
    { settings: channelSettings(), key: 'sk-key', proxy: '', enabled: true },
    fc.record({ settings: hostileChannelSettings, key: text('sk-key'), proxy: text(''), enabled: fc.boolean() }),
    async (input) => channels.push(...(await application.channels.add(root, input)).ids),
  ),
  commandKind(
    'edit channel',
    { which: 0, patch: { settings: { name: 'renamed', tag: 'tag' }, key: 'sk-other-key', proxy: '' } },
    fc.record({
      which: anyIndex,
      patch: fc.record({
        settings: fc
          .tuple(hostileChannelSettings, fc.subarray([...members]))
          .map(([all, members]) => only(all, members)),
        key: text('sk-other-key'),
        proxy: text(''),
      }),
    }),
    ({ which, patch }) => application.channels.edit(root, pick(channels, which), patch),
  ),
  commandKind(
    'rename tag',
    { tag: 'tag', to: 'other' },
    fc.record({ tag: text('tag'), to: anyText('tag') }),
    ({ tag, to }) => application.channels.editTag(root, tag, { settings: { tag: to } }),
  ),
  commandKind(
    'switch channel',
    { which: 0, on: false },
    fc.record({ which: anyIndex, on: fc.boolean() }),
    ({ which, on }) => application.channels.setEnabled(root, pick(channels, which), on),
  ),
  commandKind('test channel', 'gpt-4o', anyText('gpt-4o'), (model) =>
    application.channels.test(root, channels[0] as ChannelId, model),
  ),
  commandKind('remove channel', 0, anyIndex, (which) =>
    application.channels.remove(root, channels.slice(1 + (which % 50))),
  ),
  commandKind(
    'change option',
    { key: 'SystemName', value: 'Ours' },
    fc.record({
      key: fc.oneof(
        { weight: 4, arbitrary: fc.constantFrom(...Object.keys(optionTable)) },
        { weight: 1, arbitrary: text('an.option') },
      ),
      value: fc.oneof(anyText('1'), anyText('true'), anyText('{}'), hostileNumber.map(String)),
    }),
    ({ key, value }) => application.options.change(root, key, value),
  ),
  commandKind(
    'quarantine',
    'never',
    fc.record({ model: text('channels'), position: fc.maxSafeInteger(), reason: anyText('why') }),
    (input) => application.readModels.quarantine(root, { ...input, position: input.position as unknown as Position }),
  ),
];

const kinds = (world: CommandWorld): readonly CommandKind[] => [...accountKinds(world), ...channelKinds(world)];

export const hostileCommands = (world: CommandWorld): fc.Arbitrary<TestCommand> =>
  fc.oneof(...kinds(world).map(({ hostile }) => hostile));

/** Each command once, in an order in which all can be accepted. */
export const ordinaryCommands = (world: CommandWorld): readonly TestCommand[] =>
  kinds(world).flatMap(({ ordinary }) => (ordinary === null ? [] : [ordinary]));
