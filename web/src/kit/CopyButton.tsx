import { Button } from '@blueprintjs/core';
import { Duplicate } from '@blueprintjs/icons';
import { useCopy } from './CopyProvider.js';
import { commonTexts } from './words/common.texts.js';
import { useText } from './words/i18n.js';

interface CopyButtonProps {
  readonly text: string;
  /** What is copied, for who cannot see what it stands beside. */
  readonly label?: string;
  /** Words on the button; without, it is an icon. */
  readonly caption?: string;
  /** The text must not stand on the page, not even in the notice that it was copied. */
  readonly isSecret?: boolean;
}

export function CopyButton({ text, label, caption, isSecret = false }: CopyButtonProps) {
  const t = useText(commonTexts);
  const copy = useCopy();
  const name = label ?? t('copy');
  return (
    <Button
      variant="minimal"
      size="small"
      icon={<Duplicate size={14} />}
      text={caption}
      title={name}
      aria-label={caption === undefined ? name : undefined}
      onClick={() => void copy(text, isSecret ? t('copied.secret') : undefined)}
    />
  );
}
