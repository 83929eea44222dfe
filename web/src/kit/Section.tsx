import { Card } from '@blueprintjs/core';
import { type ReactNode, useId } from 'react';

/** A part of the page with a heading of its own. */
export function Section({ title, children }: { readonly title: string; readonly children: ReactNode }) {
  const heading = useId();
  return (
    <Card className="section-card" role="region" aria-labelledby={heading}>
      <h2 id={heading} className="section-heading">
        {title}
      </h2>
      {children}
    </Card>
  );
}
