import { useQuery } from '@apollo/client/react';
import { Dialog, DialogBody } from '@blueprintjs/core';
import { LogUserDocument } from '../generated/log/log.js';
import { QueryNotice } from '../shared/QueryNotice.js';
import { QuotaText } from '../shared/QuotaText.js';
import { formatExactly } from '../shared/quota.js';
import { useText } from '../shared/words/i18n.js';
import { logTexts } from './log.texts.js';

/** Whose line it is. `id` null: closed. */
export function LogUserDialog({ id, onClose }: { readonly id: string | null; readonly onClose: () => void }) {
  const t = useText(logTexts);
  return (
    <Dialog isOpen={id !== null} onClose={onClose} title={t('user')} shouldReturnFocusOnClose>
      <DialogBody>{id !== null && <LogUser id={id} />}</DialogBody>
    </Dialog>
  );
}

function LogUser({ id }: { readonly id: string }) {
  const t = useText(logTexts);
  // The balance of a moment ago is not what is asked for.
  const { data, loading, error, refetch } = useQuery(LogUserDocument, {
    variables: { id },
    fetchPolicy: 'cache-and-network',
  });
  const user = data?.user;
  // The cache may know parts of a user from other pages.
  if (user?.username === undefined) return <QueryNotice loading={loading} error={error} refetch={refetch} />;
  const facts = [
    [t('user.name'), user.username],
    [t('user.group'), user.group],
    [t('user.quota'), <QuotaText key="quota" quota={user.quota} />],
    [t('user.used'), <QuotaText key="used" quota={user.usedQuota} />],
    [t('user.requests'), formatExactly(user.requestCount)],
  ] as const;
  return (
    <dl className="log-facts">
      {facts.map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  );
}
