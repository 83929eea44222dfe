import { useCallback, useRef } from 'react';
import { useSearchParams } from 'react-router-dom';
import { type ListParams, readListParams, type Widened, writeListParams } from './listParams.js';

export type SetListParams<Params extends ListParams> = (
  patch: Partial<Widened<Params>>,
  options?: { readonly replace?: boolean },
) => void;

/**
 * The state of a list, kept in the address: back, reload and sharing work. `replace` changes the present entry of the
 * history instead of adding one, for what changes with every key stroke.
 */
export function useListParams<Params extends ListParams>(defaults: Params): [Widened<Params>, SetListParams<Params>] {
  // Pages write their defaults in place, a new object with every rendering; what they say does not change.
  const { current: fixed } = useRef(defaults);
  const [search, setSearch] = useSearchParams();
  const set = useCallback<SetListParams<Params>>(
    (patch, { replace = false } = {}) => setSearch((before) => writeListParams(fixed, before, patch), { replace }),
    [fixed, setSearch],
  );
  return [readListParams(fixed, search), set];
}
