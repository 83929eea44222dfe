import { Button, type ButtonProps } from '@blueprintjs/core';
import type { ReactElement } from 'react';

interface RowActionProps extends Pick<ButtonProps, 'intent' | 'loading'> {
  /** What it does, and to what: shown at the pointer, and announced by screen readers. */
  readonly label: string;
  readonly icon: ReactElement;
  readonly onClick: () => void;
}

/** A small button without words in the row of a list. */
export const RowAction = ({ label, icon, onClick, ...others }: RowActionProps) => (
  <Button
    variant="minimal"
    size="small"
    icon={icon}
    aria-label={label}
    title={label}
    onClick={() => onClick()}
    {...others}
  />
);
