import { initial } from './0001-initial.ts';
import type { Migration } from './migration.ts';

/** All migrations, oldest first; the number of each is its place, from 1. */
export const migrations: readonly Migration[] = [initial];
