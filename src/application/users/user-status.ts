import { randomBytes } from 'node:crypto';
import type { Position } from '../../domain/events/events.js';
import type { UserId } from '../../domain/kernel/ids.js';
import type { Actor } from '../../domain/user/user.js';
import { authorise } from '../authorise.js';
import { noStepUp, type SessionProof } from '../session-proof.js';
import { runUserCommand, type UserPorts } from './user-command-ports.js';

/* Whether a user may come in, with which role, and with which access token. */

export type UserAction = 'enable' | 'disable' | 'delete' | 'promote' | 'demote' | 'appoint-auditor';

const commandTypes = {
  enable: 'EnableUser',
  disable: 'DisableUser',
  delete: 'DeleteUser',
  promote: 'PromoteUser',
  demote: 'DemoteUser',
  'appoint-auditor': 'AppointAuditor',
} as const;

export async function manageUser(ports: UserPorts, actor: Actor, id: UserId, action: UserAction): Promise<Position> {
  authorise(actor, 'admin');
  const { position } = await runUserCommand(ports.handle.by(actor), id, { type: commandTypes[action], by: actor });
  // The sessions of a disabled user stay known, so that faces can say why they have ended.
  if (action === 'disable') await ports.sessions.endOlder(id, position);
  if (action === 'delete') await ports.sessions.closeOlder(id, position);
  if (action === 'delete') await ports.personal.forget([id]);
  return position;
}

/**
 * A new personal access token; the former one stops working. The only time it can be read. Throws `step-up-needed`.
 */
export async function issueAccessToken(
  ports: UserPorts,
  actor: Actor,
  sessionProof: SessionProof = noStepUp,
): Promise<{ token: string; position: Position }> {
  return ports.stepUps.demand(actor, 'access-token', sessionProof, async () => {
    const token = randomBytes(24).toString('base64');
    const command = { type: 'IssueAccessToken', tokenHash: ports.vault.hash(token) } as const;
    const { position } = await runUserCommand(ports.handle.by(actor), actor.id, command);
    return { token, position };
  });
}
