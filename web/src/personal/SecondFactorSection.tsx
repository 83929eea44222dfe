import { useApolloClient, useMutation } from '@apollo/client/react';
import { Button, Tag } from '@blueprintjs/core';
import { useState } from 'react';
import {
  BeginTotpDocument,
  type BeginTotpMutation,
  RenewRecoveryCodesDocument,
  SecurityDocument,
  type SecurityStateFragment,
  TurnOffTotpDocument,
} from '../generated/personal/security.js';
import { useStepUp } from '../kit/proof/StepUpProvider.js';
import { Section } from '../kit/Section.js';
import { toaster } from '../kit/Toasts.js';
import { useText } from '../kit/words/i18n.js';
import { securityTexts } from './security.texts.js';
import { RecoveryCodesDialog, TotpDialog } from './TotpDialog.js';

const inline = { errors: 'inline' } as const;

/** An authenticator app beside the password, and what stands in for it. */
export function SecondFactorSection({ security }: { readonly security: SecurityStateFragment }) {
  const t = useText(securityTexts);
  const client = useApolloClient();
  const withStepUp = useStepUp();
  const [begun, setBegun] = useState<BeginTotpMutation['beginTotp'] | null>(null);
  const [codes, setCodes] = useState<readonly string[] | null>(null);
  const [begin, { loading }] = useMutation(BeginTotpDocument, { fetchPolicy: 'no-cache', context: inline });
  const [turnOff] = useMutation(TurnOffTotpDocument, { context: inline });
  const [renew] = useMutation(RenewRecoveryCodesDocument, { fetchPolicy: 'no-cache', context: inline });

  const show = (shown: readonly string[]): void => {
    setBegun(null);
    setCodes(shown);
    void client.refetchQueries({ include: [SecurityDocument] });
  };

  return (
    <Section title={t('factor.title')}>
      <p className="section-note">{t('factor.note')}</p>
      <div className="personal-tags">
        <Tag minimal intent={security.secondFactor ? 'success' : 'none'}>
          {t(security.secondFactor ? 'factor.on' : 'factor.off')}
        </Tag>
        {security.secondFactor && <Tag minimal>{t('codes.left', { count: security.recoveryCodes })}</Tag>}
      </div>
      <div className="personal-tags">
        {security.secondFactor ? (
          <>
            <Button
              text={t('codes.renew')}
              onClick={() =>
                void withStepUp('SECOND_FACTOR', async (stepUp) => {
                  const { data } = await renew({ variables: { stepUp } });
                  show(data?.renewRecoveryCodes ?? []);
                })
              }
            />
            <Button
              intent="danger"
              variant="outlined"
              text={t('factor.turnOff')}
              onClick={() =>
                void withStepUp('SECOND_FACTOR', async (stepUp) => {
                  await turnOff({ variables: { stepUp } });
                  toaster.success(t('factor.turnedOff'));
                })
              }
            />
          </>
        ) : (
          <Button
            intent="primary"
            text={t('factor.turnOn')}
            loading={loading}
            onClick={() =>
              void withStepUp('SECOND_FACTOR', async (stepUp) => {
                const { data } = await begin({ variables: { stepUp } });
                setBegun(data?.beginTotp ?? null);
              })
            }
          />
        )}
      </div>
      {begun !== null && <TotpDialog begun={begun} onClose={() => setBegun(null)} onEnrolled={show} />}
      {codes !== null && <RecoveryCodesDialog codes={codes} onClose={() => setCodes(null)} />}
    </Section>
  );
}
