import { useApolloClient, useMutation } from '@apollo/client/react';
import { Button, Callout, Dialog, DialogBody, DialogFooter } from '@blueprintjs/core';
import { type ChangeEvent, useId, useState } from 'react';
import { ImportChannelsDocument, type ImportChannelsMutation } from '../generated/channels/channels.js';
import { renewLists } from '../kit/renewLists.js';
import { toaster } from '../kit/Toasts.js';
import type { Column } from '../kit/table/columns.js';
import { useOpenItem } from '../kit/table/openItem.js';
import { ResourceTable } from '../kit/table/ResourceTable.js';
import { commonTexts } from '../kit/words/common.texts.js';
import { useText } from '../kit/words/i18n.js';
import { channelsTexts } from './channels.texts.js';

type Fault = ImportChannelsMutation['importChannels']['faults'][number];

/** What a gateway takes; looked at before a file is read. */
const maxFileBytes = 512 * 1024;

/** Makes channels of a file, all or none, and shows what is wrong with it: `?open=import`. */
export function ImportDialog() {
  const t = useText(channelsTexts);
  const { open, close } = useOpenItem();
  if (open !== 'import') return null;
  return (
    <Dialog isOpen onClose={close} title={t('import.title')} shouldReturnFocusOnClose>
      <ImportForm onClose={close} />
    </Dialog>
  );
}

function ImportForm({ onClose }: { readonly onClose: () => void }) {
  const t = useText(channelsTexts);
  const common = useText(commonTexts);
  const client = useApolloClient();
  const field = useId();
  const [file, setFile] = useState<string | null>(null);
  const [faults, setFaults] = useState<readonly Fault[]>([]);
  const [order, { loading }] = useMutation(ImportChannelsDocument);

  const choose = async ({ currentTarget }: ChangeEvent<HTMLInputElement>): Promise<void> => {
    const chosen = currentTarget.files?.[0];
    setFaults([]);
    setFile(null);
    if (chosen === undefined) return;
    if (chosen.size > maxFileBytes) toaster.warning(t('import.tooLarge'));
    else setFile(await chosen.text());
  };

  const submit = async (): Promise<void> => {
    if (file === null) return;
    const { data } = await order({ variables: { file } });
    if (data === undefined) return;
    const { ids, faults: found } = data.importChannels;
    setFaults(found);
    if (found.length > 0) return;
    toaster.success(t('import.done', { channels: ids.length }));
    onClose();
    await renewLists(client, 'channels');
  };

  const columns: readonly Column<Fault>[] = [
    { id: 'row', header: t('import.row'), heading: true, cell: ({ row }) => row },
    { id: 'field', header: t('import.field'), cell: (fault) => fault.field },
    { id: 'allowed', header: t('import.allowed'), cell: ({ allowed }) => allowed },
  ];

  return (
    <>
      <DialogBody>
        <p>{t('import.help')}</p>
        <label htmlFor={field}>{t('import.choose')}</label>
        <input
          id={field}
          className="import-file"
          type="file"
          accept="application/json,.json"
          onChange={(event) => void choose(event)}
        />
        {faults.length > 0 && (
          <>
            <Callout intent="danger" compact role="alert">
              {t('import.refused', { faults: faults.length })}
            </Callout>
            <ResourceTable
              label={t('import.faults')}
              columns={columns}
              rows={faults}
              rowKey={(fault) => `${fault.row} ${fault.field}`}
            />
          </>
        )}
      </DialogBody>
      <DialogFooter
        actions={
          <>
            <Button text={common('cancel')} onClick={onClose} />
            <Button
              intent="primary"
              text={t('import.submit')}
              loading={loading}
              disabled={file === null}
              // That it was refused is said where all mutations fail.
              onClick={() => void submit().catch(() => undefined)}
            />
          </>
        }
      />
    </>
  );
}
