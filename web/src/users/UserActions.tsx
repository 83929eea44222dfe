import { useMutation } from '@apollo/client/react';
import { Button, ButtonGroup, type Intent, Menu, MenuDivider, MenuItem, PopoverNext } from '@blueprintjs/core';
import { ArrowDown, ArrowUp, Disable, Dollar, Edit, EyeOpen, More, Tick, Trash } from '@blueprintjs/icons';
import type { JSX } from 'react';
import { type ListedUserFragment, ManageUserDocument, type UserAction } from '../generated/users/users.js';
import { useConfirm } from '../kit/form/ConfirmProvider.js';
import { useSignedIn } from '../kit/SessionProvider.js';
import { toaster } from '../kit/Toasts.js';
import { itemOf, useOpenItem } from '../kit/table/openItem.js';
import { useText } from '../kit/words/i18n.js';
import { LastingActions } from './LastingActions.js';
import { actionsFor, mayOpen } from './mayManage.js';
import { usersTexts } from './users.texts.js';

const words = {
  PROMOTE: 'promote',
  DEMOTE: 'demote',
  APPOINT_AUDITOR: 'appointAuditor',
  ENABLE: 'enable',
  DISABLE: 'disable',
  DELETE: 'delete',
} as const satisfies Record<UserAction, string>;

const looks: Record<UserAction, { readonly icon: JSX.Element; readonly intent: Intent }> = {
  PROMOTE: { icon: <ArrowUp />, intent: 'none' },
  DEMOTE: { icon: <ArrowDown />, intent: 'none' },
  APPOINT_AUDITOR: { icon: <EyeOpen />, intent: 'none' },
  ENABLE: { icon: <Tick />, intent: 'none' },
  DISABLE: { icon: <Disable />, intent: 'danger' },
  DELETE: { icon: <Trash />, intent: 'danger' },
};

export function UserActions({ user }: { readonly user: ListedUserFragment }) {
  const t = useText(usersTexts);
  const viewer = useSignedIn();
  const confirm = useConfirm();
  const { show } = useOpenItem();
  const [manage, { loading }] = useMutation(ManageUserDocument);
  if (!mayOpen(viewer, user)) return null;
  const name = user.username;

  const question = (action: UserAction) => {
    switch (action) {
      case 'PROMOTE':
        return { title: t('confirm.promote', { name }), body: t('confirm.promoteBody'), intent: 'primary' as const };
      case 'DEMOTE':
        return { title: t('confirm.demote', { name }) };
      case 'APPOINT_AUDITOR':
        return {
          title: t('confirm.appointAuditor', { name }),
          body: t('confirm.appointAuditorBody'),
          intent: 'primary' as const,
        };
      case 'DISABLE':
        return { title: t('confirm.disable', { name }), body: t('confirm.disableBody') };
      case 'DELETE':
        return { title: t('confirm.delete', { name }), body: t('confirm.deleteBody'), typed: name };
      case 'ENABLE':
        return null;
    }
  };

  const order = async (action: UserAction): Promise<void> => {
    const asked = question(action);
    const agreed = asked === null || (await confirm({ ...asked, confirm: t(`action.${words[action]}`) }));
    if (!agreed) return;
    await manage({ variables: { id: user.id, action } }).then(
      () => toaster.success(t(`done.${words[action]}`, { name })),
      () => undefined, // Said where all mutations fail.
    );
  };

  return (
    <ButtonGroup variant="minimal">
      <Button
        size="small"
        icon={<Dollar size={14} />}
        title={t('action.adjust')}
        aria-label={t('action.adjust')}
        onClick={() => show(itemOf('quota', user.id))}
      />
      <PopoverNext
        placement="bottom-end"
        content={
          <Menu>
            <MenuItem icon={<Edit />} text={t('action.edit')} onClick={() => show(user.id)} />
            <MenuItem icon={<Dollar />} text={t('action.adjust')} onClick={() => show(itemOf('quota', user.id))} />
            {actionsFor(viewer, user).length > 0 && <MenuDivider />}
            {actionsFor(viewer, user).map((action) => (
              <MenuItem
                key={action}
                {...looks[action]}
                text={t(`action.${words[action]}`)}
                onClick={() => void order(action)}
              />
            ))}
            {actionsFor(viewer, user).length > 0 && <LastingActions user={user} />}
          </Menu>
        }
      >
        <Button
          size="small"
          icon={<More />}
          loading={loading}
          title={t('action.menu', { name })}
          aria-label={t('action.menu', { name })}
        />
      </PopoverNext>
    </ButtonGroup>
  );
}
