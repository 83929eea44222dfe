import type { ReactNode } from 'react';
import { Link } from 'react-router-dom';
import { CutText } from '../kit/CutText.js';

/** `to` null: it leads nowhere. */
export const linked = (to: string | null, shown: ReactNode): ReactNode =>
  to === null ? shown : <Link to={to}>{shown}</Link>;

interface ShareNameProps {
  readonly name: string;
  /** As in the chart beside it. */
  readonly colour: string;
  /** Address of the lines it counts; null: they cannot be shown alone. */
  readonly to: string | null;
}

/** What a line of a table is about, which also says what the colours of a chart mean. */
export const ShareName = ({ name, colour, to }: ShareNameProps) => (
  <span className="share-name">
    <span className="swatch" style={{ background: colour }} aria-hidden="true" />
    {linked(to, <CutText text={name} />)}
  </span>
);
