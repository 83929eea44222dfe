import { useMutation } from '@apollo/client/react';
import { Button } from '@blueprintjs/core';
import {
  AskSecondFactorPasskeyDocument,
  FinishLoginDocument,
  type SecondFactorMethod,
} from '../generated/account/account.js';
import { ProofForm } from '../kit/proof/ProofForm.js';
import { useText } from '../kit/words/i18n.js';
import { accountTexts } from './account.texts.js';
import { noteViewer, useEntered } from './entering.js';

const inline = { errors: 'inline' } as const;

interface SecondStepProps {
  readonly methods: readonly SecondFactorMethod[];
  readonly after: string;
  /** To the first step. */
  readonly onBack: () => void;
}

/** The second half of a sign-in, whatever the first one was. */
export function SecondStep({ methods, after, onBack }: SecondStepProps) {
  const t = useText(accountTexts);
  const entered = useEntered(after);
  const [ask] = useMutation(AskSecondFactorPasskeyDocument, { context: inline });
  const [finish] = useMutation(FinishLoginDocument, {
    context: inline,
    update: (cache, { data }) => noteViewer(cache, data?.finishLogin.user),
  });
  return (
    <>
      <p>{t('second.explain')}</p>
      <ProofForm
        methods={methods}
        submit={t('login.submit')}
        ask={async () => (await ask()).data?.askSecondFactorPasskey ?? ''}
        onProof={async (proof) => {
          await finish({ variables: { proof } });
          entered();
        }}
      />
      <p className="sign-in-links">
        <Button variant="minimal" size="small" text={t('second.back')} onClick={onBack} />
      </p>
    </>
  );
}
