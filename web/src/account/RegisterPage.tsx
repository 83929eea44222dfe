import { Callout } from '@blueprintjs/core';
import { Link } from 'react-router-dom';
import { DoorCard } from '../kit/DoorCard.js';
import { PasswordField, TextField } from '../kit/form/fields.js';
import { useStatus } from '../kit/session.js';
import { useText } from '../kit/words/i18n.js';
import { accountTexts } from './account.texts.js';

const ignore = (): void => undefined;

/** The form as it will be. The server takes no registrations yet, so it is closed, and says what to do instead. */
export function RegisterPage() {
  const t = useText(accountTexts);
  const { registration, emailVerification } = useStatus();
  return (
    <DoorCard title={t('register.title')}>
      <Callout intent="primary" compact className="door-notice">
        {t(registration ? 'closed.registrationUnavailable' : 'closed.registration')}
      </Callout>
      <fieldset disabled className="door-closed">
        <TextField label={t('field.username')} value="" onChange={ignore} disabled />
        <PasswordField
          label={t('field.password')}
          hint={t('field.passwordHint')}
          value=""
          onChange={ignore}
          autoComplete="new-password"
          disabled
        />
        <PasswordField label={t('field.confirm')} value="" onChange={ignore} autoComplete="new-password" disabled />
        {emailVerification && <TextField label={t('field.email')} type="email" value="" onChange={ignore} disabled />}
      </fieldset>
      <p className="door-links">
        <Link to="/login">{t('register.back')}</Link>
      </p>
    </DoorCard>
  );
}
