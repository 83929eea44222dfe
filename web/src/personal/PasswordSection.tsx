import { useMutation } from '@apollo/client/react';
import { Button } from '@blueprintjs/core';
import { type FormEvent, useState } from 'react';
import { ChangeOwnProfileDocument } from '../generated/personal/personal.js';
import { PasswordField } from '../kit/form/Fields.js';
import { passwordProblem } from '../kit/form/userProblems.js';
import { useStepUp } from '../kit/proof/StepUpProvider.js';
import { Section } from '../kit/Section.js';
import { toaster } from '../kit/Toasts.js';
import { useText } from '../kit/words/i18n.js';
import { personalTexts } from './personal.texts.js';

export function PasswordSection({ hasPassword }: { readonly hasPassword: boolean }) {
  const t = useText(personalTexts);
  const withStepUp = useStepUp();
  const [password, setPassword] = useState('');
  const [again, setAgain] = useState('');
  const [judged, setJudged] = useState(false);
  const [change, { loading }] = useMutation(ChangeOwnProfileDocument, { context: { errors: 'inline' } });
  const tooShortOrLong = passwordProblem(password) !== undefined;
  const differ = password !== again;

  const submit = async (event: FormEvent): Promise<void> => {
    event.preventDefault();
    setJudged(true);
    if (tooShortOrLong || differ) return;
    await withStepUp('PASSWORD', async (stepUp) => {
      await change({ variables: { patch: { password }, stepUp } });
      setPassword('');
      setAgain('');
      setJudged(false);
      toaster.success(t('password.saved'));
    });
  };

  return (
    <Section title={t('password.title')}>
      <p className="section-note">{t(hasPassword ? 'password.note' : 'password.none')}</p>
      <form onSubmit={(event) => void submit(event)} noValidate>
        <PasswordField
          label={t('password.new')}
          hint={t('password.hint')}
          error={judged && tooShortOrLong ? t('password.length') : undefined}
          value={password}
          onChange={setPassword}
          autoComplete="new-password"
        />
        <PasswordField
          label={t('password.again')}
          error={judged && differ ? t('password.differ') : undefined}
          value={again}
          onChange={setAgain}
          autoComplete="new-password"
        />
        <Button type="submit" intent="primary" text={t('password.save')} loading={loading} />
      </form>
    </Section>
  );
}
