import { untilVisible } from '../src/application/until-visible.js';
import { startGateway } from '../src/bootstrap/gateway.js';
import { readConfig } from '../src/config.js';
import { type SimulatedProvider, startSimulatedProvider } from '../src/demo/simulated-provider.js';
import type { Position } from '../src/domain/events/events.js';
import type { Actor } from '../src/domain/user/user.js';
import { type EpayServer, merchant, startEpayServer } from '../tests/payments/epay-server.js';
import { signIn } from '../tests/support/gateway/sign-in.js';
import { apiKeyTerms } from '../tests/support/given/api-key-terms.js';
import { channelSettings } from '../tests/support/given/channel-settings.js';
import { quietLog } from '../tests/support/quiet-log.js';
import { type Payer, payers } from './plan.js';
import { openLimits } from './stand.js';

/* What an operator has set up before the torture begins, and the provider and the cashier, who live through it. */

/** Quota per token of input, and how much more one of output costs; both as the operator has set them. */
export const prices = { input: 300, outputRatio: 3 };
const given: Readonly<Record<Payer, number>> = {
  rich: 1_000_000_000_000,
  limited: 1_000_000_000_000,
  'poor-1': 900_000,
  'poor-2': 250_000,
  'poor-3': 0,
};
/** What the limited key may spend, for each cycle there will be: somewhat less than it is asked for. */
const allowance = { first: 300_000, perCycle: 120_000 };
export const codeWorth = 200_000;

interface IssuedCode {
  readonly id: number;
  readonly code: string;
}

interface PayerData {
  readonly id: number;
  /** With `sk-`. */
  readonly apiKey: string;
  /** How its browser is signed in. */
  readonly headers: Readonly<Record<string, string>>;
}

export interface World {
  readonly provider: SimulatedProvider;
  readonly cashier: EpayServer;
  readonly payers: Readonly<Record<Payer, PayerData>>;
  /** Not redeemed yet; whoever redeems one takes it from here. */
  readonly codes: IssuedCode[];
  stop(): Promise<void>;
}

const codesAtOnce = 100;
const password = 'root-password-1';

interface WorldNeeds {
  readonly cycles: number;
  readonly codes: number;
  /** What calls ask for. */
  readonly models: readonly string[];
}

export async function prepareWorld(
  dataDir: string,
  { cycles, codes: codesNeeded, models }: WorldNeeds,
): Promise<World> {
  const provider = await startSimulatedProvider({ remember: 1, models });
  const cashier = await startEpayServer();
  const gateway = await startGateway(readConfig({ ...openLimits, DATA_DIR: dataDir, PORT: '0' }), quietLog);
  try {
    const { application } = gateway;
    const shown = (position: Position): Promise<void> => untilVisible(application, position);
    const setUp = { username: 'root', password, confirmPassword: password, mode: 'external' } as const;
    await shown(await application.setup.complete(setUp));
    const { user: root } = await signIn(application.identity, 'root', password);
    const byModel = (value: number): string => JSON.stringify(Object.fromEntries(models.map((m) => [m, value])));
    const options = {
      ...{ ModelRatio: byModel(prices.input), CompletionRatio: byModel(prices.outputRatio) },
      ...{ ServerAddress: 'https://gate.example', PayAddress: cashier.url, EpayId: merchant.id, EpayKey: merchant.key },
    };
    for (const [key, value] of Object.entries(options)) await shown(await application.options.change(root, key, value));
    await application.channels.add(root, {
      settings: channelSettings({ baseUrl: provider.url, models: [...models], autoBan: false }),
      key: 'sk-upstream-key',
      proxy: '',
      enabled: true,
    });

    const enter = async (payer: Payer): Promise<PayerData> => {
      const { id } = await application.users.create(root, { username: payer, password, displayName: '' });
      if (given[payer] > 0) await shown(await application.users.adjustQuota(root, id, { delta: given[payer] }));
      const actor: Actor = { id, role: 'ordinary' };
      const isLimited = payer === 'limited';
      const terms = apiKeyTerms({ unlimited: !isLimited });
      const quota = isLimited ? allowance.first + allowance.perCycle * cycles : 0;
      const { key, position } = await application.apiKeys.issue(actor, { quota, terms });
      await shown(position);
      const { token } = await signIn(application.identity, payer, password);
      return { id, apiKey: `sk-${key}`, headers: { cookie: `session=${token}`, 'new-api-user': String(id) } };
    };
    const entered = {} as Record<Payer, PayerData>;
    for (const payer of payers) entered[payer] = await enter(payer);

    const codes: IssuedCode[] = [];
    while (codes.length < codesNeeded) {
      const count = Math.min(codesAtOnce, codesNeeded - codes.length);
      const issued = await application.redemptions.issue(root, { name: 'gift', quota: codeWorth }, count);
      codes.push(...issued.codes);
      await shown(issued.position);
    }
    return {
      provider,
      cashier,
      payers: entered,
      codes,
      stop: async () => void (await Promise.all([provider.stop(), cashier.stop()])),
    };
  } catch (error) {
    await Promise.all([provider.stop(), cashier.stop()]);
    throw error;
  } finally {
    await gateway.stop();
  }
}
