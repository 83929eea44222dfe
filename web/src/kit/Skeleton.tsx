import { Classes } from '@blueprintjs/core';
import { commonTexts } from './words/common.texts.js';
import { useText } from './words/i18n.js';

/** Where a few lines will stand once they are known. */
export function SkeletonLines() {
  const t = useText(commonTexts);
  return (
    <div role="status" aria-busy="true" className="skeleton-lines">
      <span className="visually-hidden">{t('loading')}</span>
      {(['long', 'longer', 'short'] as const).map((length) => (
        <div key={length} className={`skeleton-line skeleton-line-${length} ${Classes.SKELETON}`} />
      ))}
    </div>
  );
}

/** Where a page will stand: its title, and what it begins with. */
export const SkeletonPage = () => (
  <div className="page">
    <div className={`skeleton-title ${Classes.SKELETON}`} />
    <SkeletonLines />
  </div>
);

/** The same while it is not known yet what surrounds the page. */
export const SkeletonShell = () => (
  <div className="shell">
    <div className="top-bar" />
    <SkeletonPage />
  </div>
);
