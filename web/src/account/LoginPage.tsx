import { useMutation } from '@apollo/client/react';
import { Button, Callout } from '@blueprintjs/core';
import { type FormEvent, useState } from 'react';
import { Link, Navigate, useNavigate, useSearchParams } from 'react-router-dom';
import { LoginDocument } from '../generated/account/account.js';
import { ShellDocument } from '../generated/kit/shell.js';
import { DoorCard } from '../kit/DoorCard.js';
import { PasswordField, TextField } from '../kit/form/fields.js';
import { returnPath } from '../kit/leave.js';
import { useStatus, useViewer } from '../kit/session.js';
import { toaster } from '../kit/toaster.js';
import { errorText } from '../kit/words/errors.js';
import { useText } from '../kit/words/i18n.js';
import { accountTexts } from './account.texts.js';

/** Where a login by password leads. */
const landingPath = '/token';

export function LoginPage() {
  const t = useText(accountTexts);
  const { systemName, passwordLogin, selfUse } = useStatus();
  const viewer = useViewer();
  const [search] = useSearchParams();
  const after = returnPath(search) ?? landingPath;
  if (viewer !== null) return <Navigate to={after} replace />;
  return (
    <DoorCard title={t('login.title', { system: systemName })}>
      {search.has('expired') && (
        <Callout intent="warning" compact className="door-notice">
          {t('expired')}
        </Callout>
      )}
      {passwordLogin ? (
        <LoginForm after={after} />
      ) : (
        <Callout intent="warning" compact>
          {t('login.closed')}
        </Callout>
      )}
      <p className="door-links">
        <Link to="/reset">{t('login.forgot')}</Link>
        {!selfUse && <Link to="/register">{t('login.register')}</Link>}
      </p>
    </DoorCard>
  );
}

function LoginForm({ after }: { readonly after: string }) {
  const t = useText(accountTexts);
  const navigate = useNavigate();
  const [username, setUsername] = useState('');
  const [password, setPassword] = useState('');
  const [problem, setProblem] = useState<string | null>(null);
  const [login, { loading }] = useMutation(LoginDocument, {
    context: { errors: 'inline' },
    // Everybody who asks who is signed in learns it here; the page itself goes on.
    update: (cache, { data }) =>
      cache.updateQuery({ query: ShellDocument }, (shell) =>
        shell === null || !data ? undefined : { ...shell, me: data.login },
      ),
  });

  const submit = async (event: FormEvent): Promise<void> => {
    event.preventDefault();
    if (username.trim() === '' || password === '') {
      setProblem(t('login.missing'));
      return;
    }
    setProblem(null);
    try {
      await login({ variables: { username: username.trim(), password } });
    } catch (error) {
      setProblem(errorText(error));
      return;
    }
    toaster.success(t('login.welcome'));
    void navigate(after, { replace: true });
  };

  return (
    <form onSubmit={(event) => void submit(event)} noValidate>
      {problem !== null && (
        <Callout intent="danger" compact role="alert" className="door-notice">
          {problem}
        </Callout>
      )}
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
      <Button type="submit" intent="primary" fill size="large" text={t('login.submit')} loading={loading} />
    </form>
  );
}
