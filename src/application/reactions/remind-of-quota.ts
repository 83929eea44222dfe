import { streamKey, streams } from '../../domain/events/events.js';
import { UserId } from '../../domain/kernel/ids.js';
import type { Instant } from '../../domain/kernel/instant.js';
import { quotaRunningOut } from '../../domain/user/notification.js';
import type { NodeDirectory } from '../memory/directory.js';
import type { Balances } from '../memory/quota-gate.js';
import type { Notify } from '../notifications/notifier.js';
import type { Clock } from '../ports/storage-ports.js';
import { quotaStyle, quotaText } from '../quota-text.js';
import type { Reaction } from './run-reactions.js';

interface RemindOfQuotaPorts {
  readonly directory: Pick<NodeDirectory, 'quotaWarningThreshold' | 'settings'>;
  readonly gate: Balances;
  readonly notify: Notify;
  readonly clock: Clock;
  readonly newEventId: (at: Instant) => string;
}

/** Whoever has been charged and has less left than wanted is notified. */
export const remindOfQuota = ({ directory, gate, notify, clock, newEventId }: RemindOfQuotaPorts): Reaction => ({
  name: 'remind-of-quota',
  onlyNews: true,

  asks: ({ event }) => (event.type === 'CallSettled' && event.charged > 0 ? streams.user(event.facts.userId) : null),

  async react(stream) {
    const id = UserId(streamKey(stream));
    const settings = directory.settings();
    const threshold = (await directory.quotaWarningThreshold(id)) ?? settings.number('QuotaRemindThreshold');
    const left = await gate.balance(id);
    if (left >= threshold) return;
    const now = clock.now();
    const topUp = `${settings.text('ServerAddress').replace(/\/+$/, '')}/topup`;
    const style = quotaStyle(settings);
    await notify(id, quotaRunningOut(quotaText(left, style), quotaText(left, style, 'en'), topUp), {
      id: newEventId(now),
      at: now,
    });
  },
});
