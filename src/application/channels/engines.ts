import { patched } from '../../domain/channel/channel.js';
import { blankChannel, checkedChannelSettings, checkProxy } from '../../domain/channel/channel-settings.js';
import { type Engine, engines } from '../../domain/channel/engines.js';
import type { ProviderTable } from '../../domain/channel/provider.js';
import { invalidField } from '../../domain/kernel/failure.js';
import type { Actor } from '../../domain/user/user.js';
import { authorise } from '../authorise.js';
import type { Engines, FoundEngine } from '../ports/upstream-ports.js';

/* Engines of one's own: which there are, and which of them answers at an address. Nothing is changed. */

interface EnginePorts {
  readonly engines: Engines;
  readonly providers: ProviderTable;
}

/** As a form has it that is not saved. */
interface EngineAddress {
  readonly baseUrl: string;
  /** Empty: none. */
  readonly key: string;
  readonly proxy: string;
}

export interface EngineLook extends Omit<FoundEngine, 'id'> {
  /** null: what answers is none of those that are known. */
  readonly engine: Engine | null;
}

const maxKeyLength = 4_096;

export const engineCommands = ({ engines: looked, providers }: EnginePorts) => ({
  knownEngines(actor: Actor): readonly Engine[] {
    authorise(actor, 'admin');
    return engines;
  },

  /** Throws what saving a channel with this address would throw, and `engine-unreached`. */
  async engineAt(actor: Actor, { baseUrl, key, proxy }: EngineAddress): Promise<EngineLook> {
    authorise(actor, 'admin');
    if (baseUrl.trim() === '') throw invalidField('baseUrl', 'an http:// or https:// address');
    if (key.length > maxKeyLength) throw invalidField('key', `at most ${maxKeyLength} characters`);
    const [{ type } = { type: 1 }] = engines;
    const settings = checkedChannelSettings(patched(blankChannel, { type, baseUrl }), null, providers);
    if (proxy !== '') checkProxy(proxy);
    const { id, ...found } = await looked.at({ baseUrl: settings.baseUrl, key, proxy: proxy || null });
    return { engine: engines.find((one) => one.id === id) ?? null, ...found };
  },
});
