import type { Intent } from '@blueprintjs/core';
import type { JSX, ReactNode } from 'react';
import { Link } from 'react-router-dom';
import { LinkButton } from '../LinkButton.js';
import { useOpenItem } from './openItem.js';

interface DrawerLinkProps {
  /** What the drawer shall show: an id, or a word such as `new`. */
  readonly open: string;
  readonly intent?: Intent;
  readonly icon?: JSX.Element;
  readonly children: ReactNode;
}

/** A link that opens the page's drawer. With `intent` or `icon` it looks like a button. */
export function DrawerLink({ open, intent, icon, children }: DrawerLinkProps) {
  const { openLink } = useOpenItem();
  if (intent === undefined && icon === undefined) return <Link to={openLink(open)}>{children}</Link>;
  return (
    <LinkButton to={openLink(open)} intent={intent} icon={icon}>
      {children}
    </LinkButton>
  );
}
