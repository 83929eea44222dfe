import { Checkbox } from '@blueprintjs/core';
import { CaretDown, CaretUp, DoubleCaretVertical } from '@blueprintjs/icons';
import { commonTexts } from '../words/common.texts.js';
import { useText } from '../words/i18n.js';
import type { Column } from './columns.js';
import type { RowSelection } from './TableRow.js';

export interface TableSort {
  /** The value of the order shown, as in a column's `sort`. */
  readonly value: string;
  readonly onSort: (value: string) => void;
}

interface TableHeadProps<Row> {
  readonly columns: readonly Column<Row>[];
  readonly rows: readonly Row[];
  readonly hasDetail: boolean;
  readonly selection: RowSelection<Row> | undefined;
  readonly sort: TableSort | undefined;
}

export const cellClass = <Row,>({ align = 'start', priority = 1, pinned = false }: Column<Row>): string =>
  `cell-${align} priority-${priority}${pinned ? ' cell-pinned' : ''}`;

export function TableHead<Row>({ columns, rows, hasDetail, selection, sort }: TableHeadProps<Row>) {
  const t = useText(commonTexts);
  return (
    <thead>
      <tr>
        {hasDetail && (
          <th scope="col" className="cell-toggle">
            <span className="visually-hidden">{t('row.expand')}</span>
          </th>
        )}
        {selection !== undefined && (
          <th scope="col" className="cell-toggle">
            <SelectAll rows={rows} {...selection} />
          </th>
        )}
        {columns.map((column) => (
          <HeadCell key={column.id} column={column} sort={sort} />
        ))}
      </tr>
    </thead>
  );
}

function SelectAll<Row>({ rows, keyOf, selected, onChange }: RowSelection<Row> & { readonly rows: readonly Row[] }) {
  const t = useText(commonTexts);
  const keys = rows.map(keyOf);
  const all = keys.length > 0 && keys.every((key) => selected.has(key));
  return (
    <Checkbox
      aria-label={t('select.all')}
      checked={all}
      indeterminate={!all && keys.some((key) => selected.has(key))}
      onChange={() =>
        onChange(new Set(all ? [...selected].filter((key) => !keys.includes(key)) : [...selected, ...keys]))
      }
    />
  );
}

function HeadCell<Row>({ column, sort }: { readonly column: Column<Row>; readonly sort: TableSort | undefined }) {
  const { header, width, sort: orders } = column;
  const { ascending, descending } = orders ?? {};
  const shown = sort === undefined ? 'none' : orderOf(sort.value, ascending, descending);
  // The greatest first is what one looks for; a second click turns it round.
  const next = shown === 'descending' ? (ascending ?? descending) : (descending ?? ascending);
  return (
    <th
      scope="col"
      className={cellClass(column)}
      style={width === undefined ? undefined : { width }}
      aria-sort={sort === undefined || next === undefined ? undefined : shown}
    >
      {sort === undefined || next === undefined ? (
        header
      ) : (
        <button type="button" className="sort-button" onClick={() => sort.onSort(next)}>
          {header}
          <SortIcon order={shown} />
        </button>
      )}
    </th>
  );
}

type Order = 'ascending' | 'descending' | 'none';

const orderOf = (value: string, ascending: string | undefined, descending: string | undefined): Order => {
  if (value === ascending) return 'ascending';
  return value === descending ? 'descending' : 'none';
};

function SortIcon({ order }: { readonly order: Order }) {
  if (order === 'ascending') return <CaretUp />;
  return order === 'descending' ? <CaretDown /> : <DoubleCaretVertical className="sort-idle" />;
}
