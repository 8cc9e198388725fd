import { effect, signal } from '@preact/signals';
import type { Option } from './ask.tsx';

const KEY = 'sitewright.theme';
const THEMES: readonly Option[] = [
  ['', 'system'],
  ['light', 'light'],
  ['dark', 'dark'],
];

/** The look that was chosen; '' follows the system. Kept in this browser. */
const theme = signal(localStorage.getItem(KEY) ?? '');
effect(() => {
  if (theme.value === '') delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = theme.value;
  localStorage.setItem(KEY, theme.value);
});

export const ThemeSwitch = () => (
  <label class="theme">
    <span class="unseen">Theme</span>
    <select
      aria-label="Theme"
      onChange={(event) => {
        theme.value = event.currentTarget.value;
      }}
    >
      {THEMES.map(([key, text]) => (
        <option key={key} value={key} selected={key === theme.value}>
          {text}
        </option>
      ))}
    </select>
  </label>
);
