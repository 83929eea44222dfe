import { registerEnumType } from 'type-graphql';

/** `auto-disabled` → `AUTO_DISABLED`. */
type EnumName<Value extends string> = Value extends `${infer Head}-${infer Rest}`
  ? `${Uppercase<Head>}_${EnumName<Rest>}`
  : Uppercase<Value>;

/** A GraphQL enum over a union of texts. A member without its name, or a name without member, does not compile. */
export function enumeration<Value extends string>(
  name: string,
  description: string,
  values: { readonly [Member in Value as EnumName<Member>]: Member },
): typeof values {
  registerEnumType(values, { name, description });
  return values;
}
