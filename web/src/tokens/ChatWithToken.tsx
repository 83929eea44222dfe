import { Button, Menu, MenuItem, PopoverNext } from '@blueprintjs/core';
import { Chat } from '@blueprintjs/icons';
import { useNavigate } from 'react-router-dom';
import type { OwnTokenFragment } from '../generated/tokens/tokens.js';
import { useStatus } from '../kit/SessionProvider.js';
import { useText } from '../kit/words/i18n.js';
import { tokensTexts } from './tokens.texts.js';

/** To the operator's chat front ends, with this token. The key stands in no address of ours: the page asks for it. */
export function ChatWithToken({ token: { id, name } }: { readonly token: Pick<OwnTokenFragment, 'id' | 'name'> }) {
  const t = useText(tokensTexts);
  const navigate = useNavigate();
  const { chats } = useStatus();
  if (chats.length === 0) return null;
  const label = t('action.chat', { name });
  const menu = (
    <Menu aria-label={label}>
      {chats.map((chat) => {
        const path = `/chat/${chat.place}?token=${id}`;
        return (
          <MenuItem
            key={chat.place}
            text={chat.name}
            href={path}
            onClick={(event) => {
              event.preventDefault();
              void navigate(path);
            }}
          />
        );
      })}
    </Menu>
  );
  return (
    <PopoverNext placement="bottom-end" arrow={false} content={menu}>
      <Button variant="minimal" size="small" icon={<Chat size={14} />} aria-label={label} title={label} />
    </PopoverNext>
  );
}
