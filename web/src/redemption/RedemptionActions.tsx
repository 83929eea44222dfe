import { useMutation } from '@apollo/client/react';
import { ButtonGroup } from '@blueprintjs/core';
import { BanCircle, Edit, Tick, Trash } from '@blueprintjs/icons';
import { DeleteCodeDocument, type ListedCodeFragment, SwitchCodeDocument } from '../generated/redemption/redemption.js';
import { CopyButton } from '../kit/CopyButton.js';
import { useConfirm } from '../kit/form/ConfirmProvider.js';
import { renewLists } from '../kit/renewLists.js';
import { toaster } from '../kit/Toasts.js';
import { useOpenItem } from '../kit/table/openItem.js';
import { RowAction } from '../kit/table/RowAction.js';
import { commonTexts } from '../kit/words/common.texts.js';
import { useText } from '../kit/words/i18n.js';
import { redemptionTexts } from './redemption.texts.js';

/** What can be done to a code: little, once it has been used. */
export function RedemptionActions({ redemption }: { readonly redemption: ListedCodeFragment }) {
  const t = useText(redemptionTexts);
  const common = useText(commonTexts);
  const confirm = useConfirm();
  const { show } = useOpenItem();
  const [change, changing] = useMutation(SwitchCodeDocument);
  const [remove, removing] = useMutation(DeleteCodeDocument);
  const { id, name, code, status } = redemption;
  const isUnused = status === 'UNUSED';

  const toggle = async (): Promise<void> => {
    const question = { title: t('disable.title', { name }), body: t('disable.body'), confirm: common('disable') };
    if (isUnused && !(await confirm(question))) return;
    await change({ variables: { id, enabled: !isUnused } }).then(
      () => toaster.success(t(isUnused ? 'done.disabled' : 'done.enabled', { name })),
      () => undefined,
    );
  };
  const askAndDelete = async (): Promise<void> => {
    const body = t(status === 'USED' ? 'delete.used' : 'delete.body');
    if (!(await confirm({ title: t('delete.title', { name }), body, confirm: common('delete') }))) return;
    await remove({ variables: { id } }).then(
      async () => {
        toaster.success(t('done.deleted', { name }));
        await renewLists(removing.client, 'redemptions');
      },
      () => undefined,
    );
  };

  const switchText = t(isUnused ? 'action.disable' : 'action.enable', { name });
  return (
    <ButtonGroup className="row-actions">
      {code !== '' && <CopyButton text={code} label={t('code.copy', { name })} />}
      {status !== 'USED' && (
        <RowAction
          icon={isUnused ? <BanCircle size={14} /> : <Tick size={14} />}
          intent={isUnused ? 'none' : 'success'}
          label={switchText}
          loading={changing.loading}
          onClick={() => void toggle()}
        />
      )}
      {isUnused && <RowAction icon={<Edit size={14} />} label={t('action.edit', { name })} onClick={() => show(id)} />}
      <RowAction
        intent="danger"
        icon={<Trash size={14} />}
        label={t('action.delete', { name })}
        loading={removing.loading}
        onClick={() => void askAndDelete()}
      />
    </ButtonGroup>
  );
}
