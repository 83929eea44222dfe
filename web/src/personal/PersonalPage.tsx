import { useQuery } from '@apollo/client/react';
import { PersonalDocument } from '../generated/personal/personal.js';
import { InviteBox } from '../kit/invite/InviteBox.js';
import { PageFrame } from '../kit/PageFrame.js';
import { StepUpProvider } from '../kit/proof/StepUpProvider.js';
import { QueryNotice } from '../kit/QueryNotice.js';
import { useText } from '../kit/words/i18n.js';
import { AccessTokenSection } from './AccessTokenSection.js';
import { BindingsSection } from './BindingsSection.js';
import { LeaveSection } from './LeaveSection.js';
import { ModelsSection } from './ModelsSection.js';
import { PasswordSection } from './PasswordSection.js';
import { ProfileSection } from './ProfileSection.js';
import { personalTexts } from './personal.texts.js';
import { SecuritySections } from './SecuritySections.js';
import { SettingsSection } from './SettingsSection.js';
import { StoredResponsesSection } from './StoredResponsesSection.js';
import './personal.css';

/** Everything about one's own account. */
export function PersonalPage() {
  const t = useText(personalTexts);
  const result = useQuery(PersonalDocument, { fetchPolicy: 'cache-and-network' });
  const user = result.data?.me ?? null;
  return (
    <PageFrame title={t('title')}>
      {user === null ? (
        <QueryNotice {...result} />
      ) : (
        <StepUpProvider>
          <div className="sections">
            <ProfileSection user={user} />
            <InviteBox />
            <ModelsSection models={result.data?.ownModels ?? []} />
            <SettingsSection user={user} />
            <BindingsSection />
            <PasswordSection hasPassword={user.hasPassword} />
            <AccessTokenSection />
            <SecuritySections />
            <StoredResponsesSection count={result.data?.storedResponses ?? 0} />
            <LeaveSection user={user} />
          </div>
        </StepUpProvider>
      )}
    </PageFrame>
  );
}
