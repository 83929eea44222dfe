import { Callout } from '@blueprintjs/core';

/** Why what was sent is not taken: shown above the form, and announced by screen readers. null: nothing to say. */
export function FormProblem({ text }: { readonly text: string | null }) {
  if (text === null) return null;
  return (
    <Callout intent="danger" compact role="alert" className="form-notice">
      {text}
    </Callout>
  );
}
