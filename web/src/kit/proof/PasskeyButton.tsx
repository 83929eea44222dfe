import { Button } from '@blueprintjs/core';
import { Key } from '@blueprintjs/icons';
import type { FactorProof } from '../../generated/kit/proof/proof.js';
import { useText } from '../words/i18n.js';
import { answerByPasskey, hasPasskeys } from './passkeys.js';
import { proofTexts } from './proof.texts.js';
import type { Attempt } from './useAttempt.js';

interface PasskeyButtonProps extends Pick<Attempt, 'busy' | 'attempt'> {
  /** The question to passkeys. */
  readonly ask: () => Promise<string>;
  readonly onProof: (proof: FactorProof) => Promise<void>;
}

/** The other way beside what is typed; nothing where the browser knows no passkeys. */
export function PasskeyButton({ busy, attempt, ask, onProof }: PasskeyButtonProps) {
  const t = useText(proofTexts);
  if (!hasPasskeys()) return null;
  return (
    <Button
      fill
      size="large"
      icon={<Key />}
      className="sign-in-alternative"
      text={t('passkey')}
      disabled={busy}
      onClick={() =>
        void attempt(async () => onProof({ method: 'PASSKEY', value: await answerByPasskey(await ask()) }))
      }
    />
  );
}
