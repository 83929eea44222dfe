import type { Position } from '../domain/events/events.js';
import { countApiKeys } from '../projections/models/api-keys.js';
import { countOpenPayments } from '../projections/models/payment-queries.js';
import { approvedPriceRecords, priceRecordOrigins } from '../projections/models/price-history.js';
import { redemptionIdByHash } from '../projections/models/redemptions.js';
import { apiKeyCommands } from './api-keys/api-key-commands.js';
import type { ApplicationPorts } from './application-ports.js';
import { repairDesk } from './audit/repair/repair-desk.js';
import { channelBalanceCommands } from './channels/channel-balances.js';
import { channelCommands } from './channels/channel-commands.js';
import { channelFileCommands } from './channels/channel-files.js';
import { channelTests } from './channels/channel-tests.js';
import { engineCommands } from './channels/engines.js';
import { upstreamModelCommands } from './channels/upstream-models.js';
import { doubtedProxies } from './doubted-proxies.js';
import { type IdempotencyStore, idempotencyStore } from './idempotency.js';
import { latestRelease } from './latest-release.js';
import { openQueries } from './open-queries.js';
import { openSignIn } from './open-sign-in.js';
import { optionCommands } from './options/option-commands.js';
import { paymentCommands } from './payments/payment-commands.js';
import { priceCommands } from './prices/price-commands.js';
import { priceUpdates } from './prices/price-updates.js';
import { readModelCommands } from './read-models.js';
import { redemptionCommands } from './redemptions/redemption-commands.js';
import { storedResponseCommands } from './responses/stored-response-commands.js';
import { oidcEndpoints } from './sign-in/oidc-endpoints.js';
import type { StepUps } from './sign-in/step-up.js';
import { usageLogCommands } from './usage/usage-log-commands.js';

/* What the system can do, whatever the wire: the faces get this and nothing else. */

/** Longest a face waits to show its own write; then it answers with what there is. */
const visibilityTimeoutMs = 3000;

function openChannels(ports: ApplicationPorts) {
  const { handle, ids, vault, directory, providers, probe, balances, upstreamModels, engines, warn } = ports;
  const { stopTesting, testAllByTheClock, ...tests } = channelTests({ handle, directory, probe, warn });
  const { stopAskingBalances, updateBalancesByTheClock, ...balancing } = channelBalanceCommands({
    ...{ handle, directory, balances, providers },
  });
  return {
    commands: {
      ...channelCommands({ handle, ids, vault, directory, providers }),
      ...tests,
      ...balancing,
      ...upstreamModelCommands({ directory, vault, upstreamModels, providers }),
      ...engineCommands({ engines, providers }),
      ...channelFileCommands({ handle, ids, vault, directory, providers }),
    },
    /** In nobody's name. */
    byTheClock: { testAll: testAllByTheClock, updateBalances: updateBalancesByTheClock },
    stop(): void {
      stopTesting();
      stopAskingBalances();
    },
  };
}

/** Whatever moves quota that users own: API keys, codes, payments. */
function openQuotaCommands(ports: ApplicationPorts, once: IdempotencyStore, stepUps: StepUps) {
  const { store, handle, clock, ids, vault, db, progress, directory, gate, tail, warn } = ports;
  return {
    apiKeys: apiKeyCommands({
      ...{ clock, handle, ids, vault, gate, tail, once, directory, progress },
      apiKeyCounts: { of: (owner, keyIds) => countApiKeys(db, owner, keyIds) },
    }),
    redemptions: redemptionCommands({
      ...{ clock, handle, ids, vault, gate, tail, once, directory, progress },
      redemptionByHash: (codeHash) => redemptionIdByHash(db, codeHash),
    }),
    payments: paymentCommands({
      ...{ store, handle, clock, once, directory, stepUps, progress, warn },
      providers: ports.paymentProviders,
      openCounts: { of: (user, orderIds) => countOpenPayments(db, user, orderIds) },
    }),
  };
}

function openOperations(ports: ApplicationPorts) {
  const { store, handle, clock, vault, db, progress, directory, tail, outbound, proxies, taskStore } = ports;
  const { version, releasesUrl } = ports;
  return {
    options: { ...optionCommands({ handle, vault, directory, clock }), oidcEndpoints: oidcEndpoints({ outbound }) },
    prices: priceCommands({ handle }),
    repairs: repairDesk({
      store,
      handle,
      db,
      progress,
      directory,
      tail,
      lines: ports.sealing.lines,
      archives: ports.archives,
    }),
    priceUpdates: priceUpdates({
      ...{ handle, outbound, clock, directory },
      origins: () => priceRecordOrigins(db),
      approved: () => approvedPriceRecords(db),
    }),
    releases: latestRelease({ outbound, clock, version, releasesUrl }),
    doubtedProxies: doubtedProxies({ proxies }),
    readModels: readModelCommands({ store, handle, progress }),
    usageLog: usageLogCommands({ handle, clock, db, progress, tail, taskContents: taskStore }),
  };
}

export function openApplication(ports: ApplicationPorts) {
  const { vault, clock, unsettledOrders, directory, gate, tail, progress } = ports;
  const once = idempotencyStore({ clock, unsettledOrders, hash: (text) => vault.hash(text) });
  const signIn = openSignIn(ports, once);
  const channels = openChannels(ports);
  return {
    ...signIn.faces,
    ...openQuotaCommands(ports, once, signIn.faces.stepUps),
    ...openOperations(ports),
    storedResponses: storedResponseCommands(ports),
    channels: channels.commands,
    byTheClock: channels.byTheClock,
    queries: openQueries(ports, { signIn, visibilityTimeoutMs }),
    directory,
    gate,
    tail,
    clock,
    /** What goes on in the background ends; nothing of it is begun any more. */
    stop: () => channels.stop(),
    /**
     * Waits, bounded, until both the read models and this node's memory contain the event at `position`; resolves with
     * whether they do.
     */
    async visible(position: Position): Promise<boolean> {
      const reached = [progress.reached(position, visibilityTimeoutMs), tail.reached(position, visibilityTimeoutMs)];
      return (await Promise.all(reached)).every((there) => there);
    },
  };
}

export type Application = ReturnType<typeof openApplication>;
