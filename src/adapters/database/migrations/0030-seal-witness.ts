/** The newest seal, with a keyed hash: what the sealer goes on from. One row at most. */
export const sealWitness = {
  name: '0030-seal-witness',
  sql: `
CREATE TABLE seal_witness (
  one boolean PRIMARY KEY DEFAULT true CHECK (one),
  number bigint NOT NULL,
  digest text NOT NULL,
  mac text NOT NULL
);
`,
};
