import { useMutation } from '@apollo/client/react';
import { Button, Callout } from '@blueprintjs/core';
import { useState } from 'react';
import { Link, useSearchParams } from 'react-router-dom';
import { ResetPasswordDocument } from '../generated/account/account.js';
import { CopyButton } from '../kit/CopyButton.js';
import { FormProblem } from '../kit/form/FormProblem.js';
import { SignInCard } from '../kit/SignInCard.js';
import { errorText } from '../kit/words/errors.js';
import { useText } from '../kit/words/i18n.js';
import { accountTexts } from './account.texts.js';

/** Where the link in the mail leads. Nothing happens before somebody presses the button: programs open links too. */
export function NewPasswordPage() {
  const t = useText(accountTexts);
  const [search] = useSearchParams();
  const [email, token] = [search.get('email') ?? '', search.get('token') ?? ''];
  const [password, setPassword] = useState<string | null>(null);
  const [problem, setProblem] = useState<string | null>(null);
  const [reset, { loading }] = useMutation(ResetPasswordDocument, {
    context: { errors: 'inline' },
    // The password is shown here and kept nowhere.
    fetchPolicy: 'no-cache',
  });

  const order = async (): Promise<void> => {
    setProblem(null);
    try {
      const { data } = await reset({ variables: { email, token } });
      setPassword(data?.resetPassword ?? null);
    } catch (error) {
      setProblem(errorText(error));
    }
  };

  return (
    <SignInCard title={t('reset.title')}>
      {email === '' || token === '' ? (
        <FormProblem text={t('newPassword.incomplete')} />
      ) : password === null ? (
        <>
          <FormProblem text={problem} />
          <p className="sign-in-lead">{t('newPassword.lead', { email })}</p>
          <Button
            intent="primary"
            fill
            size="large"
            text={t('newPassword.submit')}
            loading={loading}
            onClick={() => void order()}
          />
        </>
      ) : (
        <Callout intent="success" role="status" title={t('newPassword.done')}>
          <p className="new-password">
            <code>{password}</code> <CopyButton text={password} label={t('newPassword.copy')} />
          </p>
          {t('newPassword.once')}
        </Callout>
      )}
      <p className="sign-in-links">
        <Link to="/login">{t('reset.back')}</Link>
        {problem !== null && <Link to="/reset">{t('newPassword.again')}</Link>}
      </p>
    </SignInCard>
  );
}
