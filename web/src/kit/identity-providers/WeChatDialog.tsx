import './identityProviders.css';
import { Button, Dialog, DialogBody, DialogFooter } from '@blueprintjs/core';
import { type FormEvent, useId, useState } from 'react';
import { TextField } from '../form/Fields.js';
import { FormProblem } from '../form/FormProblem.js';
import { useStatus } from '../SessionProvider.js';
import { commonTexts } from '../words/common.texts.js';
import { errorText } from '../words/errors.js';
import { useText } from '../words/i18n.js';
import { identityProviderTexts } from './identityProviders.texts.js';

interface WeChatDialogProps {
  readonly title: string;
  /** What it throws, the dialog says. */
  readonly onCode: (code: string) => Promise<void>;
  readonly onClose: () => void;
}

/** The account to follow, and a field for the code it answers with. */
export function WeChatDialog({ title, onCode, onClose }: WeChatDialogProps) {
  const t = useText(identityProviderTexts);
  const common = useText(commonTexts);
  const { wechatQrCode } = useStatus();
  const form = useId();
  const [code, setCode] = useState('');
  const [problem, setProblem] = useState<string | null>(null);
  const [busy, setBusy] = useState(false);

  const submit = async (event: FormEvent): Promise<void> => {
    event.preventDefault();
    if (code.trim() === '') {
      setProblem(t('wechat.missing'));
      return;
    }
    setBusy(true);
    setProblem(null);
    try {
      await onCode(code.trim());
    } catch (error) {
      setProblem(errorText(error));
    } finally {
      setBusy(false);
    }
  };

  return (
    <Dialog isOpen onClose={onClose} title={title} className="confirm-dialog" shouldReturnFocusOnClose>
      <DialogBody>
        <form id={form} onSubmit={(event) => void submit(event)} noValidate>
          <FormProblem text={problem} />
          {wechatQrCode !== '' && <img className="wechat-picture" src={wechatQrCode} alt={t('wechat.picture')} />}
          <p>{t('wechat.hint')}</p>
          <TextField label={t('wechat.code')} value={code} onChange={setCode} autoComplete="one-time-code" autoFocus />
        </form>
      </DialogBody>
      <DialogFooter
        actions={
          <>
            <Button text={common('cancel')} onClick={onClose} />
            <Button type="submit" form={form} intent="primary" text={common('submit')} loading={busy} />
          </>
        }
      />
    </Dialog>
  );
}
