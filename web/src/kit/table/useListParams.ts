import { useCallback, useEffect, useRef } from 'react';
import { useSearchParams } from 'react-router-dom';
import { type ListParams, readListParams, type Widened, writeListParams } from './listParams.js';

type SetListParams<Params extends ListParams> = (patch: Partial<Widened<Params>>) => void;

/**
 * How a list is filtered and sorted, kept in the address: back, reload and sharing work. Where in it one is, is kept by
 * `useNumberedPages` or `useKeysetPages`, and forgotten with every change of these.
 */
export function useListParams<Params extends ListParams>(defaults: Params): [Widened<Params>, SetListParams<Params>] {
  // Pages write their defaults in place, a new object with every rendering; what they say does not change.
  const { current: fixed } = useRef(defaults);
  const [search, setSearch] = useSearchParams();
  // A page that is slow to draw shows an address late; what is changed meanwhile adds to it.
  const latest = useRef(search);
  useEffect(() => {
    latest.current = search;
  }, [search]);
  const set = useCallback<SetListParams<Params>>(
    (patch) => {
      latest.current = writeListParams(fixed, latest.current, patch);
      setSearch(latest.current);
    },
    [fixed, setSearch],
  );
  return [readListParams(fixed, search), set];
}
