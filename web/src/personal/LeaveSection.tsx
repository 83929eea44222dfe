import { useMutation } from '@apollo/client/react';
import { Button } from '@blueprintjs/core';
import { DeleteOwnAccountDocument, type PersonalUserFragment } from '../generated/personal/personal.js';
import { useConfirm } from '../kit/form/ConfirmProvider.js';
import { leaveBy } from '../kit/leave.js';
import { useStepUp } from '../kit/proof/StepUpProvider.js';
import { Section } from '../kit/Section.js';
import { useText } from '../kit/words/i18n.js';
import { personalTexts } from './personal.texts.js';

export function LeaveSection({ user }: { readonly user: PersonalUserFragment }) {
  const t = useText(personalTexts);
  const confirm = useConfirm();
  const withStepUp = useStepUp();
  const [leave, { loading }] = useMutation(DeleteOwnAccountDocument, { context: { errors: 'inline' } });
  const isRoot = user.role === 'ROOT';

  const order = async (): Promise<void> => {
    const { username } = user;
    const asked = { title: t('leave.confirm'), body: t('leave.note'), confirm: t('leave.button') };
    if (await confirm({ ...asked, typed: username }))
      await withStepUp('DELETE_ACCOUNT', (stepUp) => leaveBy(() => leave({ variables: { username, stepUp } })));
  };

  return (
    <Section title={t('leave.title')}>
      <p className="section-note">{t(isRoot ? 'leave.root' : 'leave.note')}</p>
      {!isRoot && (
        <Button
          intent="danger"
          variant="outlined"
          text={t('leave.button')}
          loading={loading}
          onClick={() => void order()}
        />
      )}
    </Section>
  );
}
