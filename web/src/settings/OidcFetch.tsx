import { useMutation } from '@apollo/client/react';
import { Button } from '@blueprintjs/core';
import { Download } from '@blueprintjs/icons';
import { FetchOidcEndpointsDocument } from '../generated/settings/settings.js';
import { toaster } from '../kit/Toasts.js';
import { useText } from '../kit/words/i18n.js';
import { storedText } from './drafts.js';
import { useSettings } from './SettingsProvider.js';
import { settingsTexts } from './settings.texts.js';

/** Fills in the addresses of a provider by what it says of itself. They are saved like any others. */
export function OidcFetch() {
  const t = useText(settingsTexts);
  const { options, drafts, type } = useSettings();
  const [fetchEndpoints, { loading }] = useMutation(FetchOidcEndpointsDocument);
  const source = options.get('oidc.well_known');
  if (source === undefined) return null;

  const fill = async (): Promise<void> => {
    const wellKnown = (drafts.get(source.key)?.text ?? storedText(source)).trim();
    if (wellKnown === '') return toaster.warning(t('oidc.needed'));
    const { data } = await fetchEndpoints({ variables: { wellKnown } });
    if (data === undefined) return;
    const { authorizationEndpoint, tokenEndpoint, userInfoEndpoint } = data.fetchOidcEndpoints;
    const found = {
      'oidc.authorization_endpoint': authorizationEndpoint,
      'oidc.token_endpoint': tokenEndpoint,
      'oidc.user_info_endpoint': userInfoEndpoint,
    };
    for (const [key, address] of Object.entries(found)) {
      const option = options.get(key);
      if (option !== undefined) type(option, address);
    }
    toaster.success(t('oidc.fetched'));
  };

  return (
    <Button
      icon={<Download />}
      text={t('oidc.fetch')}
      loading={loading}
      // Said where all mutations fail.
      onClick={() => void fill().catch(() => undefined)}
    />
  );
}
