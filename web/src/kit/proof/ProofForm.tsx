import { Button } from '@blueprintjs/core';
import { type FormEvent, useState } from 'react';
import type { FactorProof, SecondFactorMethod } from '../../generated/kit/proof/proof.js';
import { TextField } from '../form/Fields.js';
import { FormProblem } from '../form/FormProblem.js';
import { useText } from '../words/i18n.js';
import { PasskeyButton } from './PasskeyButton.js';
import { proofTexts } from './proof.texts.js';
import { useAttempt } from './useAttempt.js';

interface ProofFormProps {
  readonly methods: readonly SecondFactorMethod[];
  readonly submit: string;
  /** The question to passkeys. */
  readonly ask: () => Promise<string>;
  /** Throws where the proof is not accepted; the form says why. */
  readonly onProof: (proof: FactorProof) => Promise<void>;
}

/** Six digits are of an app; anything else is a recovery code. */
const proofOf = (code: string): FactorProof => {
  const value = code.trim();
  return { method: /^\d{3}\s?\d{3}$/.test(value) ? 'TOTP' : 'RECOVERY_CODE', value };
};

/** Proving a second time who one is: by a code, or by a passkey. */
export function ProofForm({ methods, submit, ask, onProof }: ProofFormProps) {
  const t = useText(proofTexts);
  const [code, setCode] = useState('');
  const { busy, problem, setProblem, attempt } = useAttempt();

  const send = (event: FormEvent): void => {
    event.preventDefault();
    if (code.trim() === '') setProblem(t('code.missing'));
    else void attempt(() => onProof(proofOf(code)));
  };

  return (
    <form onSubmit={send} noValidate>
      <FormProblem text={problem} />
      <TextField
        label={t('code')}
        hint={t('code.hint')}
        value={code}
        onChange={setCode}
        autoComplete="one-time-code"
        maxLength={64}
        monospace
        autoFocus
      />
      <Button type="submit" intent="primary" fill size="large" text={submit} loading={busy} />
      {methods.includes('PASSKEY') && <PasskeyButton busy={busy} attempt={attempt} ask={ask} onProof={onProof} />}
    </form>
  );
}
