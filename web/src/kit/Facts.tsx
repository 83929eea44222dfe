import type { ReactNode } from 'react';

interface FactsProps {
  /** Amounts to be compared: they stand at the end, line by line. */
  readonly amounts?: boolean;
  readonly children: ReactNode;
}

/** What is known of one thing, name by name. */
export const Facts = ({ amounts = false, children }: FactsProps) => (
  <dl className={amounts ? 'facts facts-amounts' : 'facts'}>{children}</dl>
);

/** Nothing where there is nothing to say. */
export function Fact({ name, children }: { readonly name: string; readonly children: ReactNode }) {
  if (children === null || children === undefined || children === '' || children === false) return null;
  return (
    <div>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  );
}
