/*
 * How long models think where thinking is not counted against the limit on the output: public facts of the vendors who
 * sell them so, by the name's family.
 */

interface ThinkingLimit {
  /** Tokens of one answer's thinking. */
  readonly most: number;
  readonly when: 'never' | 'if-asked' | 'unless-refused' | 'always';
  /** It keeps to the budget a request gives. */
  readonly budgeted: boolean;
}

/** By the last part of a name such as `Qwen/Qwen3-32B`, in lower case; the first that fits. */
const families: readonly (readonly [names: RegExp, ThinkingLimit])[] = [
  [/^(qwen[12]|qwen3.*-instruct|qwen3?-(coder|math|mt|long))/, { most: 0, when: 'never', budgeted: false }],
  [/^(qwq|qvq)/, { most: 32_768, when: 'always', budgeted: false }],
  [/^qwen3.*-thinking/, { most: 81_920, when: 'always', budgeted: true }],
  [/^qwen3\.\d/, { most: 81_920, when: 'unless-refused', budgeted: true }],
  [/^qwen3-[\d.]+b/, { most: 38_912, when: 'unless-refused', budgeted: true }],
  [/^qwen/, { most: 81_920, when: 'if-asked', budgeted: true }],
  [/^doubao-(seed-1|1[-.]5-thinking)/, { most: 65_536, when: 'unless-refused', budgeted: false }],
  [/^doubao-(seedream|seedance|embedding)/, { most: 0, when: 'never', budgeted: false }],
  [/^doubao-seed-/, { most: 262_144, when: 'unless-refused', budgeted: false }],
  [/^doubao-/, { most: 0, when: 'never', budgeted: false }],
  [/^deepseek-(r1|reasoner)/, { most: 32_768, when: 'always', budgeted: true }],
  [/^glm-(4\.[5-9]|[5-9])/, { most: 131_072, when: 'unless-refused', budgeted: true }],
  [/think|reason/, { most: 131_072, when: 'always', budgeted: true }],
];

/** Of a model nobody has told us anything of: it has to be asked. */
const otherwise: ThinkingLimit = { most: 131_072, when: 'if-asked', budgeted: true };

export function thinkingLimitOf(model: string): ThinkingLimit {
  const name = model.slice(model.lastIndexOf('/') + 1).toLowerCase();
  return families.find(([names]) => names.test(name))?.[1] ?? otherwise;
}

/** Sold by vendors alone who count so: whoever is asked for one passes the request on to them. */
export const thinksBesideAnywhere = (model: string): boolean =>
  /(^|\/)(qwen[\d.]*-(max|plus|flash|turbo)|qwq-plus|qvq-(max|plus)|doubao-)/i.test(model);
