import type { ReactNode } from 'react';
import { isTexts, useRemembered } from '../remembered.js';

export interface Column<Row> {
  readonly id: string;
  readonly header: string;
  readonly cell: (row: Row) => ReactNode;
  /** What a row is called; what opens the row is a link on it, and it cannot be switched off. */
  readonly heading?: true;
  /** A second line under it, smaller, which belongs to no link. */
  readonly under?: (row: Row) => ReactNode;
  /** CSS width; without, as wide as the content wants. */
  readonly width?: number | string;
  /** A text is cut where its cell ends, so that no name takes the room of others; this one runs over several lines. */
  readonly wraps?: boolean;
  /** Stays in sight at the right while the table scrolls sideways: what can be done to a row, and what it cost. */
  readonly pinned?: boolean;
  /** Figures stand at the end, so that their digits line up. */
  readonly align?: 'start' | 'end';
  /** 1: always shown; 2: not on phones; 3: only on wide screens. What is hidden belongs in the drawer or the detail. */
  readonly priority?: 1 | 2 | 3;
  /** Cannot be switched off in the column settings. */
  readonly fixed?: boolean;
  /** Switched off until somebody wants it. */
  readonly initiallyHidden?: boolean;
  /** Values for the table's `sort`; a click on the header takes turns. */
  readonly sort?: { readonly ascending?: string; readonly descending?: string };
}

interface ColumnChoice<Row> {
  readonly visible: readonly Column<Row>[];
  /** Ids of the columns that may be hidden and are not. */
  readonly chosen: readonly string[];
  readonly choose: (ids: readonly string[]) => void;
}

const isFixed = <Row>({ fixed = false, heading }: Column<Row>): boolean => fixed || heading === true;

export const choosable = <Row>(columns: readonly Column<Row>[]): readonly Column<Row>[] =>
  columns.filter((column) => !isFixed(column));

export const initiallyChosen = <Row>(columns: readonly Column<Row>[]): readonly string[] =>
  choosable(columns)
    .filter(({ initiallyHidden = false }) => !initiallyHidden)
    .map(({ id }) => id);

/** Which columns are shown, remembered under `key`; without one, nothing is remembered. */
export function useColumnChoice<Row>(columns: readonly Column<Row>[], key: string | undefined): ColumnChoice<Row> {
  const [hidden, setHidden] = useRemembered<readonly string[] | null>(
    key ?? 'columns',
    null,
    (value): value is readonly string[] => key !== undefined && isTexts(value),
  );
  // What is hidden is remembered, not what is shown: a column a later version adds must appear.
  const isHidden = (column: Column<Row>): boolean =>
    !isFixed(column) && (hidden === null ? column.initiallyHidden === true : hidden.includes(column.id));
  const visible = columns.filter((column) => !isHidden(column));
  return {
    visible,
    chosen: choosable(visible).map(({ id }) => id),
    choose: (ids) =>
      setHidden(
        choosable(columns)
          .map(({ id }) => id)
          .filter((id) => !ids.includes(id)),
      ),
  };
}
