export type { Allowed } from '../workflows/sees-contract.ts';
export type Deep = string;
