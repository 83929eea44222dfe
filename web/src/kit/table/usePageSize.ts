import { useRemembered } from '../remembered.js';

export const pageSizes = [10, 20, 50, 100] as const;
export type PageSize = (typeof pageSizes)[number];

const isPageSize = (value: unknown): value is PageSize => pageSizes.some((size) => size === value);

/** Rows per page: one choice for all lists, remembered by the browser. */
export const usePageSize = (): [PageSize, (size: PageSize) => void] =>
  useRemembered<PageSize>('page-size', 10, isPageSize);
