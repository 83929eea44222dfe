import { LazyOperatorText } from '../shared/LazyOperatorText.js';
import { useStatus } from '../shared/session.js';
import { useText } from '../shared/words/i18n.js';
import { shellTexts } from './shell.texts.js';

/** The operator's own line, or a credit. */
export function Footer() {
  const t = useText(shellTexts);
  const { footer } = useStatus();
  return (
    <footer className="footer">
      {footer.trim() === '' ? t('credit', { product: t('product') }) : <LazyOperatorText text={footer} format="html" />}
    </footer>
  );
}
