import fc from 'fast-check';
import type { Application } from '../../src/application/application.js';
import type { SessionProof, StepUpPurpose } from '../../src/application/session-proof.js';
import type { ApiKeyId, ChannelId, UserId } from '../../src/domain/kernel/ids.js';
import type { Actor } from '../../src/domain/user/user.js';

/* Orders for property tests: what they are about, and how one is written and given. */

/** An order, as text for whoever reads a counterexample, and how to give it. */
export interface TestCommand {
  readonly description: string;
  run(): Promise<unknown>;
}

export const testCommand = <Input>(
  name: string,
  input: Input,
  give: (input: Input) => Promise<unknown>,
): TestCommand => ({
  description: `${name} ${JSON.stringify(input)}`.slice(0, 2_000),
  run: () => give(input),
});

/** A command: as anybody gives it, which must be accepted, and as somebody hostile might. */
export interface CommandKind {
  /** null: what it is for does not happen in the test. */
  readonly ordinary: TestCommand | null;
  readonly hostile: fc.Arbitrary<TestCommand>;
}

export const commandKind = <Input>(
  name: string,
  ordinary: NoInfer<Input> | 'never',
  inputs: fc.Arbitrary<Input>,
  give: (input: Input) => Promise<unknown>,
): CommandKind => ({
  ordinary: ordinary === 'never' ? null : testCommand(name, ordinary as Input, give),
  hostile: inputs.map((input) => testCommand(name, input, give)),
});

/** The one meant is chosen when the order is given: there may be more by then. */
export const anyIndex = fc.nat();
export const pick = <Id>(ids: readonly Id[], which: number): Id => ids[which % ids.length] as Id;
/** Few, so that orders are repeated under the same key, and other ones are given under a key that is taken. */
export const anyIdempotencyKey = fc.option(fc.constantFrom('first', 'second', 'third'), { freq: 2 });

/** What the orders are about; they add to it. */
export interface CommandWorld {
  readonly application: Application;
  readonly root: Actor;
  /** Owns the API keys; nobody deletes it. */
  readonly owner: Actor;
  readonly users: UserId[];
  readonly channels: ChannelId[];
  readonly apiKeys: ApiKeyId[];
}

/** What an order is given with by a user who has just proven for it who they are; by a password set for that. */
export async function stepUpProof(
  { application, root }: CommandWorld,
  id: UserId,
  purpose: StepUpPurpose,
): Promise<SessionProof> {
  const password = 'set-by-root';
  const unchanged = { username: null, displayName: null, group: null, quota: null, role: null };
  await application.visible(await application.users.edit(root, id, { ...unchanged, password }));
  const session = 'of the orders';
  const proof = { kind: 'password', password } as const;
  return { session, stepUp: await application.stepUps.prove({ user: id, session, purpose }, proof, '192.0.2.9') };
}
