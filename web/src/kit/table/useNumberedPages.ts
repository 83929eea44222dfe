import { useCallback } from 'react';
import { useSearchParams } from 'react-router-dom';
import { placeParameters } from './listParams.js';
import type { NumberedPaging } from './Pager.js';
import { type PageSize, usePageSize } from './usePageSize.js';

const parameter = placeParameters.page;
/** An address somebody edited by hand must not ask for page NaN, nor for one before the first. */
const pageIn = (text: string | null): number => (/^[1-9]\d{0,8}$/.test(text ?? '') ? Number(text) : 1);

interface NumberedPages {
  /** The variable `page`. */
  readonly page: number;
  /** The variable `size`. */
  readonly size: PageSize;
  /** For the table. `total`: rows on all pages; undefined: not known yet. */
  readonly paging: (total: number | undefined) => NumberedPaging;
}

/** The place in a list of known length, kept in the address as `?page=…`. `maxPageSize`: rows no page may exceed. */
export function useNumberedPages(maxPageSize: PageSize = 100): NumberedPages {
  const [search, setSearch] = useSearchParams();
  const [chosen, setChosen] = usePageSize();
  const page = pageIn(search.get(parameter));
  const size = chosen > maxPageSize ? maxPageSize : chosen;

  const go = useCallback(
    (wanted: number): void =>
      setSearch((before) => {
        const after = new URLSearchParams(before);
        if (wanted === 1) after.delete(parameter);
        else after.set(parameter, String(wanted));
        return after;
      }),
    [setSearch],
  );

  return {
    page,
    size,
    paging: (total) => ({
      kind: 'numbered',
      page,
      total,
      size,
      onPage: go,
      onSize: (wanted) => {
        setChosen(wanted);
        go(1);
      },
    }),
  };
}
