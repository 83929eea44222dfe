import type { ChannelId } from '../../domain/kernel/ids.js';
import type { Actor } from '../../domain/user/user.js';
import { authorise } from '../authorise.js';
import { type ChannelTestRun, ChannelTestRuns } from './channel-test-run.js';
import { type ChannelTestPorts, testChannel } from './test-channel.js';

export function channelTests(ports: ChannelTestPorts) {
  const runs = new ChannelTestRuns(ports);
  return {
    test: (actor: Actor, id: ChannelId, model: string) => testChannel(ports, actor, id, model),

    /**
     * Begins to test all channels, whatever their status, and does not wait for it. Channels that are too slow or out of
     * order go out, and those that were switched off automatically come back, as the options say. Throws
     * `test-run-under-way`.
     */
    testAll(actor: Actor): ChannelTestRun {
      authorise(actor, 'admin');
      return runs.begin(true);
    },

    testRun(viewer: Actor): ChannelTestRun {
      authorise(viewer, 'admin-reading');
      return runs.last;
    },

    testAllByTheClock: () => runs.beginByTheClock(),
    stopTesting: () => runs.stop(),
  };
}
