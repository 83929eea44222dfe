import { useMutation } from '@apollo/client/react';
import { ButtonGroup } from '@blueprintjs/core';
import { BanCircle, Code, Edit, Tick, Trash } from '@blueprintjs/icons';
import { DeleteTokenDocument, type OwnTokenFragment, SwitchTokenDocument } from '../generated/tokens/tokens.js';
import { CopyButton } from '../kit/CopyButton.js';
import { useConfirm } from '../kit/form/ConfirmProvider.js';
import { renewLists } from '../kit/renewLists.js';
import { toaster } from '../kit/Toasts.js';
import { itemOf, useOpenItem } from '../kit/table/openItem.js';
import { RowAction } from '../kit/table/RowAction.js';
import { commonTexts } from '../kit/words/common.texts.js';
import { useText } from '../kit/words/i18n.js';
import { ChatWithToken } from './ChatWithToken.js';
import { useKind } from './shownKey.js';
import { tokensTexts } from './tokens.texts.js';

/** What can be done to an own token. */
export function TokenActions({ token }: { readonly token: OwnTokenFragment }) {
  const t = useText(tokensTexts);
  const common = useText(commonTexts);
  const confirm = useConfirm();
  const { show } = useOpenItem();
  const [change, changing] = useMutation(SwitchTokenDocument);
  const [remove, removing] = useMutation(DeleteTokenDocument);
  const { id, name, key, status } = token;
  const enabled = status === 'ENABLED';

  const toggle = (): void => {
    void change({ variables: { id, enabled: !enabled } }).then(
      () => toaster.success(t(enabled ? 'done.disabled' : 'done.enabled', { name })),
      () => undefined,
    );
  };
  const askAndDelete = async (): Promise<void> => {
    if (!(await confirm({ title: t('delete.title', { name }), body: t('delete.body'), confirm: common('delete') })))
      return;
    await remove({ variables: { id } }).then(
      async () => {
        toaster.success(t('done.deleted', { name }));
        await renewLists(removing.client, 'apiKeys');
      },
      () => undefined,
    );
  };

  const switchText = t(enabled ? 'action.disable' : 'action.enable', { name });
  return (
    <ButtonGroup className="row-actions">
      {key !== null && <CopyButton text={key} label={t('key.copy', { name })} isSecret />}
      {key !== null && (
        <RowAction
          icon={<Code size={14} />}
          label={t('action.use', { name })}
          onClick={() => show(itemOf(useKind, id))}
        />
      )}
      {key !== null && enabled && <ChatWithToken token={token} />}
      <RowAction
        icon={enabled ? <BanCircle size={14} /> : <Tick size={14} />}
        intent={enabled ? 'none' : 'success'}
        label={switchText}
        loading={changing.loading}
        onClick={toggle}
      />
      <RowAction icon={<Edit size={14} />} label={t('action.edit', { name })} onClick={() => show(id)} />
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
