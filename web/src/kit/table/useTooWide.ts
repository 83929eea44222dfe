import { type RefObject, useLayoutEffect, useRef, useState } from 'react';

interface TooWide {
  /** The place of the table, which is its first child. */
  readonly container: RefObject<HTMLElement | null>;
  readonly isTooWide: boolean;
}

/** Whether a table is wider than its place, whatever changes the width of either. */
export function useTooWide(): TooWide {
  const place = useRef<HTMLElement>(null);
  const [isTooWide, setTooWide] = useState(false);
  useLayoutEffect(() => {
    const outer = place.current;
    const table = outer?.firstElementChild;
    if (outer === null || !(table instanceof HTMLElement)) return undefined;
    const look = (): void => setTooWide(table.offsetWidth > outer.clientWidth);
    look();
    const sizes = new ResizeObserver(look);
    sizes.observe(outer);
    sizes.observe(table);
    return () => sizes.disconnect();
  }, []);
  return { container: place, isTooWide };
}
