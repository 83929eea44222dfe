import { Classes } from '@blueprintjs/core';
import { lazy, Suspense } from 'react';
import type { OperatorTextProps } from './OperatorText.js';

const OperatorText = lazy(async () => ({ default: (await import('./OperatorText.js')).OperatorText }));

/** What an operator wrote in Markdown or HTML, sanitised; the libraries for it are fetched when it is first shown. */
export function LazyOperatorText(props: OperatorTextProps) {
  return (
    <Suspense fallback={<div className={Classes.SKELETON} />}>
      <OperatorText {...props} />
    </Suspense>
  );
}
