import { useMutation } from '@apollo/client/react';
import { Button, Menu, MenuDivider, MenuItem, PopoverNext } from '@blueprintjs/core';
import { CaretDown, Cog, LogOut, User } from '@blueprintjs/icons';
import { useNavigate } from 'react-router-dom';
import { LogoutDocument } from '../generated/kit/shell.js';
import { leaveBy } from '../kit/leave.js';
import type { Viewer } from '../kit/SessionProvider.js';
import { useText } from '../kit/words/i18n.js';
import { shellTexts } from './shell.texts.js';

export function UserMenu({ viewer }: { readonly viewer: Viewer }) {
  const t = useText(shellTexts);
  const navigate = useNavigate();
  const [logout, { loading }] = useMutation(LogoutDocument);
  const name = viewer.displayName === '' ? viewer.username : viewer.displayName;
  const menu = (
    <Menu>
      <MenuDivider title={`${viewer.username} · ${t(`role.${viewer.role}`)}`} />
      <MenuItem
        icon={<Cog />}
        text={t('account.personal')}
        href="/personal"
        onClick={(event) => {
          event.preventDefault();
          void navigate('/personal');
        }}
      />
      <MenuItem
        icon={<LogOut />}
        text={t('account.logout')}
        disabled={loading}
        // What went wrong is said in a toast already.
        onClick={() => void leaveBy(logout).catch(() => undefined)}
      />
    </Menu>
  );
  return (
    <PopoverNext placement="bottom-end" arrow={false} content={menu}>
      <Button
        variant="minimal"
        icon={<User />}
        endIcon={<CaretDown />}
        text={<span className="user-name">{name}</span>}
        aria-label={t('account.menu', { name })}
      />
    </PopoverNext>
  );
}
