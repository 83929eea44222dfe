import type { EditedUserQuery } from '../generated/users/users.js';
import { Fact, Facts } from '../kit/Facts.js';
import { formatExactly } from '../kit/figures.js';
import { QuotaText } from '../kit/QuotaText.js';
import { useSignedIn } from '../kit/SessionProvider.js';
import { DrawerLink } from '../kit/table/DrawerLink.js';
import { useText } from '../kit/words/i18n.js';
import { mayOpen } from './mayManage.js';
import { usersTexts } from './users.texts.js';

/** Who has invited the user, and what came of inviting others. */
export function InvitationFacts({ user }: { readonly user: EditedUserQuery['user'] }) {
  const t = useText(usersTexts);
  const viewer = useSignedIn();
  const { inviter } = user;
  return (
    <section aria-label={t('invite.title')}>
      <Facts>
        <Fact name={t('invite.inviter')}>
          {inviter !== null &&
            (mayOpen(viewer, inviter) ? (
              <DrawerLink open={inviter.id}>{inviter.username}</DrawerLink>
            ) : (
              inviter.username
            ))}
        </Fact>
        <Fact name={t('column.invitedCount')}>
          <span className="figures">{formatExactly(user.invitedCount)}</span>
        </Fact>
        <Fact name={t('invite.waiting')}>
          <QuotaText quota={user.inviteQuota} />
        </Fact>
        <Fact name={t('invite.ever')}>
          <QuotaText quota={user.inviteQuotaEver} />
        </Fact>
      </Facts>
    </section>
  );
}
