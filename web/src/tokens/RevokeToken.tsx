import { useMutation } from '@apollo/client/react';
import { BanCircle } from '@blueprintjs/icons';
import { type EveryonesTokensQuery, RevokeTokenDocument } from '../generated/tokens/tokens.js';
import { useConfirm } from '../kit/form/ConfirmProvider.js';
import { toaster } from '../kit/Toasts.js';
import { RowAction } from '../kit/table/RowAction.js';
import { useText } from '../kit/words/i18n.js';
import { tokensTexts } from './tokens.texts.js';

type EveryonesToken = EveryonesTokensQuery['allApiKeys']['items'][number];

/** For administrators: ends the use of somebody's token, e.g. one that has leaked. Nothing where it is disabled already. */
export function RevokeToken({ token: { id, name, status, owner, ownerId } }: { readonly token: EveryonesToken }) {
  const t = useText(tokensTexts);
  const confirm = useConfirm();
  const [revoke, { loading }] = useMutation(RevokeTokenDocument);
  if (status === 'DISABLED') return null;

  const askAndRevoke = async (): Promise<void> => {
    const whose = { name: name || id, owner: owner?.username || ownerId };
    const question = { title: t('revoke.title', whose), body: t('revoke.body'), confirm: t('revoke') };
    if (!(await confirm(question))) return;
    await revoke({ variables: { id } }).then(
      () => toaster.success(t('done.disabled', { name: whose.name })),
      // What went wrong is said in a toast already.
      () => undefined,
    );
  };
  return (
    <RowAction
      intent="danger"
      icon={<BanCircle size={14} />}
      label={t('action.disable', { name: name || id })}
      loading={loading}
      onClick={() => void askAndRevoke()}
    />
  );
}
