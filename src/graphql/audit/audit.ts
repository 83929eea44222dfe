import { AdministratorsLogResolver } from './administrators-log.js';
import { closedPeriodResolvers } from './closed-periods.js';
import { MovementEventResolver } from './movement-event.js';
import { quotaHistoryResolvers } from './quota-history.js';
import { receiptResolvers } from './receipt.js';
import { repairResolvers } from './repair.js';
import { sealResolvers } from './seals.js';
import { SettingsAtResolver } from './settings-at.js';
import { asOfResolvers } from './things-at.js';
import { whatIfResolvers } from './what-if.js';

/** What the auditor's desk asks. */
export const auditResolvers = [
  ...quotaHistoryResolvers,
  ...asOfResolvers,
  ...sealResolvers,
  ...receiptResolvers,
  ...closedPeriodResolvers,
  ...whatIfResolvers,
  ...repairResolvers,
  SettingsAtResolver,
  AdministratorsLogResolver,
  MovementEventResolver,
] as const;
