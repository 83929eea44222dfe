import { useSubscription } from '@apollo/client/react';
import { ProgressBar } from '@blueprintjs/core';
import { useRef } from 'react';
import { ChannelTestRunDocument } from '../generated/channels/channels.js';
import { renewLists } from '../kit/renewLists.js';
import { toaster } from '../kit/Toasts.js';
import { useText } from '../kit/words/i18n.js';
import { channelsTexts } from './channels.texts.js';

/** How far the test of all channels has come, whoever began it; and, to whoever was here before its end, what it came to. */
export function TestRunProgress() {
  const t = useText(channelsTexts);
  /** The last run that is over and was announced, or was over before. A short one is never seen running. */
  const over = useRef<number | null>(null);
  const { data } = useSubscription(ChannelTestRunDocument, {
    onData: ({ client, data: { data: payload } }) => {
      const run = payload?.channelTestRun;
      if (run === undefined) return;
      const { number, running } = run;
      const last = over.current ?? (running ? number - 1 : number);
      over.current = running ? last : number;
      if (!running && number > 0 && number !== last) {
        const { tested, failed, disabled, enabled } = run;
        const summary = t('done.testedAll', { passed: tested - failed, failed, disabled, enabled });
        if (failed === 0) toaster.success(summary);
        else toaster.warning(summary);
        // Who is among those that failed may be another now.
        void renewLists(client, 'channels');
      }
    },
  });
  const run = data?.channelTestRun;
  if (run === undefined || !run.running) return null;
  const progress = t('progress.testingAll', { done: run.done, channels: run.total });
  return (
    <div className="test-run" role="status">
      <span>{progress}</span>
      <ProgressBar intent="primary" aria-label={progress} value={run.total === 0 ? 1 : run.done / run.total} />
    </div>
  );
}
