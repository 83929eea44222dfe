import { type Recorded, streams } from '../../domain/events/events.js';
import type { UserId } from '../../domain/kernel/ids.js';
import { testRunFinished } from '../../domain/user/notification.js';
import type { Notify } from '../notifications/notifier.js';
import type { EventStore } from '../ports/storage-ports.js';
import type { Reaction } from './run-reactions.js';

interface ReportTestRunsPorts {
  readonly store: Pick<EventStore, 'streamPages'>;
  readonly root: () => Promise<UserId | null>;
  readonly notify: Notify;
}

/** Root is notified that a test of all channels is over. */
export const reportTestRuns = ({ store, root, notify }: ReportTestRunsPorts): Reaction => ({
  name: 'report-test-runs',
  onlyNews: true,

  asks: ({ event }) => (event.type === 'ChannelTestRunFinished' ? streams.testRuns : null),

  async react(stream) {
    const receiver = await root();
    let last: Recorded | null = null;
    for await (const page of store.streamPages(stream)) last = page.at(-1) ?? last;
    if (receiver !== null && last !== null) await notify(receiver, testRunFinished, last);
  },
});
