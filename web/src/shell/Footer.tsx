import { LazyOperatorText } from '../kit/LazyOperatorText.js';
import { useStatus } from '../kit/SessionProvider.js';
import { useText } from '../kit/words/i18n.js';
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
