import type { ApplicationPorts } from './application-ports.js';
import type { IdempotencyStore } from './idempotency.js';
import { factorMemory } from './memory/factors.js';
import { externalSignIn } from './sign-in/external-sign-in.js';
import { factorCommands } from './sign-in/factors.js';
import { humanChecks } from './sign-in/human-checks.js';
import { identity } from './sign-in/identity.js';
import { ownSessions } from './sign-in/own-sessions.js';
import { passkeyCeremonies } from './sign-in/passkeys.js';
import { passkeysOf } from './sign-in/passkeys-of.js';
import { passwordChecks } from './sign-in/password-checks.js';
import { passwordReset } from './sign-in/password-reset.js';
import { secondFactor } from './sign-in/second-factor.js';
import { setupCommands } from './sign-in/setup.js';
import { signInMethodQueries } from './sign-in/sign-in-methods.js';
import { stepUps } from './sign-in/step-up.js';
import { emailCodes } from './users/email-codes.js';
import { mailLimits } from './users/mail-limits.js';
import { ownEmail } from './users/own-email.js';
import { registering } from './users/registering.js';
import { userCommands } from './users/user-commands.js';
import { userSettingsCommands } from './users/user-settings.js';
import { welcome } from './users/welcome.js';

/* Users and their ways in: by password, second factor, passkey, mail, or an identity provider. */

/** Users whose factors are kept in memory. */
const factorCapacity = 10_000;

/** What proves who somebody is; everything else here stands on it. */
function openProofs(ports: ApplicationPorts) {
  const { store, handle, clock, vault, personal, sessions, tickets, codes, mailer, directory, guessed } = ports;
  const hash = (text: string): string => vault.hash(text);
  const limits = mailLimits(clock);
  const factors = factorMemory(store, factorCapacity);
  ports.tail.add(factors);
  const passkeys = passkeyCeremonies({
    ...{ store, handle, tickets, factors, personal, vault, directory },
    checks: ports.passkeyChecks,
    warn: ports.warn,
  });
  const proving = secondFactor({
    ...{ handle, factors, codes, vault, clock, directory },
    ceremonies: passkeys,
    guessed: (user) => guessed(user, 'factor'),
  });
  const checks = passwordChecks({
    ...{ vault, clock, passwords: ports.passwords },
    guessed: (user) => guessed(user, 'password'),
  });
  const proven = stepUps({
    ...{ store, clock, personal, sessions, tickets, mailer, directory, factors, limits, hash },
    secondFactor: proving,
    passwordChecks: checks,
  });
  return { factors, passkeys, secondFactor: proving, passwordChecks: checks, stepUps: proven, limits, hash };
}

type Proofs = ReturnType<typeof openProofs>;

function openUsers(ports: ApplicationPorts, once: IdempotencyStore, { stepUps }: Proofs) {
  const { store, clock, handle, ids, vault, personal, passwords, sessions, directory, gate, tail } = ports;
  const { outbound, secretOf, allowHttp } = ports;
  return {
    ...userCommands({
      ...{ store, clock, handle, ids, vault, personal, passwords, sessions, directory, gate, tail, once, stepUps },
    }),
    ...userSettingsCommands({ clock, handle, vault, personal, directory, outbound, secretOf, allowHttp }),
  };
}

type Users = ReturnType<typeof openUsers>;

/** Ways in for people who are not signed in yet, and what they own once they are. */
function openEntries(ports: ApplicationPorts, proofs: Proofs, users: Users) {
  const { handle, vault, personal, sessions, tickets, codes, directory, ids, mailer, store, passwords } = ports;
  const { factors, passkeys, secondFactor, passwordChecks, stepUps, limits, hash } = proofs;
  const { bindings } = users;
  const methods = signInMethodQueries({ directory });
  const mailCodes = emailCodes({ directory, tickets, mailer, limits, bindings, hash });
  const identified = identity({
    ...{ vault, sessions, directory, tickets, factors, secondFactor, passkeys, passwordChecks },
    source: ports.identitySource,
  });
  return {
    methods,
    identity: identified,
    setup: setupCommands({ store, handle, ids, vault, passwords, users, code: ports.setupCode }),
    registering: registering({ directory, users, codes: mailCodes }),
    emailCodes: mailCodes,
    ownEmail: ownEmail({ codes: mailCodes, bindings, stepUps }),
    passwordReset: passwordReset({ directory, tickets, mailer, limits, users, sessions, hash }),
    humanChecks: humanChecks({
      tickets,
      verifier: ports.humanVerifier,
      isOn: () => methods.signInMethods().humanCheck !== null,
    }),
    factors: factorCommands({
      ...{ handle, vault, personal, tickets, sessions, directory, codes, factors, passkeys, secondFactor, stepUps },
      passkeysOf: passkeysOf(store),
    }),
    ownSessions: ownSessions({ sessions, directory, factors, ended: identified.ended }),
    externalSignIn: externalSignIn({
      ...{ tickets, directory, ids, users, identity: identified, stepUps },
      identityProviders: ports.identityProviders,
      welcome: (inviter) => welcome(directory.settings(), inviter),
      isOpen: (provider) => methods.signInMethods()[provider] !== null,
    }),
  };
}

/** `methods` and `factorMemory` are for queries; the rest is what the faces ask for. */
export function openSignIn(ports: ApplicationPorts, once: IdempotencyStore) {
  const proofs = openProofs(ports);
  const users = openUsers(ports, once, proofs);
  const { methods, ...entries } = openEntries(ports, proofs, users);
  return { methods, factorMemory: proofs.factors, faces: { users, ...entries, stepUps: proofs.stepUps } };
}

export type SignInParts = ReturnType<typeof openSignIn>;
