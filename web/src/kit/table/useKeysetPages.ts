import { useCallback } from 'react';
import { useLocation, useNavigate, useSearchParams } from 'react-router-dom';
import { placeParameters } from './listParams.js';
import type { KeysetPaging } from './Pager.js';
import { usePageSize } from './usePageSize.js';

const parameter = placeParameters.after;

/** Cursors of the pages passed on the way here, kept with the entry of the browser's history: reload keeps them. */
interface Trail {
  readonly trail: readonly (string | null)[];
}

const isTrail = (state: unknown): state is Trail =>
  typeof state === 'object' && state !== null && 'trail' in state && Array.isArray(state.trail);

interface KeysetPages {
  /** The variable `after`; null: the newest page. */
  readonly after: string | null;
  /** The variable `first`. */
  readonly size: KeysetPaging['size'];
  readonly isNewest: boolean;
  /** For the table, once the page's own `pageInfo` is known. */
  readonly paging: (
    info: { readonly hasNextPage: boolean; readonly endCursor?: string | null } | undefined,
  ) => KeysetPaging;
}

/** The place in a list paged by cursors, kept in the address as `?after=…`. */
export function useKeysetPages(): KeysetPages {
  const [search] = useSearchParams();
  const location = useLocation();
  const navigate = useNavigate();
  const [size, setSize] = usePageSize();
  const after = search.get(parameter) || null;
  const known = isTrail(location.state) ? location.state.trail : null;
  const trail = after === null ? [] : known;

  const go = useCallback(
    (cursor: string | null, passed: Trail['trail']): void => {
      const params = new URLSearchParams(location.search);
      if (cursor === null) params.delete(parameter);
      else params.set(parameter, cursor);
      void navigate({ search: params.toString() }, { state: { trail: passed } });
    },
    [location.search, navigate],
  );

  return {
    after,
    size,
    isNewest: after === null,
    paging: (info) => ({
      kind: 'keyset',
      page: trail === null ? null : trail.length + 1,
      hasNext: info?.hasNextPage === true,
      size,
      onNext: () => {
        if (typeof info?.endCursor === 'string') go(info.endCursor, [...(trail ?? []), after]);
      },
      onSize: (chosen) => {
        setSize(chosen);
        // Where pages of another size would begin is not known; the head is.
        if (after !== null) go(null, []);
      },
      onNewest: after === null ? null : () => go(null, []),
      onPrevious: trail === null || trail.length === 0 ? null : () => go(trail.at(-1) ?? null, trail.slice(0, -1)),
    }),
  };
}
