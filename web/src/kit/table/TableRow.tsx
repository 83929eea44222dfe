import { Button, Checkbox } from '@blueprintjs/core';
import { ChevronDown, ChevronRight } from '@blueprintjs/icons';
import { type MouseEvent, type ReactNode, useId } from 'react';
import { Link } from 'react-router-dom';
import { CutText } from '../CutText.js';
import { commonTexts } from '../words/common.texts.js';
import { useText } from '../words/i18n.js';
import type { Column } from './columns.js';
import { cellClass } from './TableHead.js';

/** Rows ticked for an action on many. */
export interface RowSelection<Row> {
  readonly selected: ReadonlySet<string>;
  readonly onChange: (selected: ReadonlySet<string>) => void;
  /** The id of a row, as it stands in `selected`. */
  readonly keyOf: (row: Row) => string;
  /** How a row is called, for who cannot see which line a box stands in. */
  readonly nameOf: (row: Row) => string;
}

interface TableRowProps<Row> {
  readonly row: Row;
  readonly columns: readonly Column<Row>[];
  /** Address of what the row opens; null: it opens nothing. */
  readonly link: string | null;
  readonly isOpen: boolean;
  readonly isFresh: boolean;
  readonly isMuted: boolean;
  readonly selection: RowSelection<Row> | undefined;
  readonly detail: ((row: Row) => ReactNode) | undefined;
  readonly isExpanded: boolean;
  readonly onToggle: () => void;
  /** Cells of a whole row. */
  readonly width: number;
}

export function TableRow<Row>(props: TableRowProps<Row>) {
  const { row, columns, link, isOpen, isFresh, isMuted, selection, detail, isExpanded, onToggle, width } = props;
  const t = useText(commonTexts);
  const detailId = useId();
  const isSelected = selection?.selected.has(selection.keyOf(row)) === true;
  const marks = [
    detail !== undefined && 'row-unfolds',
    isOpen && 'row-open',
    isFresh && 'row-fresh',
    isMuted && 'row-muted',
    isSelected && 'row-selected',
  ];
  return (
    <>
      {/* For the keyboard there is the button at its beginning. */}
      <tr
        className={marks.filter(Boolean).join(' ')}
        onClick={detail === undefined ? undefined : (event) => isOnNothing(event) && onToggle()}
      >
        {detail !== undefined && (
          <td className="cell-toggle">
            <Button
              variant="minimal"
              size="small"
              icon={isExpanded ? <ChevronDown /> : <ChevronRight />}
              aria-label={t(isExpanded ? 'row.collapse' : 'row.expand')}
              aria-expanded={isExpanded}
              aria-controls={isExpanded ? detailId : undefined}
              onClick={onToggle}
            />
          </td>
        )}
        {selection !== undefined && (
          <td className="cell-toggle">
            <Tick row={row} {...selection} />
          </td>
        )}
        {columns.map((column) =>
          column.heading === true ? (
            <th key={column.id} scope="row" className={cellClass(column)}>
              {link === null ? (
                content(column, row)
              ) : (
                <Link to={link} className="row-link" aria-current={isOpen ? 'true' : undefined}>
                  {content(column, row)}
                </Link>
              )}
              <SecondLine>{column.under?.(row)}</SecondLine>
            </th>
          ) : (
            <td key={column.id} className={cellClass(column)}>
              {content(column, row)}
              <SecondLine>{column.under?.(row)}</SecondLine>
            </td>
          ),
        )}
      </tr>
      {detail !== undefined && isExpanded && (
        <tr id={detailId} className="row-detail">
          <td colSpan={width}>
            <div className="detail-in-sight">{detail(row)}</div>
          </td>
        </tr>
      )}
    </>
  );
}

/** Whether a click is meant for the row: not for what stands in it, and not to mark text. */
const isOnNothing = ({ target }: MouseEvent): boolean =>
  target instanceof Element &&
  target.closest('a, button, input, label, select') === null &&
  window.getSelection()?.isCollapsed !== false;

/** What stands in a cell. Texts are cut, except where they may run over several lines. */
function content<Row>({ cell, wraps = false }: Column<Row>, row: Row): ReactNode {
  const shown = cell(row);
  return typeof shown === 'string' && !wraps ? <CutText text={shown} /> : shown;
}

const SecondLine = ({ children }: { readonly children: ReactNode }) =>
  children === undefined || children === null ? null : (
    <div className="cell-second">{typeof children === 'string' ? <CutText text={children} /> : children}</div>
  );

function Tick<Row>({ row, keyOf, nameOf, selected, onChange }: RowSelection<Row> & { readonly row: Row }) {
  const t = useText(commonTexts);
  const key = keyOf(row);
  const isTicked = selected.has(key);
  const toggle = (): void => {
    const next = new Set(selected);
    if (isTicked) next.delete(key);
    else next.add(key);
    onChange(next);
  };
  return <Checkbox aria-label={t('row.select', { name: nameOf(row) })} checked={isTicked} onChange={toggle} />;
}
