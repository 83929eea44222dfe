import { Button } from '@blueprintjs/core';
import { type ReactNode, useId } from 'react';
import { DetailDrawer } from '../table/DetailDrawer.js';
import { commonTexts } from '../words/common.texts.js';
import { useText } from '../words/i18n.js';
import { useConfirm } from './ConfirmProvider.js';

interface FormDrawerProps {
  readonly title: string;
  readonly size?: 'standard' | 'wide';
  readonly submitText: string;
  /** What the form holds is not known yet: there is nothing to send. */
  readonly loading?: boolean;
  /** It has been sent, and is not answered yet. */
  readonly busy: boolean;
  /** What is typed would be lost: whoever closes the drawer is asked first. */
  readonly unsaved?: boolean;
  /** How far an order of many parts has come. */
  readonly progress?: string;
  readonly onClose: () => void;
  /** A form of the id it is given, so that the button at the foot sends it. */
  readonly children: (form: string) => ReactNode;
}

/** An open drawer around one form: cancel and submit stay in sight, and a click beside it throws nothing away. */
export function FormDrawer(props: FormDrawerProps) {
  const { loading = false, busy, unsaved = false, progress, submitText, onClose, children, ...drawer } = props;
  const t = useText(commonTexts);
  const confirm = useConfirm();
  const close = async (): Promise<void> => {
    const question = { title: t('unsaved.title'), body: t('unsaved.body'), confirm: t('unsaved.discard') };
    if (!unsaved || (await confirm({ ...question, intent: 'warning' }))) onClose();
  };
  const form = useId();
  return (
    <DetailDrawer
      {...drawer}
      onClose={() => void close()}
      keepOnOutsideClick
      footer={
        <>
          {progress !== undefined && <span role="status">{progress}</span>}
          <Button text={t('cancel')} onClick={() => void close()} />
          <Button type="submit" form={form} intent="primary" text={submitText} loading={busy} disabled={loading} />
        </>
      }
    >
      {children(form)}
    </DetailDrawer>
  );
}
