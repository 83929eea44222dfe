import type { ReactNode } from 'react';
import { LinkButton } from '../LinkButton.js';

interface EmptyListProps {
  /** What there is none of. */
  readonly text: string;
  /** What to do about it, and where. */
  readonly hint?: string;
  readonly to: string;
  readonly children: ReactNode;
}

/** In place of rows where there are none yet: what the list is for, and the way to the first one. */
export function EmptyList({ text, hint, to, children }: EmptyListProps) {
  return (
    <>
      {text}
      {hint !== undefined && <p className="empty-hint">{hint}</p>}
      <p>
        <LinkButton to={to}>{children}</LinkButton>
      </p>
    </>
  );
}
