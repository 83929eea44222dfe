/* What every answer of the legacy contract is wrapped in. */

export interface Envelope {
  readonly success: boolean;
  readonly message: string;
  readonly data: unknown;
}

/** `data` null: there is nothing to report. `message` is shown to the user by some clients. */
export const success = (data: unknown = null, message = ''): Envelope => ({ success: true, message, data });

export const failure = (message: string, data: unknown = null): Envelope => ({ success: false, message, data });
