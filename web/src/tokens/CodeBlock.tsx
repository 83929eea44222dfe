/** Lines to copy, in the font of code. */
export const CodeBlock = ({ text }: { readonly text: string }) => (
  // biome-ignore lint/a11y/noNoninteractiveTabindex: whoever has no mouse scrolls it with the keyboard
  <pre tabIndex={0} className="use-token-code">
    {text}
  </pre>
);
