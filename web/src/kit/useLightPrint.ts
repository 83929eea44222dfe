import { Classes } from '@blueprintjs/core';
import { useEffect } from 'react';

/** Paper is white: what is printed has the light colours, whatever the screen shows. */
export function useLightPrint(): void {
  useEffect(() => {
    let wasDark = false;
    const before = (): void => {
      wasDark = document.body.classList.contains(Classes.DARK);
      document.body.classList.remove(Classes.DARK);
    };
    const after = (): void => {
      if (wasDark) document.body.classList.add(Classes.DARK);
    };
    window.addEventListener('beforeprint', before);
    window.addEventListener('afterprint', after);
    return () => {
      window.removeEventListener('beforeprint', before);
      window.removeEventListener('afterprint', after);
    };
  }, []);
}
