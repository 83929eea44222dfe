import { smtpMailer } from '../adapters/mail/smtp-mailer.js';
import { turnstile } from '../adapters/sign-in/turnstile.js';
import type { NodeDirectory } from '../application/memory/directory.js';
import { optionSecrets } from '../application/options/option-secrets.js';
import type { OptionKey } from '../domain/options/option-table.js';
import { openIdentityProviders } from '../identity-providers/identity-providers.js';
import { addressGuard, resolveBySystem } from '../outbound/address-guard.js';
import { openGuardedClient } from '../outbound/guarded-client.js';
import { openPayments } from '../payments/payments.js';
import type { NodeStart } from './node-start.js';
import type { NodeVault } from './open-vault.js';

/* Services that this node calls beside the upstreams of calls: mail, identity providers, payment providers, Turnstile. */

interface OutboundParts {
  readonly directory: NodeDirectory;
  readonly vault: NodeVault['vault'];
}

export function openOutbound({ config, log, clock, closing }: NodeStart, { directory, vault }: OutboundParts) {
  const outbound = openGuardedClient({ ...config.outbound, resolve: resolveBySystem });
  closing.add(() => outbound.close());
  const secretOf = optionSecrets(directory, vault);
  const mailer = smtpMailer(
    {
      settings: () => directory.settings().mail,
      password: () => secretOf('SMTPToken'),
      guard: addressGuard(config.outbound.allowedNetworks, resolveBySystem),
      log,
    },
    { timeoutMs: config.mailTimeoutMs },
  );
  const options = {
    text: (key: OptionKey) => directory.settings().text(key),
    isKept: (key: OptionKey) => directory.optionSecret(key) !== null,
    secretOf,
  };
  const report = (facts: object) => log.warn(facts, 'a provider has not vouched for somebody');
  return {
    outbound,
    secretOf,
    mailer,
    identityProviders: openIdentityProviders({ outbound, clock, ...options, report }, config.externalServices),
    paymentProviders: openPayments({ outbound, ...options }, config.stripeUrl),
    humanVerifier: turnstile({
      url: config.externalServices.turnstileUrl,
      secret: () => secretOf('TurnstileSecretKey'),
      outbound,
    }),
  };
}

export type NodeOutbound = ReturnType<typeof openOutbound>;
