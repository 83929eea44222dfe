import { type Position, streams } from '../../domain/events/events.js';
import type { RedemptionId } from '../../domain/kernel/ids.js';
import {
  checkRedemptionName,
  type RedemptionCommand,
  redemptionDecider,
  redemptionQuota,
} from '../../domain/payment/redemption.js';
import type { Actor } from '../../domain/user/user.js';
import { authorise } from '../authorise.js';
import type { Handle } from '../handle.js';
import type { Clock, Vault } from '../ports/storage-ports.js';
import { type IssueCodesPorts, issueCodes, type RedemptionInput } from './issue-codes.js';
import { guessLimits, type RedeemPorts, redeemCode } from './redeem-code.js';

interface RedemptionPorts {
  readonly handle: Handle;
}

interface RedemptionCommandPorts extends IssueCodesPorts, RedeemPorts {
  readonly clock: Clock;
  readonly vault: Vault;
}

async function change(
  { handle }: RedemptionPorts,
  actor: Actor,
  id: RedemptionId,
  command: RedemptionCommand,
): Promise<Position> {
  const { position } = await handle.by(actor)(redemptionDecider, streams.redemption(id), command);
  return position;
}

async function editRedemption(
  ports: RedemptionPorts,
  actor: Actor,
  id: RedemptionId,
  { name, quota }: RedemptionInput,
): Promise<Position> {
  authorise(actor, 'admin');
  checkRedemptionName(name);
  return change(ports, actor, id, { type: 'EditRedemptionCode', by: actor.id, name, quota: redemptionQuota(quota) });
}

async function setRedemptionEnabled(
  ports: RedemptionPorts,
  actor: Actor,
  id: RedemptionId,
  enabled: boolean,
): Promise<Position> {
  authorise(actor, 'admin');
  return change(ports, actor, id, { type: enabled ? 'EnableRedemptionCode' : 'DisableRedemptionCode', by: actor.id });
}

async function removeRedemption(ports: RedemptionPorts, actor: Actor, id: RedemptionId): Promise<Position> {
  authorise(actor, 'admin');
  return change(ports, actor, id, { type: 'DeleteRedemptionCode', by: actor.id });
}

export function redemptionCommands(ports: RedemptionCommandPorts) {
  const limits = guessLimits(ports.clock);
  return {
    issue: (actor: Actor, input: RedemptionInput, count: number, key: string | null = null) =>
      issueCodes(ports, actor, { ...input, count, key }),
    edit: (actor: Actor, id: RedemptionId, input: RedemptionInput) => editRedemption(ports, actor, id, input),
    setEnabled: (actor: Actor, id: RedemptionId, enabled: boolean) => setRedemptionEnabled(ports, actor, id, enabled),
    remove: (actor: Actor, id: RedemptionId) => removeRedemption(ports, actor, id),
    redeem: (actor: Actor, code: string, network: string, key: string | null = null) =>
      redeemCode(ports, limits, actor, { code, network, key }),
  };
}
