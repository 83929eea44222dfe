import { useSyncExternalStore } from 'react';

/** Whether the window is at most so many CSS pixels wide, as the style sheets ask it. */
function atMost(width: number): () => boolean {
  const query = `(max-width: ${width}px)`;
  const subscribe = (listener: () => void): (() => void) => {
    const media = window.matchMedia(query);
    media.addEventListener('change', listener);
    return () => media.removeEventListener('change', listener);
  };
  return () => useSyncExternalStore(subscribe, () => window.matchMedia(query).matches);
}

/** The window is as narrow as a phone. */
export const useNarrow = atMost(600);

/** A menu beside the page would take the room that tables need. */
export const useTight = atMost(1100);
