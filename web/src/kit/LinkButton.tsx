import { Classes, type Intent } from '@blueprintjs/core';
import type { JSX, ReactNode } from 'react';
import { Link, type To } from 'react-router-dom';

interface LinkButtonProps {
  readonly to: To;
  readonly intent?: Intent;
  readonly icon?: JSX.Element;
  readonly large?: boolean;
  readonly children: ReactNode;
}

/** A link that looks like a button: it can be opened in a tab of its own, as links can. */
export function LinkButton({ to, intent = 'none', icon, large = false, children }: LinkButtonProps) {
  const classes = [Classes.BUTTON, Classes.intentClass(intent), large ? Classes.LARGE : ''];
  return (
    <Link to={to} className={classes.filter(Boolean).join(' ')}>
      {icon}
      <span className={Classes.BUTTON_TEXT}>{children}</span>
    </Link>
  );
}
