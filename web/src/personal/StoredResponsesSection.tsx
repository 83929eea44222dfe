import { useMutation } from '@apollo/client/react';
import { Button } from '@blueprintjs/core';
import { DeleteStoredResponsesDocument, PersonalDocument } from '../generated/personal/personal.js';
import { useConfirm } from '../kit/form/ConfirmProvider.js';
import { Section } from '../kit/Section.js';
import { useText } from '../kit/words/i18n.js';
import { personalTexts } from './personal.texts.js';

/** Conversations that the gateway stores for this user, and their deletion. Nothing is shown where there are none. */
export function StoredResponsesSection({ count }: { readonly count: number }) {
  const t = useText(personalTexts);
  const confirm = useConfirm();
  const [remove, { loading }] = useMutation(DeleteStoredResponsesDocument, {
    refetchQueries: [PersonalDocument],
    awaitRefetchQueries: true,
  });
  if (count === 0) return null;

  const order = async (): Promise<void> => {
    const asked = { title: t('stored.confirm'), body: t('stored.note'), confirm: t('stored.button') };
    // What went wrong is said in a toast already.
    if (await confirm(asked)) await remove().catch(() => undefined);
  };

  return (
    <Section title={t('stored.title')}>
      <p className="section-note">{t('stored.note')}</p>
      <p>{t('stored.count', { count })}</p>
      <Button
        intent="danger"
        variant="outlined"
        text={t('stored.button')}
        loading={loading}
        onClick={() => void order()}
      />
    </Section>
  );
}
