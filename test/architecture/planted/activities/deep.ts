export type { Allowed } from '../workflows/sees-contract.js';
export type Deep = string;
