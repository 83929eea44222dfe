import { Media } from '@blueprintjs/icons';
import { useState } from 'react';
import { useText } from '../kit/words/i18n.js';
import { tasksTexts } from './tasks.texts.js';

interface PictureProps {
  readonly url: string;
  readonly alt: string;
  /** As large as a row of a table is high. */
  readonly small?: boolean;
}

/** A picture of a task; where it cannot be loaded, that is said in its place. A later address is tried anew. */
export function Picture({ url, alt, small = false }: PictureProps) {
  const t = useText(tasksTexts);
  const [failed, setFailed] = useState<string | null>(null);
  if (failed === url)
    return small ? <Media title={t('media.failed')} /> : <p className="page-help">{t('media.failed')}</p>;
  return (
    <img
      className={small ? 'task-thumbnail' : 'task-picture'}
      src={url}
      alt={alt}
      loading="lazy"
      referrerPolicy="no-referrer"
      onError={() => setFailed(url)}
    />
  );
}
