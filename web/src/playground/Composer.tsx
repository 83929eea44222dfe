import { Button, TextArea } from '@blueprintjs/core';
import { Cross, Media, SendMessage, Stop } from '@blueprintjs/icons';
import { type ClipboardEvent, type KeyboardEvent, useId, useRef, useState } from 'react';
import { useText } from '../kit/words/i18n.js';
import { limits } from './conversation.js';
import { type ImageProblem, imageLimits, imageTypes, readImages } from './images.js';
import { playgroundTexts } from './playground.texts.js';

export interface Draft {
  readonly text: string;
  readonly images: readonly string[];
}

export const emptyDraft: Draft = { text: '', images: [] };

interface ComposerProps {
  readonly draft: Draft;
  readonly onChange: (change: (draft: Draft) => Draft) => void;
  readonly isBusy: boolean;
  /** Why nothing can be sent; null: it can. */
  readonly hindrance: string | null;
  readonly onSend: () => void;
  readonly onStop: () => void;
}

/** What is said next: a text, and pictures pasted or picked. */
export function Composer({ draft, onChange, isBusy, hindrance, onSend, onStop }: ComposerProps) {
  const t = useText(playgroundTexts);
  const note = useId();
  const picker = useRef<HTMLInputElement>(null);
  const [problem, setProblem] = useState<ImageProblem | null>(null);
  const isEmpty = draft.text.trim() === '' && draft.images.length === 0;

  const add = async (files: readonly File[]): Promise<void> => {
    const { images, problem: wrong } = await readImages(files, imageLimits.count - draft.images.length);
    setProblem(wrong);
    onChange(({ text, images: known }) => ({
      text,
      images: [...new Set([...known, ...images])].slice(0, imageLimits.count),
    }));
  };
  const paste = (event: ClipboardEvent): void => {
    const files = [...event.clipboardData.files];
    if (files.length === 0) return;
    event.preventDefault();
    void add(files);
  };
  const send = (): void => {
    if (isEmpty || isBusy || hindrance !== null) return;
    setProblem(null);
    onSend();
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    // Enter also ends what an input method composes.
    if (event.key !== 'Enter' || event.shiftKey || event.nativeEvent.isComposing) return;
    event.preventDefault();
    send();
  };
  const said = problem === null ? hindrance : t(`image.${problem}`);

  return (
    <div className="playground-composer">
      {draft.images.length > 0 && (
        <ul className="playground-images">
          {draft.images.map((url, index) => (
            <li key={url}>
              <img src={url} alt={t('image.shown', { number: index + 1 })} />
              <Button
                size="small"
                icon={<Cross />}
                aria-label={t('image.remove', { number: index + 1 })}
                onClick={() =>
                  onChange(({ text, images }) => ({ text, images: images.filter((_, at) => at !== index) }))
                }
              />
            </li>
          ))}
        </ul>
      )}
      <div className="playground-writing">
        <TextArea
          fill
          autoResize
          rows={2}
          value={draft.text}
          maxLength={limits.promptLength}
          placeholder={t('message.hint')}
          aria-label={t('message')}
          aria-describedby={said === null ? undefined : note}
          onChange={({ currentTarget: { value } }) => onChange(({ images }) => ({ text: value, images }))}
          onKeyDown={onKeyDown}
          onPaste={paste}
        />
        <Button icon={<Media />} aria-label={t('image.add')} onClick={() => picker.current?.click()} />
        {isBusy ? (
          <Button key="stop" intent="danger" icon={<Stop />} text={t('stop')} onClick={onStop} />
        ) : (
          <Button
            key="send"
            intent="primary"
            icon={<SendMessage />}
            text={t('send')}
            disabled={isEmpty || hindrance !== null}
            onClick={send}
          />
        )}
        <input
          ref={picker}
          type="file"
          hidden
          multiple
          accept={imageTypes.join(',')}
          aria-label={t('image.add')}
          onChange={({ currentTarget }) => {
            void add([...(currentTarget.files ?? [])]);
            currentTarget.value = '';
          }}
        />
      </div>
      {said !== null && (
        <p id={note} role="alert" className="playground-problem">
          {said}
        </p>
      )}
    </div>
  );
}
