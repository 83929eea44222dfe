import { Arg } from 'type-graphql';

/** The argument with what the widget has given, of operations that need no sign-in. */
export const HumanCheckArg = () =>
  Arg('humanCheck', () => String, {
    nullable: true,
    description:
      'From the widget with the site key of `status.turnstileSiteKey`; not asked for again of a browser that has passed.',
  });
