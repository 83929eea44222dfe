import { type Intent, OverlayToaster, type Toaster } from '@blueprintjs/core';
import { Error as ErrorIcon, Tick, WarningSign } from '@blueprintjs/icons';
import type { JSX } from 'react';

/* Short notices at the top of the page. They can be given from anywhere, also from outside components. */

let shown: Toaster | null = null;

const show = (message: string, intent: Intent, icon: JSX.Element, timeout: number): void => {
  // One and the same notice twice is one notice: a broken connection fails many operations at once.
  shown?.show({ message, intent, icon, timeout }, message);
};

export const toaster = {
  success: (message: string): void => show(message, 'success', <Tick />, 3_000),
  warning: (message: string): void => show(message, 'warning', <WarningSign />, 6_000),
  failure: (message: string): void => show(message, 'danger', <ErrorIcon />, 8_000),
} as const;

const receive = (instance: Toaster | null): void => {
  shown = instance;
};

/** Where notices appear; once per application. */
export function Toasts() {
  return <OverlayToaster ref={receive} position="top" maxToasts={4} canEscapeKeyClear />;
}
