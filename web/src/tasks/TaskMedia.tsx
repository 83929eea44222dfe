import { Share } from '@blueprintjs/icons';
import type { TaskRowFragment } from '../generated/tasks/tasks.js';
import { useText } from '../kit/words/i18n.js';
import { Picture } from './Picture.js';
import { tasksTexts } from './tasks.texts.js';

/** All that a task has made: pictures to look at, sound and videos to play, each also by itself. */
export function TaskMedia({
  task: { publicId, media },
}: {
  readonly task: Pick<TaskRowFragment, 'publicId' | 'media'>;
}) {
  const t = useText(tasksTexts);
  if (media.length === 0) return <p className="page-help">{t('media.none')}</p>;
  return (
    <ul className="task-media">
      {media.map((one, index) => (
        <li key={one.url}>
          <Shown media={one} task={publicId} number={index + 1} />
          <a href={one.url} target="_blank" rel="noopener noreferrer">
            <Share size={12} /> {t('media.open')}
          </a>
        </li>
      ))}
    </ul>
  );
}

function Shown({
  media: { kind, url },
  task,
  number,
}: {
  readonly media: TaskRowFragment['media'][number];
  readonly task: string;
  readonly number: number;
}) {
  const t = useText(tasksTexts);
  const label = t('media.label', { task, number });
  switch (kind) {
    case 'PICTURE':
      return <Picture url={url} alt={t('media.alt', { task, number })} />;
    case 'AUDIO':
      // biome-ignore lint/a11y/useMediaCaption: nobody has captions of what was made a moment ago
      return <audio controls preload="none" src={url} aria-label={label} />;
    case 'VIDEO':
      // biome-ignore lint/a11y/useMediaCaption: see above
      return <video controls preload="metadata" src={url} aria-label={label} />;
  }
}
