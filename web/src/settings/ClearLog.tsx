import { useApolloClient, useMutation } from '@apollo/client/react';
import { Button } from '@blueprintjs/core';
import { Trash } from '@blueprintjs/icons';
import { useState } from 'react';
import { ClearUsageLogDocument, UsageLogLinesBeforeDocument } from '../generated/settings/settings.js';
import { useConfirm } from '../kit/form/ConfirmProvider.js';
import { TextField } from '../kit/form/Fields.js';
import { fromLocalInput } from '../kit/form/localInput.js';
import { renewLists } from '../kit/renewLists.js';
import { toaster } from '../kit/Toasts.js';
import { formatTime } from '../kit/time.js';
import { useText } from '../kit/words/i18n.js';
import { settingsTexts } from './settings.texts.js';

/** Takes what happened before some moment out of the usage log; how much that is, is said before. */
export function ClearLog() {
  const t = useText(settingsTexts);
  const confirm = useConfirm();
  const client = useApolloClient();
  const [moment, setMoment] = useState('');
  const [problem, setProblem] = useState<string>();
  const [busy, setBusy] = useState(false);
  const [clear] = useMutation(ClearUsageLogDocument);

  const countBefore = async (before: number): Promise<number | undefined> => {
    const { data } = await client.query({
      query: UsageLogLinesBeforeDocument,
      variables: { before },
      fetchPolicy: 'no-cache',
      context: { errors: 'toast' },
    });
    return data?.usageLogLinesBefore;
  };

  const ask = async (): Promise<void> => {
    const before = fromLocalInput(moment);
    if (before === null) return setProblem(t('clear.needed'));
    if (before * 1000 > Date.now()) return setProblem(t('clear.future'));
    const lines = await countBefore(before);
    if (lines === undefined) return;
    const at = formatTime(before);
    if (lines === 0) return toaster.warning(t('clear.nothing', { at }));
    const question = {
      title: t('clear.title'),
      body: t('clear.body', { lines: String(lines), at }),
      confirm: t('clear.confirm'),
      typed: t('clear.typed'),
    };
    if (!(await confirm(question))) return;
    const { data } = await clear({ variables: { before } });
    if (data !== undefined) toaster.success(t('clear.done', { lines: String(data.clearUsageLog) }));
    await renewLists(client, 'log');
  };

  const work = async (): Promise<void> => {
    setBusy(true);
    // Said where all orders fail.
    await ask().catch(() => undefined);
    setBusy(false);
  };

  return (
    <form
      className="setting-order"
      noValidate
      onSubmit={(event) => {
        event.preventDefault();
        void work();
      }}
    >
      <TextField
        label={t('clear.before')}
        hint={t('clear.hint')}
        type="datetime-local"
        value={moment}
        error={problem}
        onChange={(typed) => {
          setMoment(typed);
          setProblem(undefined);
        }}
      />
      <Button
        type="submit"
        intent="danger"
        variant="outlined"
        icon={<Trash />}
        text={t('clear.title')}
        loading={busy}
      />
    </form>
  );
}
