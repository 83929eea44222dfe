import { Link } from 'react-router-dom';
import type { MovementCause } from '../generated/audit/audit.js';

const causesOfCalls: readonly MovementCause[] = [
  'RESERVATION',
  'SETTLEMENT',
  'RELEASE',
  'SUSPENSE',
  'REFUND',
  'CORRECTION',
];

interface MovementSubjectProps {
  readonly cause: MovementCause;
  /** null: there is none. */
  readonly subject?: string | null;
}

/** Where what is behind a movement is shown. */
export function MovementSubject({ cause, subject }: MovementSubjectProps) {
  if (subject === null || subject === undefined) return '—';
  if (causesOfCalls.includes(cause)) return <Link to={`/log/${subject}`}>{subject}</Link>;
  if (cause === 'TOP_UP' || cause === 'TOP_UP_RETURN')
    return <Link to={`/audit?kind=PAYMENT&id=${subject}`}>{subject}</Link>;
  if (cause === 'REDEMPTION') return <Link to={`/audit?kind=CODE&id=${subject}`}>{subject}</Link>;
  return <Link to={`/audit?kind=USER&id=${subject}`}>{subject}</Link>;
}
