import { Button } from '@blueprintjs/core';
import { type ReactNode, useId } from 'react';
import { DetailDrawer } from '../table/DetailDrawer.js';
import { commonTexts } from '../words/common.texts.js';
import { useText } from '../words/i18n.js';

interface FormDrawerProps {
  readonly title: string;
  readonly submitText: string;
  /** What the form holds is not known yet: there is nothing to send. */
  readonly loading?: boolean;
  /** It has been sent, and is not answered yet. */
  readonly busy: boolean;
  /** How far an order of many parts has come. */
  readonly progress?: string;
  readonly onClose: () => void;
  /** A form of the id it is given, so that the button at the foot sends it. */
  readonly children: (form: string) => ReactNode;
}

/** An open drawer around one form: cancel and submit stay in sight, and a click beside it throws nothing away. */
export function FormDrawer({ loading = false, busy, progress, submitText, children, ...drawer }: FormDrawerProps) {
  const t = useText(commonTexts);
  const form = useId();
  return (
    <DetailDrawer
      {...drawer}
      keepOnOutsideClick
      footer={
        <>
          {progress !== undefined && <span role="status">{progress}</span>}
          <Button text={t('cancel')} onClick={drawer.onClose} />
          <Button type="submit" form={form} intent="primary" text={submitText} loading={busy} disabled={loading} />
        </>
      }
    >
      {children(form)}
    </DetailDrawer>
  );
}
