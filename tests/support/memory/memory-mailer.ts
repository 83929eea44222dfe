import type { Mail, Mailer } from '../../../src/application/ports/outbound-ports.js';
import { Failure } from '../../../src/domain/kernel/failure.js';

/** Keeps what it is given; while `isDown` it takes nothing. */
export class MemoryMailer implements Mailer {
  readonly sent: Mail[] = [];
  isDown = false;

  async send(mail: Mail): Promise<void> {
    if (this.isDown) throw new Failure('mail-failed', { reason: 'the mail server cannot be reached' });
    this.sent.push(mail);
  }

  /** The code or token in the last mail to the address. */
  codeTo(address: string): string {
    const text = this.sent.findLast(({ to }) => to === address)?.text ?? '';
    return /(?:验证码为：|token=)([0-9a-f]+)/.exec(text)?.[1] ?? '';
  }
}
