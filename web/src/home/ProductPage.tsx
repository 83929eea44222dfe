import { Card, Code } from '@blueprintjs/core';
import { Endorsed, GlobeNetwork, TimelineLineChart } from '@blueprintjs/icons';
import { CopyButton } from '../kit/CopyButton.js';
import { LinkButton } from '../kit/LinkButton.js';
import { useServerAddress, useStatus, useViewer } from '../kit/SessionProvider.js';
import { useText } from '../kit/words/i18n.js';
import { homeTexts } from './home.texts.js';

const points = [
  { name: 'relay', icon: <GlobeNetwork size={20} /> },
  { name: 'audit', icon: <Endorsed size={20} /> },
  { name: 'live', icon: <TimelineLineChart size={20} /> },
] as const;

export function ProductPage() {
  const t = useText(homeTexts);
  const viewer = useViewer();
  const { systemName } = useStatus();
  const address = `${useServerAddress()}/v1`;
  return (
    <div className="product">
      <h1 className="product-name">{systemName}</h1>
      <p className="product-claim">{t('claim')}</p>
      <p className="product-lead">{t('lead')}</p>
      <div className="product-start">
        {viewer === null ? (
          <LinkButton to="/login" intent="primary" large>
            {t('login')}
          </LinkButton>
        ) : (
          <LinkButton to="/detail" intent="primary" large>
            {t('console')}
          </LinkButton>
        )}
      </div>
      <div className="product-points">
        {points.map(({ name, icon }) => (
          <Card key={name}>
            <h2 className="product-point">
              <span className="product-icon">{icon}</span>
              {t(`point.${name}`)}
            </h2>
            <p>{t(`point.${name}.text`)}</p>
          </Card>
        ))}
      </div>
      <Card className="product-address">
        <div>
          <strong>{t('address')}</strong>
          <p>{t('addressHint')}</p>
        </div>
        <span className="product-url">
          <Code>{address}</Code>
          <CopyButton text={address} label={t('address')} />
        </span>
      </Card>
    </div>
  );
}
