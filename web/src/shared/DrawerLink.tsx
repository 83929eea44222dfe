import { Classes, type Intent } from '@blueprintjs/core';
import type { JSX, ReactNode } from 'react';
import { Link } from 'react-router-dom';
import { useOpenItem } from './openItem.js';

/** A link that opens the page's drawer. With `intent` or `icon` it looks like a button. */
export function DrawerLink({
  open,
  intent,
  icon,
  children,
}: {
  readonly open: string;
  readonly intent?: Intent;
  readonly icon?: JSX.Element;
  readonly children: ReactNode;
}) {
  const { openLink } = useOpenItem();
  const looksLikeButton = intent !== undefined || icon !== undefined;
  const style = looksLikeButton ? `${Classes.BUTTON} ${intent === undefined ? '' : Classes.intentClass(intent)}` : '';
  return (
    <Link to={openLink(open)} className={style}>
      {icon}
      {looksLikeButton ? <span className={Classes.BUTTON_TEXT}>{children}</span> : children}
    </Link>
  );
}
