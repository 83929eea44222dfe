import { useMutation } from '@apollo/client/react';
import { Callout } from '@blueprintjs/core';
import { type ChangeEvent, useId, useState } from 'react';
import { ReadPriceFileDocument, type ReadPriceFileMutation } from '../../generated/settings/prices/prices.js';
import { FormProblem } from '../../kit/form/FormProblem.js';
import type { Column } from '../../kit/table/columns.js';
import { DetailDrawer } from '../../kit/table/DetailDrawer.js';
import { ResourceTable } from '../../kit/table/ResourceTable.js';
import { errorText } from '../../kit/words/errors.js';
import { useText } from '../../kit/words/i18n.js';
import { Proposals } from './Proposals.js';
import { pricesTexts } from './prices.texts.js';

type Content = ReadPriceFileMutation['readPriceFile'];
type Fault = Content['faults'][number];

/** What a gateway takes; looked at before a file is read. */
const maxFileBytes = 640 * 1024;

interface ImportPricesProps {
  readonly onChanged: () => void;
  readonly onClose: () => void;
}

/** A file of prices: what it would change is shown first, and all that is wrong with it. */
export function ImportPrices({ onChanged, onClose }: ImportPricesProps) {
  const t = useText(pricesTexts);
  const field = useId();
  const [content, setContent] = useState<Content | null>(null);
  const [problem, setProblem] = useState<string | null>(null);
  const [read] = useMutation(ReadPriceFileDocument, { context: { errors: 'inline' } });

  const choose = async ({ currentTarget }: ChangeEvent<HTMLInputElement>): Promise<void> => {
    const chosen = currentTarget.files?.[0];
    setContent(null);
    setProblem(null);
    if (chosen === undefined) return;
    if (chosen.size > maxFileBytes) return setProblem(t('file.tooLarge'));
    try {
      const { data } = await read({ variables: { file: await chosen.text() } });
      setContent(data?.readPriceFile ?? null);
    } catch (failure) {
      setProblem(errorText(failure));
    }
  };
  const columns: readonly Column<Fault>[] = [
    { id: 'row', header: t('file.row'), heading: true, cell: ({ row }) => row },
    { id: 'field', header: t('file.field'), wraps: true, cell: (fault) => fault.field },
    { id: 'allowed', header: t('file.allowed'), wraps: true, cell: ({ allowed }) => allowed },
  ];

  return (
    <DetailDrawer title={t('file.title')} size="wide" keepOnOutsideClick onClose={onClose}>
      <p>{t('file.help')}</p>
      <label htmlFor={field}>{t('file.choose')}</label>
      <input
        id={field}
        className="price-file"
        type="file"
        accept="application/json,.json"
        onChange={(event) => void choose(event)}
      />
      <FormProblem text={problem} />
      {content !== null && content.faults.length > 0 && (
        <>
          <Callout intent="danger" compact role="alert">
            {t('file.refused', { faults: content.faults.length })}
          </Callout>
          <ResourceTable
            label={t('file.faults')}
            columns={columns}
            rows={content.faults}
            rowKey={(fault) => `${fault.row} ${fault.field}`}
          />
        </>
      )}
      {content !== null && content.faults.length === 0 && content.proposals.length === 0 && (
        <Callout compact role="status">
          {t('file.nothing')}
        </Callout>
      )}
      {content !== null && content.proposals.length > 0 && (
        <>
          <p>{t('file.unchanged', { count: content.unchanged })}</p>
          <Proposals
            label={t('file.title')}
            proposals={content.proposals}
            kind="IMPORT"
            onApplied={() => {
              onChanged();
              onClose();
            }}
          />
        </>
      )}
    </DetailDrawer>
  );
}
