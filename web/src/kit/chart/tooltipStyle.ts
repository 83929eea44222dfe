import './chart.css';

/** The charts style their tooltips in place, where no stylesheet reaches. */
export const tooltipStyle = {
  padding: '6px 8px',
  border: '1px solid var(--line)',
  borderRadius: 3,
  background: 'var(--raised)',
  fontSize: 12,
} as const;
