// What time it is on the page: times go on by themselves, and stand still while nothing new is known.
import { computed, signal } from '@preact/signals';
import { staleSince } from './store.js';

/** This moment, in milliseconds; passes while the page is visible. */
export const now = signal(Date.now());
setInterval(() => {
  if (!document.hidden) now.value = Date.now();
}, 1_000);
document.addEventListener('visibilitychange', () => {
  now.value = Date.now();
});

/** The moment that the page shows: this one, or the last one of which anything is known. */
export const shownMoment = computed(() => (staleSince.value === null ? now.value : staleSince.value.getTime()));

/** This moment, to ten seconds and to the minute: what is older changes less often. */
export const tenSeconds = computed(() => Math.floor(now.value / 10_000) * 10_000);
export const minute = computed(() => Math.floor(now.value / 60_000) * 60_000);
