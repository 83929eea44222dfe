import { Button, Classes, Drawer, DrawerSize, H4 } from '@blueprintjs/core';
import { SmallCross } from '@blueprintjs/icons';
import { type ReactNode, useId } from 'react';
import { useNarrow } from '../narrow.js';
import { commonTexts } from '../words/common.texts.js';
import { useText } from '../words/i18n.js';

const widths = { small: DrawerSize.SMALL, standard: 'min(640px, 90%)', wide: 'min(1160px, 96%)' } as const;

interface DetailDrawerProps {
  readonly onClose: () => void;
  readonly title: string;
  readonly size?: keyof typeof widths;
  /** Buttons that stay in sight while the content scrolls. */
  readonly footer?: ReactNode;
  /** A click beside the drawer must not throw away what was typed: Escape and the cross still close it. */
  readonly keepOnOutsideClick?: boolean;
  readonly children: ReactNode;
}

/** An open drawer from the right, as wide as a phone on a phone. The focus goes back to what opened it. */
export function DetailDrawer({
  onClose,
  title,
  size = 'standard',
  footer,
  keepOnOutsideClick = false,
  children,
}: DetailDrawerProps) {
  const t = useText(commonTexts);
  const narrow = useNarrow();
  const heading = useId();
  return (
    <Drawer
      isOpen
      onClose={onClose}
      size={narrow ? '100%' : widths[size]}
      canOutsideClickClose={!keepOnOutsideClick}
      shouldReturnFocusOnClose
    >
      {/* Blueprint's own header would leave the drawer without a role and a name, and its cross in English. */}
      <div role="dialog" aria-modal="true" aria-labelledby={heading} className="drawer-dialog">
        <div className={Classes.DRAWER_HEADER}>
          <H4 id={heading}>{title}</H4>
          <Button
            variant="minimal"
            className={Classes.DIALOG_CLOSE_BUTTON}
            icon={<SmallCross size={20} />}
            aria-label={t('close')}
            onClick={onClose}
          />
        </div>
        <div className={`${Classes.DRAWER_BODY} drawer-content`}>{children}</div>
        {footer !== undefined && <div className={`${Classes.DRAWER_FOOTER} drawer-footer`}>{footer}</div>}
      </div>
    </Drawer>
  );
}
