import { type Intent, Tag } from '@blueprintjs/core';
import type { ReactNode } from 'react';

/** A state in one word; its colour is never the only sign of it. `reason` is shown on hover and focus. */
export function StatusTag({
  intent = 'none',
  reason,
  children,
}: {
  readonly intent?: Intent;
  readonly reason?: string;
  readonly children: ReactNode;
}) {
  return (
    <Tag minimal intent={intent} title={reason}>
      {children}
    </Tag>
  );
}
