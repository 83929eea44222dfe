import type { NodeDirectory } from '../application/memory/directory.js';
import type { PaymentCommands } from '../application/payments/payment-commands.js';
import type { CallProgressNotes } from '../application/ports/storage-ports.js';
import type { PriceUpdates } from '../application/prices/price-updates.js';
import { startAwaitingPayments } from '../application/reactions/await-payments.js';
import {
  type ChannelIntervals,
  type ChannelsByTheClock,
  startChannelChecks,
} from '../application/reactions/channel-checks.js';
import { startLogRetention } from '../application/reactions/log-retention.js';
import { updatePricesDaily } from '../application/reactions/update-prices-daily.js';
import type { QueuedStoredResponses } from '../application/responses/stored-responses.js';
import type { UsageLogCommands } from '../application/usage/usage-log-commands.js';
import { atIntervals } from '../concurrency/at-intervals.js';
import type { ReadModels } from '../projections/database.js';
import { pendingPayments } from '../projections/models/payment-queries.js';
import type { InFlightCalls } from '../relay/metering/in-flight-calls.js';
import type { NodeStart } from './node-start.js';

/** Between two looks for orders that may have been paid. */
const paymentsPauseMs = 10_000;

/** Between two looks whether the usage log is to lose a day. */
const retentionPauseMs = 10 * 60_000;

/** Between two looks whether stored responses are too old or too many. */
const storedResponsesPauseMs = 10 * 60_000;

/** Between two looks whether a source of prices is to be fetched. */
const usualPricesPauseMs = 60_000;

interface UpkeepJobs {
  readonly db: ReadModels;
  readonly directory: Pick<NodeDirectory, 'settings'>;
  readonly payments: PaymentCommands;
  readonly channels: ChannelsByTheClock;
  readonly channelIntervals: ChannelIntervals;
  readonly usageLog: Pick<UsageLogCommands, 'retain'>;
  readonly priceUpdates: PriceUpdates;
  readonly inFlight: Pick<InFlightCalls, 'startNoting'>;
  readonly notes: CallProgressNotes;
  readonly storedResponses: Pick<QueuedStoredResponses, 'purge'>;
}

/** What is done by the clock: orders, channels, retention, notes of calls under way. */
export function startMaintenance(node: NodeStart, jobs: UpkeepJobs): void {
  const { clock, log, closing, pricesPauseMs = usualPricesPauseMs } = node;
  const { priceUpdates: updates } = jobs;
  const { storedResponses } = jobs;
  const { db, directory, payments, channels, channelIntervals, usageLog, inFlight, notes } = jobs;
  closing.add(
    startAwaitingPayments(
      { open: (after, max) => pendingPayments(db, after, max), clock, payments },
      {
        everyMs: paymentsPauseMs,
        failed: (error, order) => log.warn({ err: error, order }, 'an order of quota could not be asked about'),
      },
    ),
  );
  closing.add(
    startChannelChecks(channels, channelIntervals, (error) =>
      log.error({ err: error }, 'the balances of channels could not be asked for; it is tried again'),
    ),
  );
  closing.add(
    startLogRetention(
      { settings: () => directory.settings(), clock, usageLog },
      {
        everyMs: retentionPauseMs,
        cleared: ({ before, lines }) =>
          log.info({ before: new Date(before).toISOString(), lines }, 'the usage log was cleared, as an option says'),
        failed: (error) =>
          log.warn({ reason: String(error) }, 'the usage log cannot be cleared now; it is tried again'),
      },
    ),
  );
  closing.add(
    atIntervals(storedResponsesPauseMs, async () => {
      await storedResponses
        .purge()
        .catch((error: unknown) => log.warn({ reason: String(error) }, 'old responses cannot be removed now'));
    }),
  );
  closing.add(
    updatePricesDaily(
      { updates, clock },
      {
        everyMs: pricesPauseMs,
        updated: (facts) =>
          log.info(facts, 'prices were changed as a source lists them, within the bounds of its option'),
        failed: (error, source) => log.warn({ err: error, source }, 'a source of prices cannot be read now'),
      },
    ),
  );
  closing.add(
    inFlight.startNoting(notes, (error) => log.warn({ reason: String(error) }, 'calls under way cannot be noted now')),
  );
}
