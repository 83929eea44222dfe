/** Up to where in the log each reaction has done what was to be done. */
export const reactionPlaces = {
  name: '0012-reaction-places',
  sql: `
CREATE TABLE reaction_places (
  reaction text PRIMARY KEY,
  position bigint NOT NULL
);
`,
};
