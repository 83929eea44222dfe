import { useQuery } from '@apollo/client/react';
import { SecurityDocument } from '../generated/personal/security.js';
import { QueryNotice } from '../kit/QueryNotice.js';
import { PasskeysSection } from './PasskeysSection.js';
import { SecondFactorSection } from './SecondFactorSection.js';
import { SessionsSection } from './SessionsSection.js';

/** By what one signs in, and where one is. */
export function SecuritySections() {
  const result = useQuery(SecurityDocument, { fetchPolicy: 'cache-and-network' });
  const security = result.data?.security;
  if (security === undefined) return <QueryNotice {...result} />;
  return (
    <>
      <SecondFactorSection security={security} />
      <PasskeysSection passkeys={security.passkeys} />
      <SessionsSection sessions={security.sessions} />
    </>
  );
}
