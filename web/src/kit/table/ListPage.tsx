import { Card } from '@blueprintjs/core';
import type { ReactNode } from 'react';
import { PageFrame, type PageFrameProps } from '../PageFrame.js';

interface ListPageProps extends PageFrameProps {
  /** Above the list: the filter bar, figures. */
  readonly above?: ReactNode;
}

/** A page that is a list: filters, then a table, on one card. Drawers and dialogs may be among the children. */
export function ListPage({ above, children, ...frame }: ListPageProps) {
  return (
    <PageFrame {...frame}>
      {above}
      <Card className="list-card">{children}</Card>
    </PageFrame>
  );
}
