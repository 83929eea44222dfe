import { useMutation } from '@apollo/client/react';
import { Button } from '@blueprintjs/core';
import { type FormEvent, useState } from 'react';
import { ChangeOwnProfileDocument, type PersonalUserFragment } from '../generated/personal/personal.js';
import { Fact, Facts } from '../kit/Facts.js';
import { formatExactly } from '../kit/figures.js';
import { TextField } from '../kit/form/Fields.js';
import { nameProblems } from '../kit/form/userProblems.js';
import { useStepUp } from '../kit/proof/StepUpProvider.js';
import { QuotaText } from '../kit/QuotaText.js';
import { Section } from '../kit/Section.js';
import { toaster } from '../kit/Toasts.js';
import { useText } from '../kit/words/i18n.js';
import { personalTexts } from './personal.texts.js';

export function ProfileSection({ user }: { readonly user: PersonalUserFragment }) {
  const t = useText(personalTexts);
  const withStepUp = useStepUp();
  const [draft, setDraft] = useState({ username: user.username, displayName: user.displayName });
  const [judged, setJudged] = useState(false);
  const [change, { loading }] = useMutation(ChangeOwnProfileDocument, { context: { errors: 'inline' } });
  const username = draft.username.trim();
  const problems = nameProblems(draft);
  // A name from before the limit may stay.
  const usernameWrong = username !== user.username && problems.username !== undefined;
  const displayNameWrong = problems.displayName !== undefined;

  const submit = async (event: FormEvent): Promise<void> => {
    event.preventDefault();
    setJudged(true);
    if (usernameWrong || displayNameWrong) return;
    const patch = {
      ...(username === user.username ? {} : { username }),
      ...(draft.displayName === user.displayName ? {} : { displayName: draft.displayName }),
    };
    await withStepUp('PASSWORD', async (stepUp) => {
      await change({ variables: { patch, stepUp } });
      toaster.success(t('profile.saved'));
    });
  };

  return (
    <Section title={t('profile.title')}>
      <Facts>
        <Fact name={t('profile.balance')}>
          <QuotaText quota={user.quota} />
        </Fact>
        <Fact name={t('profile.used')}>
          <QuotaText quota={user.usedQuota} />
        </Fact>
        <Fact name={t('profile.requests')}>
          <span className="figures">{formatExactly(user.requestCount)}</span>
        </Fact>
        <Fact name={t('profile.group')}>{user.group}</Fact>
      </Facts>
      <form onSubmit={(event) => void submit(event)} noValidate>
        <TextField
          label={t('profile.username')}
          hint={t('profile.usernameHint')}
          error={judged && usernameWrong ? t('profile.usernameWrong') : undefined}
          value={draft.username}
          onChange={(next) => setDraft({ ...draft, username: next })}
          autoComplete="username"
        />
        <TextField
          label={t('profile.displayName')}
          hint={t('profile.displayNameHint')}
          error={judged && displayNameWrong ? t('profile.displayNameWrong') : undefined}
          value={draft.displayName}
          onChange={(next) => setDraft({ ...draft, displayName: next })}
          autoComplete="name"
        />
        <Button type="submit" intent="primary" text={t('profile.save')} loading={loading} />
      </form>
    </Section>
  );
}
