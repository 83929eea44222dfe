import { useQuery } from '@apollo/client/react';
import { Callout } from '@blueprintjs/core';
import { Link } from 'react-router-dom';
import { SecondFactorDemandedDocument } from '../generated/shell/secondFactor.js';
import { useText } from '../kit/words/i18n.js';
import { shellTexts } from './shell.texts.js';

/** Administrators who may do nothing as such before they have a second factor read why on every page. */
export function SecondFactorDemanded() {
  const t = useText(shellTexts);
  const { data } = useQuery(SecondFactorDemandedDocument);
  if (data?.security.demanded !== true) return null;
  return (
    <Callout intent="warning" compact className="shell-warning" role="alert">
      {t('secondFactor.demanded')} <Link to="/personal">{t('secondFactor.setUp')}</Link>
    </Callout>
  );
}
