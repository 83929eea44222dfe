import { useMutation } from '@apollo/client/react';
import { Button, FileInput } from '@blueprintjs/core';
import { type FormEvent, useId, useState } from 'react';
import { ReadPublishedPricesDocument } from '../../generated/settings/updates/updates.js';
import { SwitchField, TextField } from '../../kit/form/Fields.js';
import { FormProblem } from '../../kit/form/FormProblem.js';
import { Section } from '../../kit/Section.js';
import { toaster } from '../../kit/Toasts.js';
import { useText } from '../../kit/words/i18n.js';
import { updatesTexts } from './updates.texts.js';

const maxFileBytes = 16 * 1024 * 1024;

/** Compressed, so that it fits into an order. */
async function gzipped(file: File): Promise<string> {
  const packed = await new Response(file.stream().pipeThrough(new CompressionStream('gzip'))).blob();
  return new Promise((resolve, reject) => {
    const reader = new FileReader();
    reader.onload = () => resolve(String(reader.result).replace(/^[^,]*,/, ''));
    reader.onerror = () => reject(reader.error);
    reader.readAsDataURL(packed);
  });
}

const isMargin = (text: string): boolean => Number(text) >= 0.1 && Number(text) <= 10;

/** A price list that somebody has at hand. */
export function PriceFile({ onRead }: { readonly onRead: (name: string) => Promise<void> }) {
  const t = useText(updatesTexts);
  const id = useId();
  const [file, setFile] = useState<File | null>(null);
  const [bareNames, setBareNames] = useState(false);
  const [margin, setMargin] = useState('1');
  const [problem, setProblem] = useState<string | null>(null);
  const [read, { loading }] = useMutation(ReadPublishedPricesDocument);

  const submit = async (): Promise<void> => {
    if (file === null) return setProblem(t('file.needed'));
    if (file.size > maxFileBytes) return setProblem(t('file.tooLarge'));
    if (!isMargin(margin)) return;
    setProblem(null);
    const variables = { gzip: await gzipped(file), bareNames, margin: Number(margin) };
    const { data } = await read({ variables });
    if (data === undefined || data === null) return;
    const { name, models } = data.readPublishedPrices;
    toaster.success(t('fetched', { models: String(models ?? 0) }));
    await onRead(name);
  };

  return (
    <Section title={t('file.title')}>
      <form
        className="setting-order"
        noValidate
        onSubmit={(event: FormEvent) => {
          event.preventDefault();
          // Said where all mutations fail.
          void submit().catch(() => undefined);
        }}
      >
        <FormProblem text={problem} />
        <label htmlFor={id}>{t('file.choose')}</label>
        <FileInput
          fill
          text={file?.name ?? '…'}
          hasSelection={file !== null}
          inputProps={{ id, accept: '.json,application/json' }}
          onInputChange={({ currentTarget }) => setFile(currentTarget.files?.[0] ?? null)}
        />
        <SwitchField label={t('file.bare')} value={bareNames} onChange={setBareNames} />
        <TextField
          label={t('file.margin')}
          value={margin}
          error={isMargin(margin) ? undefined : t('file.marginProblem')}
          onChange={setMargin}
        />
        <Button type="submit" text={t('file.read')} loading={loading} />
      </form>
    </Section>
  );
}
