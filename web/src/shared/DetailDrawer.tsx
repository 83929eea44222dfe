import { Classes, Drawer, DrawerSize } from '@blueprintjs/core';
import type { ReactNode } from 'react';
import { useNarrow } from './narrow.js';

const widths = { small: DrawerSize.SMALL, standard: 'min(640px, 90%)', large: DrawerSize.LARGE } as const;

export interface DetailDrawerProps {
  readonly isOpen: boolean;
  readonly onClose: () => void;
  readonly title: string;
  readonly size?: keyof typeof widths;
  /** Buttons that stay in sight while the content scrolls. */
  readonly footer?: ReactNode;
  /** A click beside the drawer must not throw away what was typed: Escape and the cross still close it. */
  readonly keepOnOutsideClick?: boolean;
  readonly children: ReactNode;
}

/** A drawer from the right, as wide as a phone on a phone. The focus goes back to what opened it. */
export function DetailDrawer({
  isOpen,
  onClose,
  title,
  size = 'standard',
  footer,
  keepOnOutsideClick = false,
  children,
}: DetailDrawerProps) {
  const narrow = useNarrow();
  return (
    <Drawer
      isOpen={isOpen}
      onClose={onClose}
      title={title}
      size={narrow ? '100%' : widths[size]}
      canOutsideClickClose={!keepOnOutsideClick}
      shouldReturnFocusOnClose
    >
      <div className={`${Classes.DRAWER_BODY} drawer-content`}>{children}</div>
      {footer !== undefined && <div className={`${Classes.DRAWER_FOOTER} drawer-footer`}>{footer}</div>}
    </Drawer>
  );
}
