import { Classes } from '@blueprintjs/core';
import { useSyncExternalStore } from 'react';
import { recall, remember } from './remembered.js';

/* Light or dark: as the system has it, until somebody chooses. */

type Theme = 'light' | 'dark';

const storageKey = 'theme';
const listeners = new Set<() => void>();
const dark = '(prefers-color-scheme: dark)';
const light = '(prefers-color-scheme: light)';

const chosen = (): Theme | null => {
  const stored = recall(storageKey);
  return stored === 'light' || stored === 'dark' ? stored : null;
};

const current = (): Theme => chosen() ?? (window.matchMedia(dark).matches ? 'dark' : 'light');

function apply(): void {
  const theme = current();
  // On the body: dialogs and menus are rendered outside the application's root.
  document.body.classList.toggle(Classes.DARK, theme === 'dark');
  document.documentElement.style.colorScheme = theme;
  for (const listener of listeners) listener();
}

/** To be called once, before anything is rendered. */
export function startTheme(): void {
  // Chromium has been seen to pass over one of them when the system changed: asked both ways, and anew each time.
  for (const query of [dark, light]) window.matchMedia(query).addEventListener('change', apply);
  apply();
}

export function chooseTheme(theme: Theme): void {
  remember(storageKey, theme);
  apply();
}

export const useTheme = (): Theme =>
  useSyncExternalStore((listener) => {
    listeners.add(listener);
    return () => listeners.delete(listener);
  }, current);
