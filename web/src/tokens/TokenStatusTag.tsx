import type { ApiKeyStatus, TokenTermsFragment } from '../generated/tokens/tokens.js';
import { StatusTag } from '../kit/StatusTag.js';
import { useText } from '../kit/words/i18n.js';
import { tokensTexts } from './tokens.texts.js';

const intents = {
  ENABLED: 'success',
  DISABLED: 'danger',
  EXPIRED: 'warning',
  EXHAUSTED: 'warning',
} as const satisfies Record<ApiKeyStatus, string>;

/** The server finds out that a token has expired when it is used; who looks at it sees it at once. */
function shownStatus({ status, expiresAt }: TokenTermsFragment, now: number): ApiKeyStatus {
  return status === 'ENABLED' && expiresAt !== null && expiresAt <= now ? 'EXPIRED' : status;
}

export function TokenStatusTag({ token }: { readonly token: TokenTermsFragment }) {
  const t = useText(tokensTexts);
  const status = shownStatus(token, Date.now() / 1000);
  const isLimited = status === 'ENABLED' && token.modelLimitsEnabled;
  return (
    <StatusTag intent={intents[status]} reason={isLimited ? token.modelLimits.join(', ') : undefined}>
      {t(isLimited ? 'status.limited' : `status.${status}`)}
    </StatusTag>
  );
}
