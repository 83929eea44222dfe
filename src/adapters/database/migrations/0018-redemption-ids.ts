export const redemptionIds = {
  name: '0018-redemption-ids',
  sql: `
CREATE SEQUENCE redemption_ids;
`,
};
