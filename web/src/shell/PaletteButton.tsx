import { Button } from '@blueprintjs/core';
import { Search } from '@blueprintjs/icons';
import { lazy, Suspense, useEffect, useState } from 'react';
import { useStatus, type Viewer } from '../kit/SessionProvider.js';
import { useText } from '../kit/words/i18n.js';
import { pageGroups, playground } from './pages.js';
import { shellTexts } from './shell.texts.js';

const Palette = lazy(async () => ({ default: (await import('../palette/Palette.js')).Palette }));

const opens = ({ key, ctrlKey, metaKey, altKey, shiftKey }: KeyboardEvent): boolean =>
  key.toLowerCase() === 'k' && (ctrlKey || metaKey) && !altKey && !shiftKey;

/** Opens the palette, as Ctrl-K and Cmd-K do; the same again closes it. */
export function PaletteButton({ viewer }: { readonly viewer: Viewer }) {
  const t = useText(shellTexts);
  const status = useStatus();
  const [isOpen, setOpen] = useState(false);
  useEffect(() => {
    const listen = (event: KeyboardEvent): void => {
      if (!opens(event)) return;
      // Browsers search the web by it.
      event.preventDefault();
      setOpen((before) => !before);
    };
    document.addEventListener('keydown', listen);
    return () => document.removeEventListener('keydown', listen);
  }, []);

  const own = [playground, ...pageGroups(viewer, status).flatMap(({ pages }) => pages)];
  const pages = [
    ...own,
    { path: '/', name: 'home' as const },
    { path: '/pricing', name: 'pricing' as const },
    { path: '/about', name: 'about' as const },
  ].map(({ path, name }) => ({ kind: 'page' as const, name: t(`nav.${name}`), path }));
  return (
    <>
      <Button
        variant="minimal"
        icon={<Search />}
        aria-label={t('palette')}
        aria-haspopup="dialog"
        title={t('palette')}
        onClick={() => setOpen(true)}
      />
      {isOpen && (
        <Suspense>
          <Palette pages={pages} onClose={() => setOpen(false)} />
        </Suspense>
      )}
    </>
  );
}
