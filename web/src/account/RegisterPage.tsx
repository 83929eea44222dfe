import { useMutation } from '@apollo/client/react';
import { Button, Callout } from '@blueprintjs/core';
import { type FormEvent, lazy, Suspense, useState } from 'react';
import { Link, useNavigate, useSearchParams } from 'react-router-dom';
import { RegisterDocument } from '../generated/account/account.js';
import { checksTexts } from '../kit/checks/checks.texts.js';
import { EmailCodeField } from '../kit/checks/EmailCodeField.js';
import { useHumanCheck } from '../kit/checks/useHumanCheck.js';
import { PasswordField, TextField } from '../kit/form/Fields.js';
import { FormProblem } from '../kit/form/FormProblem.js';
import { useOrderKey } from '../kit/form/orderKey.js';
import { useOpenProviders } from '../kit/identity-providers/openProviders.js';
import { returnPath, signInAddress } from '../kit/leave.js';
import { useStatus } from '../kit/SessionProvider.js';
import { SignInCard } from '../kit/SignInCard.js';
import { toaster } from '../kit/Toasts.js';
import { errorText } from '../kit/words/errors.js';
import { useText } from '../kit/words/i18n.js';
import { accountTexts } from './account.texts.js';
import { useSignedInElsewhere } from './entering.js';
import { emptyRegisterForm, type RegisterForm, registerProblems } from './registerForm.js';

const IdentityProviderButtons = lazy(async () => ({
  default: (await import('../kit/identity-providers/IdentityProviderButtons.js')).IdentityProviderButtons,
}));

export function RegisterPage() {
  const t = useText(accountTexts);
  const { registration, registrationElsewhere } = useStatus();
  const [search] = useSearchParams();
  const from = returnPath(search);
  const signedIn = useSignedInElsewhere(from);
  // Telegram lets in who is known here, and registers nobody.
  const providers = useOpenProviders().filter((provider) => provider !== 'TELEGRAM');
  return (
    <SignInCard title={t('register.title')}>
      {registration ? (
        <Registration />
      ) : (
        <Callout intent="primary" compact className="form-notice">
          {t(registrationElsewhere ? 'closed.passwords' : 'closed.registration')}
        </Callout>
      )}
      {registrationElsewhere && (
        <Suspense>
          <IdentityProviderButtons
            providers={providers}
            inviteCode={search.get('aff') ?? ''}
            from={from}
            onSignIn={signedIn}
          />
        </Suspense>
      )}
      <p className="sign-in-links">
        <Link to={signInAddress('/login', from)}>{t('register.back')}</Link>
      </p>
    </SignInCard>
  );
}

function Registration() {
  const t = useText(accountTexts);
  const navigate = useNavigate();
  const { emailVerification } = useStatus();
  const checks = useText(checksTexts);
  const human = useHumanCheck();
  const [search] = useSearchParams();
  const [form, setForm] = useState({ ...emptyRegisterForm, inviteCode: search.get('aff') ?? '' });
  const orderKey = useOrderKey();
  const [wasSubmitted, setWasSubmitted] = useState(false);
  const [problem, setProblem] = useState<string | null>(null);
  const [register, { loading }] = useMutation(RegisterDocument, { context: { errors: 'inline' } });
  const problems = wasSubmitted ? registerProblems(form, emailVerification) : {};
  const change = (patch: Partial<RegisterForm>): void => setForm({ ...form, ...patch });
  const wrong = (name: keyof RegisterForm): string | undefined => {
    const text = problems[name];
    return text === undefined ? undefined : t(text);
  };

  const submit = async (event: FormEvent): Promise<void> => {
    event.preventDefault();
    setWasSubmitted(true);
    setProblem(null);
    if (Object.keys(registerProblems(form, emailVerification)).length > 0) return;
    if (!human.isReady) {
      setProblem(checks('human.wait'));
      return;
    }
    const { confirmPassword: _, ...input } = form;
    try {
      await register({
        variables: {
          input: { ...input, username: form.username.trim(), inviteCode: form.inviteCode.trim() },
          humanCheck: human.answer,
          key: orderKey,
        },
      });
    } catch (error) {
      human.renew();
      setProblem(errorText(error));
      return;
    }
    toaster.success(t('register.done'));
    void navigate(signInAddress('/login', returnPath(search)), { replace: true });
  };

  return (
    <form onSubmit={(event) => void submit(event)} noValidate>
      <FormProblem text={problem} />
      <TextField
        label={t('field.username')}
        hint={t('field.usernameHint')}
        value={form.username}
        onChange={(username) => change({ username })}
        error={wrong('username')}
        autoComplete="username"
        required
        autoFocus
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
      {emailVerification && (
        <>
          <TextField
            label={t('field.email')}
            type="email"
            value={form.email}
            onChange={(email) => change({ email })}
            error={wrong('email')}
            autoComplete="email"
            required
          />
          <EmailCodeField
            label={t('field.emailCode')}
            email={form.email}
            human={human}
            value={form.emailCode}
            onChange={(emailCode) => change({ emailCode })}
            onProblem={setProblem}
            error={wrong('emailCode')}
            required
          />
        </>
      )}
      <TextField
        label={t('field.inviteCode')}
        hint={t('field.inviteCodeHint')}
        value={form.inviteCode}
        onChange={(inviteCode) => change({ inviteCode })}
        maxLength={16}
      />
      {human.widget}
      <Button type="submit" intent="primary" fill size="large" text={t('register.submit')} loading={loading} />
    </form>
  );
}
