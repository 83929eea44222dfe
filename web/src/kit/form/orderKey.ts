import { useState } from 'react';

/*
 * The name of an order that moves money: one for each form that is opened. A form that is sent again, because the answer
 * was lost or nobody knew it, carries the same name, and the server carries it out once.
 */

const length = 16;

/** Also where there is no `crypto.randomUUID`: over plain http. */
export const newOrderKey = (): string =>
  Array.from(crypto.getRandomValues(new Uint8Array(length)), (byte) => byte.toString(16).padStart(2, '0')).join('');

/** The same for as long as the form is open. */
export const useOrderKey = (): string => useState(newOrderKey)[0];
