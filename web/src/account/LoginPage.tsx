import { useApolloClient, useMutation } from '@apollo/client/react';
import { Button, Callout } from '@blueprintjs/core';
import { type FormEvent, lazy, Suspense, useState } from 'react';
import { flushSync } from 'react-dom';
import { Link, Navigate, useLocation, useSearchParams } from 'react-router-dom';
import { LoginDocument, type SecondFactorMethod } from '../generated/account/account.js';
import type { SignedInFragment } from '../generated/kit/identity-providers/identityProviders.js';
import { checksTexts } from '../kit/checks/checks.texts.js';
import { useHumanCheck } from '../kit/checks/useHumanCheck.js';
import { PasswordField, TextField } from '../kit/form/Fields.js';
import { FormProblem } from '../kit/form/FormProblem.js';
import { useOpenProviders } from '../kit/identity-providers/openProviders.js';
import { returnPath, signInAddress } from '../kit/leave.js';
import { useStatus, useViewer } from '../kit/SessionProvider.js';
import { SignInCard } from '../kit/SignInCard.js';
import { errorText } from '../kit/words/errors.js';
import { useText } from '../kit/words/i18n.js';
import { accountTexts } from './account.texts.js';
import { homePath, landingPath, noteViewer, secondFactorIn, useEntered } from './entering.js';

// Most who come here need none of them.
const SecondStep = lazy(async () => ({ default: (await import('./SecondStep.js')).SecondStep }));
const PasskeySignIn = lazy(async () => ({ default: (await import('./PasskeySignIn.js')).PasskeySignIn }));
const IdentityProviderButtons = lazy(async () => ({
  default: (await import('../kit/identity-providers/IdentityProviderButtons.js')).IdentityProviderButtons,
}));

export function LoginPage() {
  const t = useText(accountTexts);
  const { systemName, passwordLogin, passwordReset, registration, selfUse } = useStatus();
  const viewer = useViewer();
  const { cache } = useApolloClient();
  const openProviders = useOpenProviders();
  const [search] = useSearchParams();
  const [methods, setMethods] = useState(secondFactorIn(useLocation().state));
  const [landing, setLanding] = useState(methods.length > 0 ? homePath : landingPath);
  const from = returnPath(search);
  const after = from ?? landing;
  const entered = useEntered(from ?? homePath);

  const signedInElsewhere = ({ user, secondFactor }: SignedInFragment): void => {
    // Before the page knows who is signed in, as it leaves then.
    flushSync(() => setLanding(homePath));
    if (user === null) setMethods(secondFactor);
    else {
      noteViewer(cache, user);
      entered();
    }
  };

  if (viewer !== null) return <Navigate to={after} replace />;
  if (methods.length > 0)
    return (
      <SignInCard title={t('second.title')}>
        <Suspense>
          <SecondStep methods={methods} after={after} onBack={() => setMethods([])} />
        </Suspense>
      </SignInCard>
    );
  return (
    <SignInCard title={t('login.title', { system: systemName })}>
      {search.has('expired') && (
        <Callout intent="warning" compact className="form-notice">
          {t('expired')}
        </Callout>
      )}
      {passwordLogin ? (
        <LoginForm after={after} onSecondFactor={setMethods} />
      ) : (
        <Callout intent="warning" compact>
          {t('login.closed')}
        </Callout>
      )}
      <Suspense>
        <PasskeySignIn after={after} />
      </Suspense>
      {openProviders.length > 0 && (
        <Suspense>
          <IdentityProviderButtons
            providers={openProviders}
            inviteCode={search.get('aff') ?? ''}
            from={from}
            onSignIn={signedInElsewhere}
          />
        </Suspense>
      )}
      <p className="sign-in-links">
        {passwordReset && <Link to="/reset">{t('login.forgot')}</Link>}
        {registration && !selfUse && (
          <Link to={signInAddress('/register', from, search.get('aff'))}>{t('login.register')}</Link>
        )}
      </p>
    </SignInCard>
  );
}

interface LoginFormProps {
  readonly after: string;
  /** The password was right, and more is asked for. */
  readonly onSecondFactor: (methods: readonly SecondFactorMethod[]) => void;
}

function LoginForm({ after, onSecondFactor }: LoginFormProps) {
  const t = useText(accountTexts);
  const checks = useText(checksTexts);
  const entered = useEntered(after);
  const human = useHumanCheck();
  const [username, setUsername] = useState('');
  const [password, setPassword] = useState('');
  const [problem, setProblem] = useState<string | null>(null);
  const [login, { loading }] = useMutation(LoginDocument, {
    context: { errors: 'inline' },
    update: (cache, { data }) => noteViewer(cache, data?.login.user),
  });

  const submit = async (event: FormEvent): Promise<void> => {
    event.preventDefault();
    if (username.trim() === '' || password === '') {
      setProblem(t('login.missing'));
      return;
    }
    if (!human.isReady) {
      setProblem(checks('human.wait'));
      return;
    }
    setProblem(null);
    try {
      const { data } = await login({ variables: { username: username.trim(), password, humanCheck: human.answer } });
      if (data?.login.user) entered();
      else onSecondFactor(data?.login.secondFactor ?? []);
    } catch (error) {
      human.renew();
      setProblem(errorText(error));
    }
  };

  return (
    <form onSubmit={(event) => void submit(event)} noValidate>
      <FormProblem text={problem} />
      <TextField
        label={t('field.usernameOrEmail')}
        value={username}
        onChange={setUsername}
        autoComplete="username"
        autoFocus
      />
      <PasswordField
        label={t('field.password')}
        value={password}
        onChange={setPassword}
        autoComplete="current-password"
      />
      {human.widget}
      <Button type="submit" intent="primary" fill size="large" text={t('login.submit')} loading={loading} />
    </form>
  );
}
