import { useEffect, useRef } from 'react';
import { useLocation } from 'react-router-dom';
import { useOpenItem } from '../kit/table/openItem.js';

/**
 * When the drawer of a page closes, by whatever way, the focus goes back to where it was on the page: drawers leave
 * with the address, before they could hand it back themselves, and menus they were opened from are gone by then.
 */
export function useReturnedFocus(): void {
  const { open } = useOpenItem();
  const { pathname } = useLocation();
  const last = useRef<HTMLElement | null>(null);
  const before = useRef({ open, pathname });

  useEffect(() => {
    const note = ({ target }: FocusEvent): void => {
      if (target instanceof HTMLElement && target.closest('#main') !== null) last.current = target;
    };
    document.addEventListener('focusin', note);
    return () => document.removeEventListener('focusin', note);
  }, []);

  useEffect(() => {
    const closed = before.current.open !== null && open === null && before.current.pathname === pathname;
    before.current = { open, pathname };
    if (!closed) return;
    // What was opened may have been deleted meanwhile.
    const focused = last.current?.isConnected === true ? last.current : document.getElementById('main');
    focused?.focus({ preventScroll: true });
  }, [open, pathname]);
}
