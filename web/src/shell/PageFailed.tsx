import { Button, NonIdealState } from '@blueprintjs/core';
import { Refresh, WarningSign } from '@blueprintjs/icons';
import { useText } from '../kit/words/i18n.js';
import { shellTexts } from './shell.texts.js';

/** A page whose code did not arrive, as after an update of the server, or which broke. Loading anew mends the first. */
export function PageFailed() {
  const t = useText(shellTexts);
  return (
    <NonIdealState
      className="whole-page"
      icon={<WarningSign size={40} />}
      title={t('failed')}
      description={t('failed.hint')}
      action={<Button icon={<Refresh />} text={t('reload')} onClick={() => window.location.reload()} />}
    />
  );
}
