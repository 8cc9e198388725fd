// Writes docs/settings.md: `npm run docs:settings`.
import { writeFileSync } from 'node:fs';
import { settingsReference } from '../src/platform/settings/settings-reference.js';

writeFileSync(new URL('../docs/settings.md', import.meta.url), settingsReference());
