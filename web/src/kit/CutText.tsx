/** A text on one line, as wide as cells may be: what is cut off is read by pointing at it. */
export const CutText = ({ text }: { readonly text: string }) => (
  <span className="cut-text" title={text}>
    {text}
  </span>
);
