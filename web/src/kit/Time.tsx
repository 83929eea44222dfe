import type { ReactNode } from 'react';
import { formatTime } from './time.js';

/** A moment, in Unix seconds; `otherwise` stands where there is none. */
export function Time({
  at,
  otherwise = '—',
}: {
  readonly at: number | null | undefined;
  readonly otherwise?: ReactNode;
}) {
  if (at === null || at === undefined) return <>{otherwise}</>;
  return (
    <time className="figures" dateTime={new Date(at * 1000).toISOString()}>
      {formatTime(at)}
    </time>
  );
}
