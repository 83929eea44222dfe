import { Chat, ChevronDown, ChevronRight } from '@blueprintjs/icons';
import { useId } from 'react';
import { NavLink } from 'react-router-dom';
import { useRemembered } from '../kit/remembered.js';
import { useStatus } from '../kit/SessionProvider.js';
import { useText } from '../kit/words/i18n.js';
import { shellTexts } from './shell.texts.js';

interface ChatMenuProps {
  readonly isOpen: boolean;
  readonly onNavigate: () => void;
}

const isFlag = (value: unknown): value is boolean => typeof value === 'boolean';

/** The operator's chat front ends, folded until somebody wants them. The closed sidebar leads to the first. */
export function ChatMenu({ isOpen, onNavigate }: ChatMenuProps) {
  const t = useText(shellTexts);
  const { chats } = useStatus();
  const [unfolded, setUnfolded] = useRemembered('sidebar-chats', false, isFlag);
  const list = useId();
  if (chats.length === 0) return null;
  const label = t('nav.chat');
  const heading = (
    <>
      <Chat />
      <span className="sidebar-text">{label}</span>
    </>
  );
  return (
    <section className="sidebar-group">
      {isOpen ? (
        <button
          type="button"
          className="sidebar-link sidebar-fold"
          aria-expanded={unfolded}
          aria-controls={list}
          onClick={() => setUnfolded(!unfolded)}
        >
          {heading}
          {unfolded ? <ChevronDown /> : <ChevronRight />}
        </button>
      ) : (
        <NavLink to="/chat" className="sidebar-link" title={label} onClick={onNavigate}>
          {heading}
        </NavLink>
      )}
      <ul id={list} className="sidebar-folded">
        {isOpen &&
          unfolded &&
          chats.map(({ place, name }) => (
            <li key={place}>
              <NavLink to={`/chat/${place}`} className="sidebar-link" onClick={onNavigate}>
                <span className="sidebar-text">{name}</span>
              </NavLink>
            </li>
          ))}
      </ul>
    </section>
  );
}
