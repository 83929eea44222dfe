import { assertNever } from '../kernel/failure.js';
import type { SecretId } from '../kernel/ids.js';
import type { DomainEvent } from './events.js';

/* Which secrets of the vault a stream names: said once, over all events. */

/** By place. An event replaces what it names; null: that place holds none any more. */
type SecretReferences = Readonly<Record<string, SecretId | null>>;

/** What an event says of its stream's secrets. `'none'`: there are none any more; null: it says nothing of them. */
export function secretReferences(event: DomainEvent): SecretReferences | 'none' | null {
  switch (event.type) {
    case 'ChannelAdded':
    case 'ChannelEdited':
      return { key: event.secrets.key, proxy: event.secrets.proxy };
    case 'ApiKeyIssued':
    case 'RedemptionCodeIssued':
      return { key: event.secret };
    case 'UserRegistered':
    case 'PasswordChanged':
      return { password: event.passwordSecret };
    case 'UserSettingsChanged':
      return { webhook: event.webhookSecret };
    case 'TotpEnrolled':
      return { totp: event.secret };
    case 'TotpTurnedOff':
      return { totp: null };
    case 'OptionChanged':
      return { [event.key]: 'secret' in event.value ? event.value.secret : null };
    case 'ChannelRemoved':
    case 'ApiKeyDeleted':
    case 'RedemptionCodeDeleted':
    case 'UserDeleted':
    case 'UserErased':
    case 'FactorsReset':
      return 'none';
    // Its password is the root user's from the moment that one is registered: that stream says what becomes of it.
    case 'ModelPricesChanged':
    case 'SetupCompleted':
    case 'UserProfileChanged':
    case 'EmailChanged':
    case 'IdentityLinked':
    case 'IdentityUnlinked':
    case 'PasskeyGivenUp':
    case 'SignInsEnded':
    case 'InviteCodeIssued':
    case 'InviteRewardPromised':
    case 'InviteRewardEarned':
    case 'InviteRewardTransferred':
    case 'UserGroupChanged':
    case 'UserRoleChanged':
    case 'UserDisabled':
    case 'UserEnabled':
    case 'AccessTokenIssued':
    case 'QuotaGranted':
    case 'QuotaAdjusted':
    case 'UsernameClaimed':
    case 'UsernameReleased':
    case 'IdentityClaimed':
    case 'IdentityReleased':
    case 'TotpCodeUsed':
    case 'RecoveryCodesRenewed':
    case 'RecoveryCodeUsed':
    case 'PasskeyAdded':
    case 'PasskeyUsed':
    case 'PasskeyRenamed':
    case 'PasskeyRemoved':
    case 'InviteCodeClaimed':
    case 'InviteCodeReleased':
    case 'ApiKeyEdited':
    case 'ApiKeyEnabled':
    case 'ApiKeyDisabled':
    case 'ApiKeyRevoked':
    case 'ChannelEnabled':
    case 'ChannelDisabled':
    case 'ChannelTested':
    case 'RedemptionCodeEdited':
    case 'RedemptionCodeEnabled':
    case 'RedemptionCodeDisabled':
    // Worth nothing any more, and still to be shown in the list.
    case 'RedemptionCodeRedeemed':
    case 'ChannelBalanceObserved':
    case 'ChannelTestRunFinished':
    case 'LogsCleared':
    case 'CallReserved':
    case 'CallSettled':
    case 'CallReleased':
    case 'CallRefunded':
    case 'CallCorrected':
    case 'CallRefused':
    case 'CallsRefused':
    case 'TaskSubmitted':
    case 'TaskProgressed':
    case 'TaskSucceeded':
    case 'TaskFailed':
    case 'TopUpRequested':
    case 'TopUpBegun':
    case 'TopUpCompleted':
    case 'TopUpExpired':
    case 'TopUpRefunded':
    case 'TopUpDisputed':
    case 'TopUpDisputeWon':
    case 'UsageExportMapped':
    case 'BalancesRecorded':
    case 'PeriodClosed':
    case 'PeriodArchived':
    case 'RepairOrdered':
    case 'RepairEnded':
    case 'RepairUndoOrdered':
    case 'RepairUndoEnded':
    case 'EventQuarantined':
      return null;
    default:
      return assertNever(event);
  }
}

/** The secrets a stream names after one more event. */
export function withSecretsOf(named: ReadonlyMap<string, SecretId>, event: DomainEvent): ReadonlyMap<string, SecretId> {
  const said = secretReferences(event);
  if (said === null) return named;
  if (said === 'none') return new Map();
  const after = new Map(named);
  for (const [owner, secret] of Object.entries(said)) {
    if (secret === null) after.delete(owner);
    else after.set(owner, secret);
  }
  return after;
}
