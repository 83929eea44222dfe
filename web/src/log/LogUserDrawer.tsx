import { useQuery } from '@apollo/client/react';
import { LogUserDocument } from '../generated/log/log.js';
import { Fact, Facts } from '../kit/Facts.js';
import { formatExactly } from '../kit/figures.js';
import { QueryNotice } from '../kit/QueryNotice.js';
import { QuotaText } from '../kit/QuotaText.js';
import { DetailDrawer } from '../kit/table/DetailDrawer.js';
import { namedBy, useOpenItem } from '../kit/table/openItem.js';
import { useText } from '../kit/words/i18n.js';
import { logTexts } from './log.texts.js';

/** Whose line it is: `?open=user-{id}`. */
export function LogUserDrawer() {
  const t = useText(logTexts);
  const { open, close } = useOpenItem();
  const id = namedBy('user', open);
  if (id === null) return null;
  return (
    <DetailDrawer onClose={close} title={t('user')} size="small">
      <LogUser key={id} id={id} />
    </DetailDrawer>
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
  return (
    <Facts>
      <Fact name={t('user.name')}>{user.username}</Fact>
      <Fact name={t('user.group')}>{user.group}</Fact>
      <Fact name={t('user.quota')}>
        <QuotaText quota={user.quota} />
      </Fact>
      <Fact name={t('user.used')}>
        <QuotaText quota={user.usedQuota} />
      </Fact>
      <Fact name={t('user.requests')}>{formatExactly(user.requestCount)}</Fact>
    </Facts>
  );
}
