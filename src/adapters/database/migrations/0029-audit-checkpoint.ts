/** Up to which seal the log has been found to be as it should be, and what a verification goes on from. One row at most. */
export const auditCheckpoint = {
  name: '0029-audit-checkpoint',
  sql: `
CREATE TABLE audit_checkpoint (
  one boolean PRIMARY KEY DEFAULT true CHECK (one),
  number bigint NOT NULL,
  digest text NOT NULL,
  position bigint NOT NULL,
  facts text NOT NULL,
  mac text NOT NULL
);
`,
};
