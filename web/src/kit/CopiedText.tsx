import { Button } from '@blueprintjs/core';
import { useCopy } from './CopyProvider.js';

/** A text that a click puts on the clipboard. `label`: what the click does. */
export function CopiedText({ text, label }: { readonly text: string; readonly label: string }) {
  const copy = useCopy();
  if (text === '') return null;
  return (
    <Button
      variant="minimal"
      size="small"
      className="cell-button"
      text={text}
      aria-label={label}
      title={label}
      onClick={() => void copy(text)}
    />
  );
}
