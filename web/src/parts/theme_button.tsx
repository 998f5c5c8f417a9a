// Light or dark: as the system has it, until it is chosen.
import { useEffect, useState } from 'preact/hooks';

type Theme = 'light' | 'dark';
const KEY = 'ridge-theme';

/** Storage may be refused, as it is to pages from a disk in some browsers. */
function remembered(): Theme | null {
  try {
    const theme = localStorage.getItem(KEY);
    return theme === 'light' || theme === 'dark' ? theme : null;
  } catch {
    return null;
  }
}

function remember(theme: Theme): void {
  try {
    localStorage.setItem(KEY, theme);
  } catch {
    /* for this visit, then */
  }
}

export function ThemeButton() {
  const system = matchMedia('(prefers-color-scheme: dark)').matches ? 'dark' : 'light';
  const [theme, setTheme] = useState<Theme>(remembered() ?? system);
  useEffect(() => {
    document.documentElement.dataset['theme'] = theme;
  }, [theme]);
  const other = theme === 'dark' ? 'light' : 'dark';
  const turn = () => {
    setTheme(other);
    remember(other);
  };
  return (
    <button type="button" class="theme" onClick={turn}>
      {other === 'dark' ? 'Dark' : 'Light'}
    </button>
  );
}
