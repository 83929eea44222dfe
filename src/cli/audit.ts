import { type CommandContext, UsageError } from './command.js';

/* `audit <subcommand>`: what the auditor's desk shows, for whoever has the database. */

/** Reads, and prints for people or, with `--json`, for programs. */
export type AuditCommand = (context: CommandContext) => Promise<void>;

const subcommands: Readonly<Record<string, () => Promise<AuditCommand>>> = {
  admins: async () => (await import('./audit/admins.js')).auditAdmins,
  archive: async () => (await import('./audit/archive.js')).auditArchive,
  'balance-at': async () => (await import('./audit/balance-at.js')).auditBalanceAt,
  'channel-at': async () => (await import('./audit/things-at.js')).auditChannelAt,
  close: async () => (await import('./audit/close.js')).auditClose,
  history: async () => (await import('./audit/history.js')).auditHistory,
  'key-at': async () => (await import('./audit/things-at.js')).auditKeyAt,
  margin: async () => (await import('./audit/margin.js')).auditMargin,
  periods: async () => (await import('./audit/periods.js')).auditPeriods,
  'price-at': async () => (await import('./audit/price-at.js')).auditPriceAt,
  reconcile: async () => (await import('./audit/reconcile.js')).auditReconcile,
  repair: async () => (await import('./audit/repair.js')).auditRepair,
  receipt: async () => (await import('./audit/receipt.js')).auditReceipt,
  restore: async () => (await import('./audit/archive.js')).auditRestore,
  verify: async () => (await import('./audit/verify.js')).auditVerify,
  seals: async () => (await import('./audit/seals.js')).auditSeals,
  'settings-at': async () => (await import('./audit/settings-at.js')).auditSettingsAt,
  'user-at': async () => (await import('./audit/things-at.js')).auditUserAt,
  'what-if': async () => (await import('./audit/what-if.js')).auditWhatIf,
};

export async function audit({ args, ...context }: CommandContext): Promise<void> {
  const [name = '', ...rest] = args;
  const subcommand = Object.hasOwn(subcommands, name) ? subcommands[name] : undefined;
  if (subcommand === undefined)
    throw new UsageError(`Unknown subcommand "${name}" of audit. Subcommands: ${Object.keys(subcommands).join(', ')}.`);
  await (await subcommand())({ ...context, args: rest });
}
