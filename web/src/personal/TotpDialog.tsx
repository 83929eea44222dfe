import { useMutation } from '@apollo/client/react';
import { Button, Callout, Dialog, DialogBody, DialogFooter } from '@blueprintjs/core';
import { type FormEvent, useState } from 'react';
import { type BeginTotpMutation, EnrolTotpDocument } from '../generated/personal/security.js';
import { CopyButton } from '../kit/CopyButton.js';
import { TextField } from '../kit/form/Fields.js';
import { errorText } from '../kit/words/errors.js';
import { useText } from '../kit/words/i18n.js';
import { QrCode } from './QrCode.js';
import { securityTexts } from './security.texts.js';

interface TotpDialogProps {
  readonly begun: BeginTotpMutation['beginTotp'];
  readonly onClose: () => void;
  readonly onEnrolled: (recoveryCodes: readonly string[]) => void;
}

/** The secret of an authenticator app, which counts once the app has shown that it knows it. */
export function TotpDialog({ begun, onClose, onEnrolled }: TotpDialogProps) {
  const t = useText(securityTexts);
  const [code, setCode] = useState('');
  const [problem, setProblem] = useState<string | undefined>(undefined);
  const [enrol, { loading }] = useMutation(EnrolTotpDocument, {
    fetchPolicy: 'no-cache',
    context: { errors: 'inline' },
  });

  const submit = async (event: FormEvent): Promise<void> => {
    event.preventDefault();
    try {
      const { data } = await enrol({ variables: { code: code.trim() } });
      onEnrolled(data?.enrolTotp ?? []);
    } catch (error) {
      setProblem(errorText(error));
    }
  };

  return (
    <Dialog isOpen onClose={onClose} title={t('totp.title')} className="confirm-dialog" shouldReturnFocusOnClose>
      <form onSubmit={(event) => void submit(event)} noValidate>
        <DialogBody>
          <p>{t('totp.scan')}</p>
          <QrCode text={begun.address} label={t('totp.qr')} />
          <p className="personal-secret">
            <code>{begun.secret}</code> <CopyButton text={begun.secret} label={t('totp.secret')} />
          </p>
          <TextField
            label={t('totp.code')}
            error={problem}
            value={code}
            onChange={setCode}
            autoComplete="one-time-code"
            maxLength={12}
            monospace
            autoFocus
          />
        </DialogBody>
        <DialogFooter actions={<Button type="submit" intent="primary" text={t('totp.confirm')} loading={loading} />} />
      </form>
    </Dialog>
  );
}

interface RecoveryCodesDialogProps {
  readonly codes: readonly string[];
  readonly onClose: () => void;
}

/** Closed by its button only: what is in it is shown this once. */
export function RecoveryCodesDialog({ codes, onClose }: RecoveryCodesDialogProps) {
  const t = useText(securityTexts);
  return (
    <Dialog
      isOpen
      title={t('codes.title')}
      className="confirm-dialog"
      canEscapeKeyClose={false}
      canOutsideClickClose={false}
      isCloseButtonShown={false}
      shouldReturnFocusOnClose
    >
      <DialogBody>
        <Callout intent="warning" compact>
          {t('codes.explain')}
        </Callout>
        <ul className="recovery-codes">
          {codes.map((code) => (
            <li key={code}>
              <code>{code}</code>
            </li>
          ))}
        </ul>
      </DialogBody>
      <DialogFooter
        actions={
          <>
            <CopyButton text={codes.join('\n')} caption={t('codes.copy')} />
            <Button intent="primary" text={t('codes.done')} onClick={onClose} />
          </>
        }
      />
    </Dialog>
  );
}
