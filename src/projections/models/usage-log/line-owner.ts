import { type Recorded, streamKey } from '../../../domain/events/events.js';
import { assertNever } from '../../../domain/kernel/failure.js';
import { UserId } from '../../../domain/kernel/ids.js';
import { type LoggedEvent, usageLog } from './usage-log.js';

/**
 * Whose line the event may become; `root`: the root user's, whom the event does not name; `nobody`: of nobody who is
 * known. null: it becomes none.
 * Whether there is a line is for the fold to say.
 */
export function lineOwner(recorded: Recorded): UserId | 'root' | 'nobody' | null {
  if (!usageLog.interestedIn.has(recorded.event.type)) return null;
  const { event, stream } = recorded as Recorded<LoggedEvent>;
  switch (event.type) {
    case 'CallSettled':
    case 'CallReleased':
    case 'CallRefunded':
    case 'CallCorrected':
      return event.facts.userId;
    case 'CallRefused':
    case 'CallsRefused':
      return event.refusal.userId ?? 'nobody';
    case 'QuotaGranted':
    case 'QuotaAdjusted':
    case 'InviteRewardEarned':
      return UserId(streamKey(stream));
    case 'TopUpCompleted':
    case 'TopUpRefunded':
    case 'TopUpDisputed':
    case 'TopUpDisputeWon':
    case 'RedemptionCodeRedeemed':
      return event.user;
    case 'RedemptionCodeIssued':
    case 'RedemptionCodeEdited':
      return event.by;
    case 'ApiKeyRevoked':
      return event.owner;
    case 'ChannelTested':
      return 'root';
    case 'OptionChanged':
    case 'SetupCompleted':
    case 'LogsCleared':
      return null;
    default:
      return assertNever(event);
  }
}
