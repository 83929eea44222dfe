import { Callout } from '@blueprintjs/core';
import { Link } from 'react-router-dom';
import { DoorCard } from '../kit/DoorCard.js';
import { TextField } from '../kit/form/fields.js';
import { useText } from '../kit/words/i18n.js';
import { accountTexts } from './account.texts.js';

const ignore = (): void => undefined;

/** The form as it will be. The server sends no mail yet, so it is closed, and says what to do instead. */
export function ResetPage() {
  const t = useText(accountTexts);
  return (
    <DoorCard title={t('reset.title')}>
      <Callout intent="primary" compact className="door-notice">
        {t('closed.reset')}
      </Callout>
      <fieldset disabled className="door-closed">
        <TextField label={t('field.email')} type="email" value="" onChange={ignore} disabled />
      </fieldset>
      <p className="door-links">
        <Link to="/login">{t('reset.back')}</Link>
      </p>
    </DoorCard>
  );
}
