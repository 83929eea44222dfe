import { Button, ButtonGroup, HTMLSelect } from '@blueprintjs/core';
import { ChevronLeft, ChevronRight, DoubleChevronLeft, DoubleChevronRight } from '@blueprintjs/icons';
import type { JSX } from 'react';
import { commonTexts } from '../words/common.texts.js';
import { useText } from '../words/i18n.js';
import { type PageSize, pageSizes } from './usePageSize.js';

/** Pages counted from 1, of a list whose length is known. */
export interface NumberedPaging {
  readonly kind: 'numbered';
  readonly page: number;
  readonly total: number | undefined;
  readonly size: PageSize;
  readonly onPage: (page: number) => void;
  readonly onSize: (size: PageSize) => void;
}

/** Pages of a list that grows at its head: each follows a line of the one before. `useKeysetPages` keeps the way back. */
export interface KeysetPaging {
  readonly kind: 'keyset';
  readonly page: number | null;
  readonly hasNext: boolean;
  readonly size: PageSize;
  readonly onNext: () => void;
  readonly onSize: (size: PageSize) => void;
  /** null: this is the newest page. */
  readonly onNewest: (() => void) | null;
  /** null: the page was opened by its address, or is the newest. */
  readonly onPrevious: (() => void) | null;
}

export type Paging = NumberedPaging | KeysetPaging;

interface StepProps {
  readonly icon: JSX.Element;
  readonly name: string;
  readonly onClick: (() => void) | null;
}

const Step = ({ icon, name, onClick }: StepProps) => (
  <Button
    icon={icon}
    aria-label={name}
    title={name}
    disabled={onClick === null}
    onClick={onClick ?? undefined}
    size="small"
  />
);

function NumberedSteps({ page, total, size, onPage }: NumberedPaging) {
  const t = useText(commonTexts);
  const pages = Math.max(1, Math.ceil((total ?? 0) / size));
  const back = (to: number) => (page > 1 ? () => onPage(to) : null);
  const forth = (to: number) => (page < pages ? () => onPage(to) : null);
  return (
    <>
      {total !== undefined && <span className="pager-total">{t('page.total', { total })}</span>}
      <ButtonGroup>
        <Step icon={<DoubleChevronLeft />} name={t('page.first')} onClick={back(1)} />
        <Step icon={<ChevronLeft />} name={t('page.previous')} onClick={back(page - 1)} />
      </ButtonGroup>
      <span aria-current="page">{t('page.of', { page, pages })}</span>
      <ButtonGroup>
        <Step icon={<ChevronRight />} name={t('page.next')} onClick={forth(page + 1)} />
        <Step icon={<DoubleChevronRight />} name={t('page.last')} onClick={forth(pages)} />
      </ButtonGroup>
    </>
  );
}

function KeysetSteps({ page, hasNext, onNext, onNewest, onPrevious }: KeysetPaging) {
  const t = useText(commonTexts);
  return (
    <>
      <ButtonGroup>
        <Step icon={<DoubleChevronLeft />} name={t('page.newest')} onClick={onNewest} />
        <Step icon={<ChevronLeft />} name={t('page.previous')} onClick={onPrevious} />
      </ButtonGroup>
      {page !== null && <span aria-current="page">{t('page.number', { page })}</span>}
      <Step icon={<ChevronRight />} name={t('page.next')} onClick={hasNext ? onNext : null} />
    </>
  );
}

export function Pager(paging: Paging) {
  const t = useText(commonTexts);
  const { size, onSize } = paging;
  const choose = (chosen: string): void => {
    const known = pageSizes.find((one) => String(one) === chosen);
    if (known !== undefined) onSize(known);
  };
  return (
    <nav className="pager" aria-label={t('page.navigation')}>
      {paging.kind === 'numbered' ? <NumberedSteps {...paging} /> : <KeysetSteps {...paging} />}
      <HTMLSelect
        aria-label={t('page.size')}
        value={size}
        minimal
        options={pageSizes.map((value) => ({ value, label: t('page.sizeOption', { size: value }) }))}
        onChange={(event) => choose(event.currentTarget.value)}
      />
    </nav>
  );
}
