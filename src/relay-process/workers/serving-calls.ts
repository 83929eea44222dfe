import type { AddressInfo } from 'node:net';
import { pino } from 'pino';
import { systemClock } from '../../adapters/clock.js';
import { openDirectory } from '../../application/memory/directory.js';
import { defaultPrices } from '../../application/prices/default-prices.js';
import { followPriceCalendar } from '../../application/prices/price-calendar.js';
import { atIntervals } from '../../concurrency/at-intervals.js';
import type { Recorded } from '../../domain/events/events.js';
import type { ApiKeyId } from '../../domain/kernel/ids.js';
import { proxyDoubts } from '../../http/proxy-doubts.js';
import { UpgradeRouter } from '../../http/upgrade-router.js';
import { inFlightCalls } from '../../relay/metering/in-flight-calls.js';
import { RefusalTally } from '../../relay/pipeline/refusal-tally.js';
import { providerTable } from '../../relay/providers/registry.js';
import { samplePositionsBy } from '../../relay/text/sample-positions.js';
import { preloadTokenizers } from '../../relay/text/tokens.js';
import { httpListener } from '../http-listener.js';
import { directoryCapacity, openRelayRuntime } from '../runtime.js';
import type { PrimaryMethods, SerializedDirectory, WorkerSetting } from './messages.js';
import { passingOn } from './passing-on.js';
import type { Peer } from './peer.js';
import { remoteMeter } from './remote-meter.js';
import {
  remoteBackground,
  remoteDirectorySource,
  remoteGate,
  remoteKept,
  remoteLimits,
  remoteNotices,
  remoteStoredResponses,
  remoteStreams,
  remoteTasks,
  remoteVault,
} from './remote-ports.js';

/*
 * The relay in a worker: an event loop and upstream connections of its own, and no database. What is decided once for the
 * whole node is asked of the primary.
 */

export interface ServingCalls {
  /** Once it listens. */
  readonly port: Promise<number>;
  /** Calls left out. */
  news(events: readonly Recorded[]): Promise<void>;
  /** The key may be spent by now. */
  spent(apiKey: ApiKeyId): void;
  /** From now on requests are for another node. */
  refuse(): void;
  /** The same, and nobody new is listened to. Resolves when no call is under way any more. */
  finish(): Promise<void>;
}

/** Between two looks whether calls are still under way, once it is to end. */
const lookMs = 20;

/** Between two messages about refused calls. */
const sendRefusedMs = 1_000;

export function serveCalls(
  primary: Peer<PrimaryMethods>,
  { server, relay: relayConfig, outbound, logLevel, hashingKey, samplingKey, faces }: WorkerSetting,
  serialized: SerializedDirectory,
): ServingCalls {
  const clock = systemClock;
  samplePositionsBy(Buffer.from(samplingKey, 'base64'));
  const log = pino({ level: logLevel });
  const gate = remoteGate(primary, clock);
  const opening = openDirectory({
    store: remoteStreams(primary),
    source: remoteDirectorySource(primary, serialized),
    prices: defaultPrices(clock.now()),
    at: clock.now(),
    providers: providerTable,
    capacity: directoryCapacity,
  });
  let ending = false;

  const begin = async () => {
    const directory = await opening;
    const stopPrices = followPriceCalendar(directory, clock);
    const inFlight = inFlightCalls();
    const refusals = new RefusalTally();
    const sendRefused = (): void => {
      const kinds = refusals.take();
      if (kinds.length > 0) primary.send('refused', kinds);
    };
    const { relay, entrance, addressOf, webSockets } = openRelayRuntime(
      { server, relay: relayConfig, outbound },
      {
        directory,
        meter: remoteMeter(primary, inFlight),
        vault: remoteVault(primary, Buffer.from(hashingKey, 'base64'), clock),
        clock,
        limits: remoteLimits(primary),
        gate,
        log,
        refusals,
        kept: remoteKept(primary),
        background: remoteBackground(primary),
        storedResponses: remoteStoredResponses(primary),
        tasks: remoteTasks(primary),
        doubted: proxyDoubts(
          () => clock.now(),
          ({ proxy, doubt }) => primary.send('proxyDoubted', proxy, doubt),
        ).report,
        ...remoteNotices(primary),
      },
    );
    const stopNoting = inFlight.startNoting(
      { note: (notedTo, progressed) => primary.ask('note', Number(notedTo), progressed) },
      () => {},
    );
    const stopSending = atIntervals(sendRefusedMs, async () => sendRefused());
    const others = passingOn(faces);
    // What no call of this worker takes is the primary's, to serve or to refuse.
    const upgrades = new UpgradeRouter((error) => log.error({ err: error }, 'an upgrade failed'), others.upgrade);
    for (const path of webSockets.paths) upgrades.own(path, webSockets.upgrade);
    const listening = { server, entrance, upgrades, addressOf, log, isEnding: () => ending };
    const listener = httpListener(listening, others.listener);
    const stop = async (): Promise<void> => {
      await Promise.all([stopNoting(), stopSending(), stopPrices()]);
      sendRefused();
    };
    return { relay, listener, webSockets, stop };
  };
  const begun = begin();

  return {
    port: begun.then(
      ({ listener }) =>
        new Promise((resolve, reject) => {
          listener.once('error', reject);
          listener.listen({ host: server.host, port: server.port }, () => {
            resolve((listener.address() as AddressInfo).port);
            setImmediate(preloadTokenizers);
          });
        }),
    ),
    async news(events) {
      const last = events.at(-1);
      (await opening).take(events);
      if (last !== undefined) primary.send('taken', last.position);
    },
    spent: gate.spent,
    refuse() {
      ending = true;
      void begun.then(({ webSockets }) => webSockets.finish());
    },
    async finish() {
      ending = true;
      const { relay, listener, webSockets, stop } = await begun;
      listener.close();
      webSockets.finish();
      while (relay.active() > 0) await new Promise((resolve) => setTimeout(resolve, lookMs));
      await webSockets.end();
      await stop();
    },
  };
}
