import type { BeginTopUpMutation } from '../generated/wallet/topUp.js';

/** Leads the browser to whoever takes the money: with a form that it posts, or by just going there. */
export function goAndPay({ url, fields }: Pick<BeginTopUpMutation['beginTopUp'], 'url' | 'fields'>): void {
  if (fields.length === 0) {
    window.location.assign(url);
    return;
  }
  const form = document.createElement('form');
  form.method = 'post';
  form.action = url;
  for (const { name, value } of fields) {
    const input = document.createElement('input');
    input.type = 'hidden';
    input.name = name;
    input.value = value;
    form.append(input);
  }
  document.body.append(form);
  form.submit();
}
