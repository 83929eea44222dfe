import { useQuery, useSubscription } from '@apollo/client/react';
import {
  type InvitationsFragment,
  InviteRewardsDocument,
  OwnInvitationsDocument,
} from '../../generated/kit/invite/invite.js';
import { Fact, Facts } from '../Facts.js';
import { formatExactly } from '../figures.js';
import { QueryNotice } from '../QueryNotice.js';
import { QuotaText } from '../QuotaText.js';
import { Section } from '../Section.js';
import { useText } from '../words/i18n.js';
import { InviteLink } from './InviteLink.js';
import { inviteTexts } from './invite.texts.js';
import { RewardTransfer } from './RewardTransfer.js';
import './invite.css';

/** By which link one invites others, and what has come of it: a reward is there when it is earned. */
export function InviteBox() {
  const t = useText(inviteTexts);
  const result = useQuery(OwnInvitationsDocument, { fetchPolicy: 'cache-and-network' });
  const user = result.data?.me ?? null;
  useSubscription(InviteRewardsDocument, {
    ignoreResults: true,
    onData: ({ client, data: { data } }) => {
      if (data === undefined) return;
      const { userId, invitedCount, inviteQuota, inviteQuotaEver } = data.balance;
      client.cache.modify({
        id: client.cache.identify({ __typename: 'User', id: userId }) ?? '',
        fields: {
          invitedCount: () => invitedCount,
          inviteQuota: () => inviteQuota,
          inviteQuotaEver: () => inviteQuotaEver,
        },
      });
    },
  });
  return (
    <Section title={t('title')}>
      {user === null ? (
        <QueryNotice {...result} />
      ) : (
        <Invitations user={user} onNewCode={() => void result.refetch()} />
      )}
    </Section>
  );
}

interface InvitationsProps {
  readonly user: InvitationsFragment;
  readonly onNewCode: () => void;
}

function Invitations({ user, onNewCode }: InvitationsProps) {
  const t = useText(inviteTexts);
  return (
    <>
      <p className="section-note">{t('note')}</p>
      <InviteLink code={user.inviteCode} onNewCode={onNewCode} />
      <Facts>
        <Fact name={t('invited')}>
          <span className="figures">{formatExactly(user.invitedCount)}</span>
        </Fact>
        <Fact name={t('waiting')}>
          <QuotaText quota={user.inviteQuota} />
        </Fact>
        <Fact name={t('ever')}>
          <QuotaText quota={user.inviteQuotaEver} />
        </Fact>
      </Facts>
      <RewardTransfer waiting={user.inviteQuota} />
    </>
  );
}
