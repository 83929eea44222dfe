import type { MessagesRules, ModelFacts } from './fact-kinds.js';
import { type FactRow, family, limits, wholeName } from './fact-row.js';

/* Anthropic's models. The first row that states a fact decides it: longer names stand before their families. */

const messages = (
  thinking: MessagesRules['thinking'],
  budgeted: boolean,
  sampling: MessagesRules['sampling'],
  schemas: boolean,
): Pick<ModelFacts, 'messages'> => ({ messages: { thinking, budgeted, sampling, schemas } });

/** Shrunk to a long side, then to a number of patches. `max`: as many have been seen. */
const pictures = (longSide: number, patches: number, max: number): Pick<ModelFacts, 'pictures'> => ({
  pictures: { by: 'claude', longSide, patches, max },
});

export const anthropicFacts: readonly FactRow[] = [
  wholeName(/claude/i, { isClaude: true }),

  // Under whatever prefix: clouds put their own before the name.
  wholeName(/claude-(v?2|instant|3(?![-.]7))/, { ...messages('none', false, 'any', false), cachesFrom: null }),
  wholeName(/claude-(3[-.]7|[a-z]+-4([-.][01]\b|[-@]20|$))/, messages('budget', true, 'any', false)),
  wholeName(/claude-[a-z]+-4[-.]5/, messages('budget', true, 'one', true)),
  wholeName(/claude-[a-z]+-4[-.]6/, messages('adaptive', true, 'any', true)),
  // What comes after them, as far as anybody has said.
  wholeName(/claude-(fable|mythos)/, { alwaysThinks: true, cachesFrom: 512 }),
  wholeName(/claude-opus-5/, { cachesFrom: 512 }),
  wholeName(/claude-opus-4[-.]7/, { cachesFrom: 2_048 }),
  wholeName(/claude-(opus-4[-.][56]|haiku-4)/, { cachesFrom: 4_096 }),
  wholeName(/claude/i, { ...messages('adaptive', false, 'none', true), cachesFrom: 1_024 }),

  family(/^claude-opus-4[-.]5/, { retires: '2027-01-22' }),
  family(/^claude-sonnet-4[-.]5/, { retires: '2026-11-30' }),

  family(/^claude-(instant|2)/, limits(4_096, 200_000)),
  family(/^claude-3-(opus|sonnet|haiku)/, limits(4_096, 200_000)),
  family(/^claude-3-5/, limits(8_192, 200_000)),
  family(/^claude-3-7/, limits(128_000, 200_000)),
  family(/^claude-opus-4(-[01]|-2025|@2025|$)/, limits(32_000, 200_000)),
  family(/^claude-(opus-4[-.]5|haiku-4)/, limits(64_000, 200_000)),
  family(/^claude-sonnet-4/, limits(64_000, 1_000_000)),
  family(/^claude-/, limits(128_000, 1_000_000)),

  family(
    /claude-(instant|[123]|(opus|sonnet|haiku)-(3|4(?![-.][7-9](?!\d))))/i,
    pictures(1_568, 1_568, 2_048),
    'observed',
  ),
  family(/claude-/i, pictures(2_576, 4_784, 5_120), 'observed'),
];
