import { useMutation, useQuery } from '@apollo/client/react';
import { Dialog, DialogBody } from '@blueprintjs/core';
import {
  AskStepUpPasskeyDocument,
  OwnFactorsDocument,
  SendStepUpCodeDocument,
  StepUpDocument,
  type StepUpMutationVariables,
  type StepUpPurpose,
} from '../../generated/kit/proof/proof.js';
import { useText } from '../words/i18n.js';
import { OwnProofForm } from './OwnProofForm.js';
import { ProofForm } from './ProofForm.js';
import { proofTexts } from './proof.texts.js';

const inline = { errors: 'inline' } as const;

interface StepUpDialogProps {
  readonly purpose: StepUpPurpose;
  readonly isOpen: boolean;
  /** What was proven; null: nothing, and whoever was asked has given up. */
  readonly onAnswer: (stepUp: string | null) => void;
}

/** Asks for a proof anew, by what this user has. `useStepUp` is the way to it. */
export function StepUpDialog({ purpose, isOpen, onAnswer }: StepUpDialogProps) {
  const t = useText(proofTexts);
  const { data } = useQuery(OwnFactorsDocument, { fetchPolicy: 'network-only' });
  const [askPasskey] = useMutation(AskStepUpPasskeyDocument, { context: inline });
  const [sendCode] = useMutation(SendStepUpCodeDocument, { context: inline });
  const [prove] = useMutation(StepUpDocument, { fetchPolicy: 'no-cache', context: inline });
  const methods = data?.security.stepUpMethods;

  const proven = async (proof: Omit<StepUpMutationVariables, 'purpose'>): Promise<void> =>
    onAnswer((await prove({ variables: { purpose, ...proof } })).data?.stepUp ?? null);
  const ask = async (): Promise<string> => (await askPasskey({ variables: { purpose } })).data?.askStepUpPasskey ?? '';

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
        {methods?.includes('TOTP') && (
          <ProofForm
            methods={methods.filter((method) => method !== 'PASSWORD' && method !== 'MAIL_CODE')}
            submit={t('stepUp.submit')}
            ask={ask}
            onProof={(proof) => proven({ proof })}
          />
        )}
        {methods !== undefined && !methods.includes('TOTP') && (
          <OwnProofForm
            methods={methods}
            ask={ask}
            onProof={proven}
            onSendCode={async () => {
              await sendCode({ variables: { purpose } });
            }}
          />
        )}
      </DialogBody>
    </Dialog>
  );
}
