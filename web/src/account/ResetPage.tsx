import { useMutation } from '@apollo/client/react';
import { Button, Callout } from '@blueprintjs/core';
import { type FormEvent, useState } from 'react';
import { Link } from 'react-router-dom';
import { RequestPasswordResetDocument } from '../generated/account/account.js';
import { checksTexts } from '../kit/checks/checks.texts.js';
import { resendSeconds } from '../kit/checks/EmailCodeField.js';
import { useCountdown } from '../kit/checks/useCountdown.js';
import { useHumanCheck } from '../kit/checks/useHumanCheck.js';
import { TextField } from '../kit/form/Fields.js';
import { FormProblem } from '../kit/form/FormProblem.js';
import { looksLikeEmail } from '../kit/form/userProblems.js';
import { useStatus } from '../kit/SessionProvider.js';
import { SignInCard } from '../kit/SignInCard.js';
import { errorText } from '../kit/words/errors.js';
import { useText } from '../kit/words/i18n.js';
import { accountTexts } from './account.texts.js';

export function ResetPage() {
  const t = useText(accountTexts);
  const { passwordReset } = useStatus();
  return (
    <SignInCard title={t('reset.title')}>
      {passwordReset ? (
        <ResetRequest />
      ) : (
        <Callout intent="primary" compact className="form-notice">
          {t('closed.reset')}
        </Callout>
      )}
      <p className="sign-in-links">
        <Link to="/login">{t('reset.back')}</Link>
      </p>
    </SignInCard>
  );
}

function ResetRequest() {
  const t = useText(accountTexts);
  const checks = useText(checksTexts);
  const human = useHumanCheck();
  const { left, start } = useCountdown();
  const [email, setEmail] = useState('');
  const [sentTo, setSentTo] = useState<string | null>(null);
  const [problem, setProblem] = useState<string | null>(null);
  const [request, { loading }] = useMutation(RequestPasswordResetDocument, { context: { errors: 'inline' } });

  const submit = async (event: FormEvent): Promise<void> => {
    event.preventDefault();
    setSentTo(null);
    setProblem(null);
    if (!looksLikeEmail(email) || !human.isReady) {
      setProblem(human.isReady ? t('wrong.email') : checks('human.wait'));
      return;
    }
    try {
      await request({ variables: { email: email.trim(), humanCheck: human.answer } });
      setSentTo(email.trim());
      start(resendSeconds);
    } catch (error) {
      human.renew();
      setProblem(errorText(error));
    }
  };

  return (
    <form onSubmit={(event) => void submit(event)} noValidate>
      <FormProblem text={problem} />
      {sentTo !== null && (
        <Callout intent="success" compact role="status" className="form-notice">
          {t('reset.sent', { email: sentTo })}
        </Callout>
      )}
      <TextField
        label={t('field.email')}
        type="email"
        value={email}
        onChange={setEmail}
        autoComplete="email"
        autoFocus
        required
      />
      {human.widget}
      <Button
        type="submit"
        intent="primary"
        fill
        size="large"
        text={left > 0 ? checks('code.again', { seconds: left }) : t('reset.submit')}
        disabled={left > 0}
        loading={loading}
      />
    </form>
  );
}
