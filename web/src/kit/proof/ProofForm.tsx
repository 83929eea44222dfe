import { Button } from '@blueprintjs/core';
import { Key } from '@blueprintjs/icons';
import { type FormEvent, useState } from 'react';
import type { FactorProof, SecondFactorMethod } from '../../generated/kit/proof/proof.js';
import { FormProblem } from '../form/FormProblem.js';
import { TextField } from '../form/fields.js';
import { errorText } from '../words/errors.js';
import { useText } from '../words/i18n.js';
import { answerByPasskey, hasPasskeys, isDeclined } from './passkeys.js';
import { proofTexts } from './proof.texts.js';

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
  const [problem, setProblem] = useState<string | null>(null);
  const [busy, setBusy] = useState(false);

  const attempt = async (prove: () => Promise<FactorProof>): Promise<void> => {
    setProblem(null);
    setBusy(true);
    try {
      await onProof(await prove());
    } catch (error) {
      if (!isDeclined(error)) setProblem(errorText(error));
    } finally {
      setBusy(false);
    }
  };

  const send = (event: FormEvent): void => {
    event.preventDefault();
    if (code.trim() === '') setProblem(t('code.missing'));
    else void attempt(async () => proofOf(code));
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
      {methods.includes('PASSKEY') && hasPasskeys() && (
        <Button
          fill
          size="large"
          icon={<Key />}
          className="door-alternative"
          text={t('passkey')}
          disabled={busy}
          onClick={() => void attempt(async () => ({ method: 'PASSKEY', value: await answerByPasskey(await ask()) }))}
        />
      )}
    </form>
  );
}
