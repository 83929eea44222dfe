import { Music, Video } from '@blueprintjs/icons';
import { Link } from 'react-router-dom';
import type { TaskRowFragment } from '../generated/tasks/tasks.js';
import { itemOf, useOpenItem } from '../kit/table/openItem.js';
import { useText } from '../kit/words/i18n.js';
import { Picture } from './Picture.js';
import { tasksTexts } from './tasks.texts.js';

/** What a task has made: its first picture small, or what there is to play; a click opens all of it. */
export function MediaCell({ task: { id, publicId, media } }: { readonly task: TaskRowFragment }) {
  const t = useText(tasksTexts);
  const { openLink } = useOpenItem();
  const shown = media.find(({ kind }) => kind !== 'PICTURE') ?? media[0];
  if (shown === undefined) return null;
  const what = t(`media.${shown.kind}`);
  const label = media.length > 1 ? t('media.more', { what, count: media.length }) : what;
  return (
    <Link
      to={openLink(itemOf('media', id))}
      className="task-media-link"
      title={label}
      aria-label={`${label} ${publicId}`}
    >
      {shown.kind === 'PICTURE' ? (
        <Picture url={shown.url} alt="" small />
      ) : (
        <>
          {shown.kind === 'AUDIO' ? <Music /> : <Video />}
          <span>{what}</span>
        </>
      )}
    </Link>
  );
}
