import { useMutation, useQuery } from '@apollo/client/react';
import { Dialog, DialogBody } from '@blueprintjs/core';
import {
  AskStepUpPasskeyDocument,
  OwnFactorsDocument,
  type SecondFactorMethod,
  StepUpDocument,
  type StepUpPurpose,
} from '../../generated/kit/proof/proof.js';
import { useText } from '../words/i18n.js';
import { ProofForm } from './ProofForm.js';
import { proofTexts } from './proof.texts.js';

const inline = { errors: 'inline' } as const;
const byCode: readonly SecondFactorMethod[] = ['TOTP', 'RECOVERY_CODE'];
const byPasskeyToo: readonly SecondFactorMethod[] = [...byCode, 'PASSKEY'];

interface StepUpDialogProps {
  readonly purpose: StepUpPurpose;
  readonly isOpen: boolean;
  /** What was proven; null: nothing, and whoever was asked has given up. */
  readonly onAnswer: (stepUp: string | null) => void;
}

/** Asks for a proof anew. `useStepUp` is the way to it. */
export function StepUpDialog({ purpose, isOpen, onAnswer }: StepUpDialogProps) {
  const t = useText(proofTexts);
  const { data } = useQuery(OwnFactorsDocument, { fetchPolicy: 'network-only' });
  const [ask] = useMutation(AskStepUpPasskeyDocument, { context: inline });
  const [prove] = useMutation(StepUpDocument, { fetchPolicy: 'no-cache', context: inline });
  const hasPasskey = (data?.security.passkeys.length ?? 0) > 0;
  return (
    <Dialog
      isOpen={isOpen}
      onClose={() => onAnswer(null)}
      title={t('stepUp.title')}
      className="confirm-dialog"
      shouldReturnFocusOnClose
    >
      <DialogBody>
        <p>{t('stepUp.explain')}</p>
        <ProofForm
          methods={hasPasskey ? byPasskeyToo : byCode}
          submit={t('stepUp.submit')}
          ask={async () => (await ask({ variables: { purpose } })).data?.askStepUpPasskey ?? ''}
          onProof={async (proof) => onAnswer((await prove({ variables: { purpose, proof } })).data?.stepUp ?? null)}
        />
      </DialogBody>
    </Dialog>
  );
}
