import { Secret, TOTP } from 'otpauth';
import { beforeEach } from 'vitest';
import type { SessionProof, StepUpPurpose } from '../../../src/application/session-proof.js';
import type { FactorProof } from '../../../src/application/sign-in/second-factor.js';
import type { UserId } from '../../../src/domain/kernel/ids.js';
import { Authenticator } from '../../support/gateway/authenticator.js';
import { someClient } from '../../support/gateway/sign-in.js';
import { type MemoryNode, openMemoryNode, root } from '../../support/memory/memory-node.js';

export const site = { origin: 'https://gateway.example' };
export const session: SessionProof = { session: 'her browser', stepUp: null };
export const minute = 60_000;

export let node: MemoryNode;
export let alice: UserId;
export let bob: UserId;

export const asUser = (id: UserId) => ({ id, role: 'ordinary' }) as const;
const newUser = async (username: string): Promise<UserId> =>
  (await node.users.create(root, { username, password: 'correct horse', displayName: '' })).id;

/** Alice and Bob before each test of a file, on a node in memory of its own. */
export function usersBeforeEachTest(): void {
  beforeEach(async () => {
    node = await openMemoryNode();
    alice = await newUser('alice');
    bob = await newUser('bob');
    await node.caughtUp();
  });
}

/** With what an order is given that a password has just been shown for. */
export const proven = async (id: UserId, purpose: StepUpPurpose): Promise<SessionProof> => {
  if ((await node.stepUps.methods(id)).includes('totp')) return { ...session, stepUp: 'unknown' };
  const proof = { kind: 'password', password: 'correct horse' } as const;
  return {
    ...session,
    stepUp: await node.stepUps.prove({ user: id, session: session.session, purpose }, proof, 'home'),
  };
};

export const codeOf = (secret: string, at: number = node.clock.now()): string =>
  new TOTP({ secret: Secret.fromBase32(secret) }).generate({ timestamp: at });

/** Turns the second factor on; a minute later its codes count. */
export async function enrol(id: UserId): Promise<{ secret: string; recoveryCodes: readonly string[] }> {
  const { secret } = await node.factorOrders.beginTotp(asUser(id), await proven(id, 'second-factor'));
  const { recoveryCodes } = await node.factorOrders.enrolTotp(asUser(id), session, {
    code: codeOf(secret),
    network: 'home',
  });
  await node.caughtUp();
  node.clock.advance(minute);
  return { secret, recoveryCodes };
}

export const totp = (secret: string): FactorProof => ({ kind: 'totp', code: codeOf(secret) });

export async function addPasskey(id: UserId, authenticator = new Authenticator(site.origin)): Promise<Authenticator> {
  const question = await node.factorOrders.beginPasskey(asUser(id), await proven(id, 'passkeys'), site);
  await node.factorOrders.addPasskey(asUser(id), session, { name: 'phone', response: authenticator.create(question) });
  await node.caughtUp();
  return authenticator;
}

/** The ticket of a sign-in that waits for its second factor. */
export async function halfIn(login = 'alice'): Promise<string> {
  const entry = await node.identity.login(login, 'correct horse', someClient);
  if (entry.kind !== 'second-factor') throw new Error('no second factor was asked for');
  return entry.ticket;
}
