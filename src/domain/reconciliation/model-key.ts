const dated = /[-@](?:\d{4}-\d{2}-\d{2}|\d{8}|\d{4}|0\d{2}|latest)$/;

/**
 * Under what name a model is compared: exports name the version that has answered, and calls often the newest one. `openai/
 * gpt-4o-2024-08-06` and `gpt-4o` are one; what a provider counts apart below one name is told together.
 */
export function modelKey(name: string): string {
  const whole = name.trim().toLowerCase().replace(/^.*\//, '').replace(/\s+/g, '-');
  const plain = whole.replace(dated, '');
  return plain === '' ? whole : plain;
}
