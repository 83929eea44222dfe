import { useMutation, useQuery } from '@apollo/client/react';
import { Button, Callout } from '@blueprintjs/core';
import {
  QuarantineEventDocument,
  type ReadModelStateFragment,
  ReadModelsDocument,
} from '../generated/shell/readModels.js';
import { useConfirm } from '../kit/form/ConfirmProvider.js';
import { isRoot, useSignedIn } from '../kit/SessionProvider.js';
import { useText } from '../kit/words/i18n.js';
import { shellTexts } from './shell.texts.js';

const everyMs = 60_000;
const maxReasonLength = 500;

/** Whatever is read from a stopped read model is old. Administrators see that on every page, until it is mended. */
export function StoppedReadModels() {
  const t = useText(shellTexts);
  const { data } = useQuery(ReadModelsDocument, { pollInterval: everyMs, fetchPolicy: 'cache-and-network' });
  const stopped = data?.readModels.filter(({ failure }) => failure !== null) ?? [];
  if (stopped.length === 0) return null;
  const names = stopped.map(({ name }) => name).join(t('readModel.and'));
  return (
    <Callout intent="danger" compact className="shell-warning" role="alert" title={t('readModel.stopped', { names })}>
      <p>{t('readModel.consequence')}</p>
      <ul className="shell-warning-list">
        {stopped.map((model) => (
          <StoppedReadModel key={model.name} model={model} />
        ))}
      </ul>
    </Callout>
  );
}

function StoppedReadModel({ model }: { readonly model: ReadModelStateFragment }) {
  const t = useText(shellTexts);
  const viewer = useSignedIn();
  const confirm = useConfirm();
  const [quarantine, { loading }] = useMutation(QuarantineEventDocument, { refetchQueries: [ReadModelsDocument] });
  const { name, position, head, failure, keepsBooks } = model;
  if (failure === null) return null;
  const { position: at, type, error } = failure;

  const leaveOut = async (): Promise<void> => {
    const question = {
      title: t('readModel.leaveOut.title', { at }),
      body: <p>{t('readModel.leaveOut.body', { name, type })}</p>,
      confirm: t('readModel.leaveOut', { at }),
      typed: String(at),
    };
    if (!(await confirm(question))) return;
    const reason = error.replace(/\p{Cc}/gu, ' ').slice(0, maxReasonLength);
    // What went wrong is said in a toast already.
    await quarantine({ variables: { input: { model: name, position: at, reason } } }).catch(() => undefined);
  };

  return (
    <li>
      <span>{t('readModel.failure', { name, behind: head - position, at, type, error })}</span>
      {keepsBooks ? (
        <span>{t('readModel.books')}</span>
      ) : (
        isRoot(viewer) && (
          <Button
            size="small"
            intent="danger"
            loading={loading}
            text={t('readModel.leaveOut', { at })}
            onClick={() => void leaveOut()}
          />
        )
      )}
    </li>
  );
}
