import { useMutation } from '@apollo/client/react';
import { Button, Callout } from '@blueprintjs/core';
import { useState } from 'react';
import { IssueAccessTokenDocument } from '../generated/personal/personal.js';
import { CopyButton } from '../kit/CopyButton.js';
import { useConfirm } from '../kit/form/ConfirmProvider.js';
import { useStepUp } from '../kit/proof/StepUpProvider.js';
import { Section } from '../kit/Section.js';
import { useText } from '../kit/words/i18n.js';
import { personalTexts } from './personal.texts.js';

export function AccessTokenSection() {
  const t = useText(personalTexts);
  const confirm = useConfirm();
  const withStepUp = useStepUp();
  const [issued, setIssued] = useState<string | null>(null);
  const [issue, { loading }] = useMutation(IssueAccessTokenDocument, {
    fetchPolicy: 'no-cache',
    context: { errors: 'inline' },
  });

  const order = async (): Promise<void> => {
    const asked = { title: t('token.confirm'), body: t('token.confirmBody'), confirm: t('token.issue') };
    if (!(await confirm({ ...asked, intent: 'primary' }))) return;
    await withStepUp('ACCESS_TOKEN', async (stepUp) => {
      const { data } = await issue({ variables: { stepUp } });
      setIssued(data?.issueAccessToken.token ?? null);
    });
  };

  return (
    <Section title={t('token.title')}>
      <p className="section-note">{t('token.note')}</p>
      {issued !== null && (
        <Callout intent="success" compact role="status" className="personal-secret">
          {t('token.once')} <code>{issued}</code> <CopyButton text={issued} label={t('token.copy')} />
        </Callout>
      )}
      <Button text={t('token.issue')} loading={loading} onClick={() => void order()} />
    </Section>
  );
}
