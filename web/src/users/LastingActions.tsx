import { useMutation } from '@apollo/client/react';
import { MenuItem } from '@blueprintjs/core';
import { LogOut, Remove, Unlock } from '@blueprintjs/icons';
import {
  EndSignInsDocument,
  EraseUserDocument,
  type ListedUserFragment,
  ResetSecondFactorDocument,
} from '../generated/users/users.js';
import { useConfirm } from '../kit/form/ConfirmProvider.js';
import { useStepUp } from '../kit/proof/StepUpProvider.js';
import { renewLists } from '../kit/renewLists.js';
import { isRoot, useSignedIn } from '../kit/SessionProvider.js';
import { toaster } from '../kit/Toasts.js';
import { useText } from '../kit/words/i18n.js';
import { usersTexts } from './users.texts.js';

/** What cannot be taken back: a user is signed out everywhere, loses the second factor, or is erased. */
export function LastingActions({ user }: { readonly user: ListedUserFragment }) {
  const t = useText(usersTexts);
  const viewer = useSignedIn();
  const confirm = useConfirm();
  const withStepUp = useStepUp();
  const [endSignIns] = useMutation(EndSignInsDocument);
  const [resetSecondFactor] = useMutation(ResetSecondFactorDocument, { context: { errors: 'inline' } });
  const [erase, { client }] = useMutation(EraseUserDocument);
  const { id, username: name } = user;
  const variables = { id };

  const signOut = async (): Promise<void> => {
    const asked = { title: t('confirm.endSignIns', { name }), body: t('confirm.endSignInsBody') };
    if (!(await confirm({ ...asked, confirm: t('action.endSignIns') }))) return;
    await endSignIns({ variables }).then(
      () => toaster.success(t('done.endSignIns', { name })),
      () => undefined, // Said where all mutations fail.
    );
  };

  const withoutSecondFactor = async (): Promise<void> => {
    const asked = { title: t('confirm.resetSecondFactor', { name }), body: t('confirm.resetSecondFactorBody') };
    if (!(await confirm({ ...asked, confirm: t('action.resetSecondFactor') }))) return;
    await withStepUp('SECOND_FACTOR', async (stepUp) => {
      await resetSecondFactor({ variables: { id, stepUp } });
      toaster.success(t('done.resetSecondFactor', { name }));
    });
  };

  const forGood = async (): Promise<void> => {
    const asked = { title: t('confirm.erase', { name }), body: t('confirm.eraseBody'), typed: name };
    if (!(await confirm({ ...asked, confirm: t('action.erase') }))) return;
    await erase({ variables }).then(
      async () => {
        toaster.success(t('done.erase', { name }));
        await renewLists(client, 'users');
      },
      () => undefined,
    );
  };

  return (
    <>
      <MenuItem icon={<LogOut />} intent="danger" text={t('action.endSignIns')} onClick={() => void signOut()} />
      {isRoot(viewer) && (
        <MenuItem
          icon={<Unlock />}
          intent="danger"
          text={t('action.resetSecondFactor')}
          onClick={() => void withoutSecondFactor()}
        />
      )}
      <MenuItem icon={<Remove />} intent="danger" text={t('action.erase')} onClick={() => void forGood()} />
    </>
  );
}
