import { useMutation } from '@apollo/client/react';
import { Button, Callout } from '@blueprintjs/core';
import { type FormEvent, useEffect, useState } from 'react';
import { useNavigate } from 'react-router-dom';
import { CompleteSetupDocument } from '../generated/setup/setup.js';
import { PasswordField, TextField } from '../kit/form/Fields.js';
import { FormProblem } from '../kit/form/FormProblem.js';
import { useStatus } from '../kit/SessionProvider.js';
import { SignInCard } from '../kit/SignInCard.js';
import { errorText, failureCode } from '../kit/words/errors.js';
import { useText } from '../kit/words/i18n.js';
import { ModeChoice } from './ModeChoice.js';
import { setupTexts } from './setup.texts.js';
import { codeInHash, emptySetupForm, problemsIn, type SetupForm } from './setupForm.js';

/** The setup has signed in, and the dashboard says what comes next. Loaded anew: all that was known of nobody is old. */
const toConsole = (): void => window.location.assign('/detail');

/** Somebody else was faster: this page has nothing left to do. */
const toLogin = (): void => window.location.assign('/login');

export function SetupPage() {
  const t = useText(setupTexts);
  const { setUpCodeNeeded } = useStatus();
  const navigate = useNavigate();
  const [form, setForm] = useState(() => ({ ...emptySetupForm, code: codeInHash(window.location.hash) }));
  const [cameByLink] = useState(form.code !== '');
  // Neither the history nor who looks over a shoulder keeps it.
  useEffect(() => {
    if (cameByLink) void navigate('.', { replace: true });
  }, [cameByLink, navigate]);
  const [wasSubmitted, setWasSubmitted] = useState(false);
  const [complete, { loading, error, data }] = useMutation(CompleteSetupDocument, {
    context: { errors: 'inline' },
    // The answer must not reach the cache: the page would be gone before it has said that all went well.
    fetchPolicy: 'no-cache',
    onCompleted: toConsole,
    onError: (failure) => {
      if (failureCode(failure) === 'already-set-up') toLogin();
    },
  });
  const problems = wasSubmitted ? problemsIn(form, setUpCodeNeeded) : {};
  const change = (patch: Partial<SetupForm>): void => setForm({ ...form, ...patch });
  const wrong = (name: keyof typeof problems): string | undefined => {
    const problem = problems[name];
    return problem === undefined ? undefined : t(problem);
  };

  const submit = (event: FormEvent): void => {
    event.preventDefault();
    setWasSubmitted(true);
    if (Object.keys(problemsIn(form, setUpCodeNeeded)).length > 0) return;
    void complete({ variables: { input: { ...form, username: form.username.trim() } } }).catch(() => undefined);
  };

  return (
    <SignInCard title={t('title')}>
      <p className="sign-in-lead">{t('lead')}</p>
      <FormProblem text={error === undefined ? null : errorText(error)} />
      <form onSubmit={submit} noValidate>
        {setUpCodeNeeded && (
          <TextField
            label={t('field.code')}
            hint={t('field.codeHint')}
            value={form.code}
            onChange={(code) => change({ code })}
            error={wrong('code')}
            autoComplete="one-time-code"
            required
            autoFocus={!cameByLink}
          />
        )}
        <TextField
          label={t('field.username')}
          value={form.username}
          onChange={(username) => change({ username })}
          error={wrong('username')}
          autoComplete="username"
          required
          autoFocus={!setUpCodeNeeded || cameByLink}
        />
        <PasswordField
          label={t('field.password')}
          hint={t('field.passwordHint')}
          value={form.password}
          onChange={(password) => change({ password })}
          error={wrong('password')}
          autoComplete="new-password"
          required
        />
        <PasswordField
          label={t('field.confirm')}
          value={form.confirmPassword}
          onChange={(confirmPassword) => change({ confirmPassword })}
          error={wrong('confirmPassword')}
          autoComplete="new-password"
          required
        />
        <ModeChoice value={form.mode} onChange={(mode) => change({ mode })} />
        {data ? (
          <Callout intent="success" compact role="status">
            {t('succeeded')}
          </Callout>
        ) : (
          <Button type="submit" intent="primary" fill size="large" text={t('submit')} loading={loading} />
        )}
      </form>
    </SignInCard>
  );
}
