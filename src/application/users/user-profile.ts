import type { Position } from '../../domain/events/events.js';
import type { Sealed, SecretId, UserId } from '../../domain/kernel/ids.js';
import type { Role } from '../../domain/user/role.js';
import type { Actor, UserCommand } from '../../domain/user/user.js';
import { checkDisplayName, checkPassword, checkUsername } from '../../domain/user/user-fields.js';
import { authorise } from '../authorise.js';
import { noStepUp, type SessionProof } from '../session-proof.js';
import { swapClaims } from './claim-swap.js';
import { type BalanceForm, setBalance, wantedBalance } from './user-balance.js';
import { runUserCommand, storePassword, type UserPorts } from './user-command-ports.js';

/* Names, passwords, groups: changed by their user or by an administrator. */

/** null: unchanged. */
interface ProfilePatch {
  readonly username: string | null;
  readonly password: string | null;
  readonly displayName: string | null;
}

/** null: unchanged. */
export interface UserPatch extends ProfilePatch, BalanceForm {
  readonly group: string | null;
  readonly role: Role | null;
}

/** With what an edit is given. */
export interface EditOrder {
  /** The client's idempotency key, for the balance. */
  readonly key?: string | null;
  readonly sessionProof?: SessionProof;
}

/** A name the user already has may be longer than today's limit; only a new one is checked. */
function checkProfile({ password, displayName }: ProfilePatch): void {
  if (password !== null) checkPassword(password);
  if (displayName !== null) checkDisplayName(displayName);
}

/** A change that may bring another name: it must `prepare` the claims for every state that it is decided on. */
const renaming = (
  { names }: UserPorts,
  id: UserId,
  wanted: string | null,
  change: (prepare: () => Promise<void>) => Promise<Position>,
): Promise<Position> =>
  swapClaims(
    id,
    async () => {
      const current = wanted === null ? null : await names.nameOf(id);
      if (wanted === null || current === null || wanted === current) return { wanted: null, former: null };
      checkUsername(wanted);
      return { wanted: names.swappable(wanted), former: names.swappable(current) };
    },
    change,
  );

/** Another password, and another name, are sensitive changes: one signs in with both. Throws `step-up-needed`. */
async function demandForOwn(
  { names, stepUps }: UserPorts,
  actor: Actor,
  {
    patch: { username, password },
    sessionProof,
  }: { readonly patch: ProfilePatch; readonly sessionProof: SessionProof },
  order: () => Promise<Position>,
): Promise<Position> {
  const renamed = username !== null && username !== (await names.nameOf(actor.id));
  if (renamed) checkUsername(username);
  return renamed || password !== null ? stepUps.demand(actor, 'password', sessionProof, order) : order();
}

interface StoredProfile {
  readonly username: string | null;
  readonly displayName: Sealed | null;
  readonly passwordSecret: SecretId | null;
}

/** Runs the command that `commandOf` makes of the patch as it is stored. A new password ends the user's sessions. */
const changeProfile = (
  ports: UserPorts,
  { actor, id }: { readonly actor: Actor; readonly id: UserId },
  patch: ProfilePatch,
  commandOf: (stored: StoredProfile) => UserCommand,
): Promise<Position> =>
  renaming(ports, id, patch.username, async (prepare) => {
    const command = commandOf({
      username: patch.username,
      displayName: patch.displayName === null ? null : await ports.personal.seal(id, patch.displayName),
      passwordSecret: await storePassword(ports, patch.password),
    });
    const { position } = await runUserCommand(ports.handle.by(actor), id, () => prepare().then(() => command));
    if (patch.password !== null) await ports.sessions.closeOlder(id, position);
    return position;
  });

/** By an administrator. Root may edit root, who then has to step up as for the own profile. */
export async function editUser(
  ports: UserPorts,
  actor: Actor,
  { id, patch, key = null, sessionProof = noStepUp }: EditOrder & { readonly id: UserId; readonly patch: UserPatch },
): Promise<Position> {
  authorise(actor, 'admin');
  checkProfile(patch);
  const { group, role } = patch;
  const balance = wantedBalance(patch);
  const edit = () =>
    changeProfile(ports, { actor, id }, patch, (stored) => ({
      type: 'EditUser',
      by: actor,
      claimedRole: role,
      group,
      ...stored,
    }));
  // Else a stolen session could change here what the own profile refuses it.
  const edited = await (id === actor.id ? demandForOwn(ports, actor, { patch, sessionProof }, edit) : edit());
  return balance === null ? edited : setBalance(ports, actor, { ...balance, id, key });
}

/**
 * A new password ends every session and the access token, of whoever made the change too. Throws `step-up-needed`
 * for a password, and for another name, which one signs in with.
 */
export async function changeOwnProfile(
  ports: UserPorts,
  actor: Actor,
  patch: ProfilePatch,
  sessionProof: SessionProof = noStepUp,
): Promise<Position> {
  checkProfile(patch);
  return demandForOwn(ports, actor, { patch, sessionProof }, () =>
    changeProfile(ports, { actor, id: actor.id }, patch, (stored) => ({ type: 'ChangeProfile', ...stored })),
  );
}

/** A password that its user has not chosen; ends all sessions and the access token. */
export async function replacePassword(ports: UserPorts, id: UserId, password: string): Promise<Position> {
  const passwordSecret = await storePassword(ports, password);
  const command = { type: 'ChangeProfile', username: null, displayName: null, passwordSecret } as const;
  const { position } = await runUserCommand(ports.handle, id, command);
  await ports.sessions.closeOlder(id, position);
  return position;
}
