import { Button } from '@blueprintjs/core';
import { type FormEvent, useState } from 'react';
import type { StepUpMethod, StepUpMutationVariables } from '../../generated/kit/proof/proof.js';
import { PasswordField, TextField } from '../form/Fields.js';
import { FormProblem } from '../form/FormProblem.js';
import { toaster } from '../Toasts.js';
import { useText } from '../words/i18n.js';
import { PasskeyButton } from './PasskeyButton.js';
import { proofTexts } from './proof.texts.js';
import { useAttempt } from './useAttempt.js';

interface OwnProofFormProps {
  readonly methods: readonly StepUpMethod[];
  /** The question to passkeys. */
  readonly ask: () => Promise<string>;
  readonly onSendCode: () => Promise<void>;
  /** Throws where the proof is not accepted; the form says why. */
  readonly onProof: (proof: Omit<StepUpMutationVariables, 'purpose'>) => Promise<void>;
}

/** Proving who one is without a second factor: by the password, a code by mail where there is none, or a passkey. */
export function OwnProofForm({ methods, ask, onSendCode, onProof }: OwnProofFormProps) {
  const t = useText(proofTexts);
  const [text, setText] = useState('');
  const { busy, problem, setProblem, attempt } = useAttempt();
  const byPassword = methods.includes('PASSWORD');
  const byMail = methods.includes('MAIL_CODE');

  const send = (event: FormEvent): void => {
    event.preventDefault();
    if (text === '') setProblem(t(byPassword ? 'password.missing' : 'code.missing'));
    else void attempt(() => onProof(byPassword ? { password: text } : { mailCode: text.trim() }));
  };

  return (
    <form onSubmit={send} noValidate>
      <FormProblem text={problem} />
      {byPassword && (
        <PasswordField label={t('password')} value={text} onChange={setText} autoComplete="current-password" />
      )}
      {byMail && (
        <>
          <Button
            fill
            text={t('mailCode.send')}
            disabled={busy}
            onClick={() =>
              void attempt(async () => {
                await onSendCode();
                toaster.success(t('mailCode.sent'));
              })
            }
          />
          <TextField
            label={t('mailCode')}
            hint={t('mailCode.hint')}
            value={text}
            onChange={setText}
            autoComplete="one-time-code"
            maxLength={64}
            monospace
          />
        </>
      )}
      {(byPassword || byMail) && (
        <Button type="submit" intent="primary" fill size="large" text={t('stepUp.submit')} loading={busy} />
      )}
      {methods.includes('PASSKEY') && (
        <PasskeyButton busy={busy} attempt={attempt} ask={ask} onProof={(proof) => onProof({ proof })} />
      )}
    </form>
  );
}
