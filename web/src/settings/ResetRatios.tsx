import { useMutation } from '@apollo/client/react';
import { Button } from '@blueprintjs/core';
import { Reset } from '@blueprintjs/icons';
import { ResetModelRatiosDocument } from '../generated/settings/prices/prices.js';
import { useConfirm } from '../kit/form/ConfirmProvider.js';
import { toaster } from '../kit/Toasts.js';
import { useText } from '../kit/words/i18n.js';
import { useSettings } from './SettingsProvider.js';
import { settingsTexts } from './settings.texts.js';

/** The option of model ratios back to what is built in, once that is typed. */
export function ResetRatios() {
  const t = useText(settingsTexts);
  const confirm = useConfirm();
  const { discard } = useSettings();
  const [reset, { loading }] = useMutation(ResetModelRatiosDocument);
  const ask = async (): Promise<void> => {
    const question = {
      title: t('prices.reset'),
      body: t('prices.resetBody'),
      confirm: t('prices.resetConfirm'),
      typed: t('prices.resetTyped'),
    };
    if (!(await confirm(question))) return;
    await reset();
    discard('ModelRatio');
    toaster.success(t('prices.resetDone'));
  };
  return (
    <Button
      className="price-reset"
      icon={<Reset />}
      text={t('prices.reset')}
      loading={loading}
      // Said where all mutations fail.
      onClick={() => void ask().catch(() => undefined)}
    />
  );
}
