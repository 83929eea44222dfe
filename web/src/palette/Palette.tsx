import './palette.css';
import { useQuery } from '@apollo/client/react';
import { Dialog, InputGroup, Spinner } from '@blueprintjs/core';
import { Search } from '@blueprintjs/icons';
import { type KeyboardEvent, useEffect, useId, useState } from 'react';
import { useNavigate } from 'react-router-dom';
import { PaletteSearchDocument } from '../generated/palette/palette.js';
import { isAdmin, useSignedIn } from '../kit/SessionProvider.js';
import { errorText } from '../kit/words/errors.js';
import { useText } from '../kit/words/i18n.js';
import { paletteTexts } from './palette.texts.js';
import { foundItems, offered, type PaletteItem, withRecent } from './paletteItems.js';
import { recallRecent, rememberRecent } from './recentItems.js';

/** The server is asked once somebody pauses. */
const pauseMs = 200;
const maxTextLength = 100;

interface PaletteProps {
  /** Those the viewer has, by the names they have in the menu. */
  readonly pages: readonly PaletteItem[];
  readonly onClose: () => void;
}

/** Goes to a page, or to one thing, by part of its name. */
export function Palette({ pages, onClose }: PaletteProps) {
  const t = useText(paletteTexts);
  const viewer = useSignedIn();
  const navigate = useNavigate();
  const title = useId();
  const list = useId();
  const [text, setText] = useState('');
  const [chosen, setChosen] = useState(0);
  const [recent] = useState(() => recallRecent(viewer));
  const { found, loading, error } = useFound(text.trim());
  const items = offered(text, { recent, pages, found });
  const active = Math.min(chosen, items.length - 1);
  const optionId = (index: number): string => `${list}-${index}`;

  const go = (item: PaletteItem): void => {
    rememberRecent(viewer, withRecent(recent, item));
    onClose();
    void navigate(item.path);
  };
  const steer = (event: KeyboardEvent): void => {
    // While an input method composes, its keys are its own.
    if (event.nativeEvent.isComposing) return;
    const item = items[active];
    if (event.key === 'ArrowDown') setChosen((active + 1) % Math.max(items.length, 1));
    else if (event.key === 'ArrowUp') setChosen((active + items.length - 1) % Math.max(items.length, 1));
    else if (event.key === 'Enter' && item !== undefined) go(item);
    else return;
    event.preventDefault();
  };
  useEffect(() => {
    document.getElementById(`${list}-${active}`)?.scrollIntoView({ block: 'nearest' });
  }, [list, active]);

  return (
    <Dialog isOpen onClose={onClose} className="palette" aria-labelledby={title} shouldReturnFocusOnClose>
      <h2 id={title} className="visually-hidden">
        {t('title')}
      </h2>
      <InputGroup
        autoFocus
        size="large"
        leftIcon={<Search />}
        rightElement={loading ? <Spinner size={16} className="palette-busy" aria-label={t('searching')} /> : undefined}
        placeholder={t('placeholder')}
        maxLength={maxTextLength}
        value={text}
        onValueChange={(next) => {
          setText(next);
          setChosen(0);
        }}
        onKeyDown={steer}
        role="combobox"
        aria-label={t('title')}
        aria-expanded
        aria-controls={list}
        aria-autocomplete="list"
        aria-activedescendant={items.length === 0 ? undefined : optionId(active)}
      />
      <div id={list} role="listbox" aria-label={t('list')} className="palette-list">
        {items.map((item, index) => (
          // biome-ignore lint/a11y/useKeyWithClickEvents: keys are the field's
          // biome-ignore lint/a11y/useFocusableInteractive: see above
          <div
            key={item.path}
            id={optionId(index)}
            role="option"
            aria-selected={index === active}
            className="palette-option"
            onClick={() => go(item)}
          >
            <span className="palette-name">{item.name}</span>
            <span className="palette-kind">{t(`kind.${item.kind}`)}</span>
          </div>
        ))}
      </div>
      <p role="status" className="palette-note">
        {error !== undefined ? errorText(error) : items.length === 0 && !loading ? t('nothing') : ''}
      </p>
    </Dialog>
  );
}

/** What the server has for a text, once it stays the same for a moment; nothing for none. */
function useFound(text: string) {
  const viewer = useSignedIn();
  const [asked, setAsked] = useState('');
  useEffect(() => {
    const timer = setTimeout(() => setAsked(text), pauseMs);
    return () => clearTimeout(timer);
  }, [text]);
  const { data, loading, error } = useQuery(PaletteSearchDocument, {
    variables: { text: asked, admin: isAdmin(viewer) },
    skip: asked === '',
    // Nothing of it is kept: lists ask for more of the same things.
    fetchPolicy: 'no-cache',
  });
  const isCurrent = asked === text && text !== '';
  return {
    found: data === undefined || !isCurrent ? [] : foundItems(data, viewer),
    loading: loading || (text !== '' && asked !== text),
    error: isCurrent ? error : undefined,
  };
}
