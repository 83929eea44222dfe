import { type ReactNode, Suspense, useState } from 'react';
import { useOpenItem } from './openItem.js';

/** What opens over a page, from the first time it does: until then its code is not even fetched. */
export function WhenOpened({ children }: { readonly children: ReactNode }) {
  const { open } = useOpenItem();
  const [opened, setOpened] = useState(open !== null);
  if (open !== null && !opened) setOpened(true);
  return opened ? <Suspense>{children}</Suspense> : null;
}
