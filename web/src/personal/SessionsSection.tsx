import { useMutation } from '@apollo/client/react';
import { Button, Tag } from '@blueprintjs/core';
import {
  EndOtherSessionsDocument,
  EndSessionDocument,
  type SecurityStateFragment,
} from '../generated/personal/security.js';
import { useConfirm } from '../kit/form/ConfirmProvider.js';
import { Section } from '../kit/Section.js';
import { Time } from '../kit/Time.js';
import { useText } from '../kit/words/i18n.js';
import { securityTexts } from './security.texts.js';

/** Where one is signed in, and out again from afar. */
export function SessionsSection({ sessions }: Pick<SecurityStateFragment, 'sessions'>) {
  const t = useText(securityTexts);
  const confirm = useConfirm();
  const [end] = useMutation(EndSessionDocument);
  const [endOthers, { loading }] = useMutation(EndOtherSessionsDocument);

  const order = async (): Promise<void> => {
    if (!(await confirm({ title: t('sessions.endOthersConfirm'), confirm: t('sessions.endOthers') }))) return;
    // What went wrong is said in a toast already.
    await endOthers().catch(() => undefined);
  };

  return (
    <Section title={t('sessions.title')}>
      {sessions.map(({ id, current, device, place, openedAt, seenAt }) => (
        <div key={id} className="security-line">
          <div className="security-line-words">
            <strong>{device === '' ? t('sessions.unknown') : device}</strong>
            <span className="section-note">
              {place} · {t('sessions.opened')} <Time at={openedAt} /> · {t('sessions.seen')} <Time at={seenAt} />
            </span>
          </div>
          {current ? (
            <Tag minimal intent="primary">
              {t('sessions.current')}
            </Tag>
          ) : (
            <Button
              variant="minimal"
              size="small"
              text={t('sessions.end')}
              onClick={() => void end({ variables: { id } }).catch(() => undefined)}
            />
          )}
        </div>
      ))}
      {sessions.length > 1 && <Button text={t('sessions.endOthers')} loading={loading} onClick={() => void order()} />}
    </Section>
  );
}
